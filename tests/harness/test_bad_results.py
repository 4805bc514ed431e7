"""`plot` and `report` of results that are incomplete or broken: what can be shown is, else a line and status 2."""

import re

import pytest

from harness import machine, record
from harness.scaling.table import SCALING
from tests.harness import runs


def harness_and_run(harness, tmp_path):
    """The harness's two commands on a run in a directory, and the directory."""
    path = runs.write(tmp_path / "run", chosen=runs.grid(trials=1))
    return (lambda: [harness(command, path) for command in ("plot", "report")]), path


def text_of(path):
    return (path / record.FILE_NAME).read_text()


ROWS = {
    "missing": (None, "o such file"),
    "empty": (lambda text: "", "measurements.csv: "),
    "rows only": (lambda text: text[: text.index("\n") + 1], "no figure can be drawn", "holds no rows yet"),
    "a column missing": (
        lambda text: text.replace(",value,", ",worth,", 1),
        "column 'value' is missing",
        "line 1: expected",
    ),
    "values broken": (
        lambda text: re.sub(r"[0-9.e+]+,(observations/s|ns|bytes)", r"fast,\1", text),
        "no figure can be drawn",
        "line 2: broken, could not convert string to float: 'fast'",
    ),
    "parameters broken": (lambda text: text.replace("{", "["), "no figure can be drawn", "line 2: broken"),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_that_say_nothing_are_refused_in_one_line(harness, tmp_path, case):
    show, path = harness_and_run(harness, tmp_path)
    change, *messages = ROWS[case]
    if change is None:
        (path / record.FILE_NAME).unlink()
    else:
        (path / record.FILE_NAME).write_text(change(text_of(path)))
    for done, message in zip(show(), (messages * 2)[:2], strict=True):
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith("harness: ")
        assert message in done.stderr
    assert not list(path.glob("report.*"))


def test_of_an_interrupted_run_is_shown_what_there_is(harness, tmp_path):
    show, path = harness_and_run(harness, tmp_path)
    (path / record.FILE_NAME).write_text(text_of(path)[:-40])
    (path / machine.FILE_NAME).unlink()
    plot, report = show()
    assert (plot.returncode, report.returncode, report.stderr) == (0, 0, "")
    assert "gym_sampling.svg" in plot.stdout
    assert "hardware_limit: not drawn: " in plot.stderr
    assert (path / "report.html").exists()


def test_a_broken_file_of_a_further_command_is_told_and_the_rest_drawn(harness, tmp_path):
    show, path = harness_and_run(harness, tmp_path)
    (path / SCALING.file_name).write_text("kind,workers\npredicted,1\n")
    plot, report = show()
    assert plot.returncode == 0
    assert "scaling: not drawn: scaling.csv: column 'workload' is missing" in plot.stderr
    assert (report.returncode, report.stderr.count("\n")) == (2, 1)
    assert "scaling.csv, line 1: not the columns of this version; remove the file" in report.stderr


@pytest.mark.slow(reason="figures and a report; `make test` draws odd names by themselves")
def test_a_name_that_looks_like_a_formula_is_a_name(harness, tmp_path):
    odd = "$x^{2$"
    path = runs.write(
        tmp_path / "run", chosen=runs.grid(trials=1), change=lambda row: record.replace(row, scenario=odd)
    )
    plot, report = harness("plot", path), harness("report", path)
    assert (plot.returncode, report.returncode) == (0, 0)
    assert "gym_sampling.svg" in plot.stdout
    assert odd in report.stdout


def test_numbers_of_a_machine_that_cannot_be_are_told_and_the_rest_drawn(harness, tmp_path):
    _, path = harness_and_run(harness, tmp_path)
    for cores in ("0", "1e999", "[" * 20_000 + "]" * 20_000):
        (path / machine.FILE_NAME).write_text(f'{{"cores_allowed": {cores}}}')
        plot = harness("plot", path)
        assert plot.returncode == 0
        assert "hardware_limit: not drawn: " in plot.stderr
