"""The report of results that are incomplete or broken shows the rest, or prints one line and returns status 2."""

import pytest

from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS
from harness.store.scaling_table import SCALING
from tests.harness import runs


@pytest.fixture
def path(tmp_path):
    """The directory of a run."""
    return runs.write(tmp_path / "run", chosen=runs.grid(trials=1))


def text_of(path):
    return (path / MEASUREMENTS.file_name).read_text()


ROWS = {
    "rows only": (lambda text: text[: text.index("\n") + 1], "holds no rows"),
    "parameters broken": (lambda text: text.replace("{", "["), "line 2: parameters: expected named values as JSON"),
}


@pytest.mark.parametrize("case", ROWS)
def test_rows_that_say_nothing_are_refused_in_one_line(harness, path, case):
    change, message = ROWS[case]
    (path / MEASUREMENTS.file_name).write_text(change(text_of(path)))
    done = harness("report", path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("harness: ")
    assert message in done.stderr
    assert not list(path.glob("report.*"))


def test_of_an_interrupted_run_is_shown_what_there_is(harness, path):
    (path / MEASUREMENTS.file_name).write_text("".join(text_of(path).splitlines(keepends=True)[:-2]))
    (path / machine.FILE_NAME).unlink()
    report = harness("report", path, "--full")
    assert report.returncode == 0
    assert (path / "figures" / "gym_sampling.svg").exists()
    assert not (path / "figures" / "hardware_limit.svg").exists()
    assert (path / "report.html").exists()


def test_a_broken_file_of_a_further_command_is_refused(harness, path):
    (path / SCALING.file_name).write_text("kind,workers\npredicted,1\n")
    report = harness("report", path)
    assert report.returncode == 2
    assert "scaling.csv, line 1: expected the columns" in report.stderr
