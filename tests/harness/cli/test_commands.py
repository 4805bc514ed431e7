"""The command line: its options, and bad input, which costs one line and changes nothing."""

import codecs
import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import reactorlib
from harness.cli.commands import main
from harness.cli.run_command import end_on_signals
from harness.plan.grid import SCHEMA
from harness.report.figures import figure_catalogue
from harness.store.trial_records import TRIALS
from tests.reactorlib.scripts import ROOT, python
from workloads.catalogue import BACKENDS, WORKLOADS

ADVISE = ("advise", "--env", "CartPole-v1")
RUN = ("run", "--workload", "fake", "--backend", "serial", "--trials", "1")


@pytest.fixture
def refused(fake, capsys):
    """Calls the command line with something wrong; returns the one line it prints."""

    def refused(*arguments):
        before = snapshot(fake)
        assert main([str(argument) for argument in arguments]) == 2
        captured = capsys.readouterr()
        assert captured.out == ""
        assert captured.err.startswith("harness: ")
        assert captured.err.count("\n") == 1
        assert snapshot(fake) == before
        return captured.err

    return refused


def snapshot(directory):
    return {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("rum",), "invalid choice: 'rum': did you mean run?"),
        (("zzz",), "invalid choice: 'zzz'; expected list, doctor, run, advise, "),
        (
            ("run", "--bugdet=3m"),
            "unrecognized argument --bugdet=3m: did you mean --budget?; see python -m harness run --h",
        ),
        (("advise", "--env", "CartPole-v1", "--actros", "3"), "unrecognized argument --actros: did you mean --actors?"),
        ((), "required: COMMAND"),
        (("run", "--workload", "gym_samplin"), "--workload: invalid choice: 'gym_samplin': did you mean gym_sampling"),
        (("run", "--preset", "papr"), "--preset: invalid choice: 'papr': did you mean paper?"),
        (("run", "--set", "fake.actor=3", "--workload", "fake"), "did you mean actors?"),
        (("run", "--set", "gym.actors=1"), "--set gym.actors=1: workload: unknown 'gym'"),
        (
            ("run", "--workload", "gym_sampling", "--set", "q_learning.actors=2"),
            "--set q_learning.actors=2: q_learning is not among the workloads chosen: gym_sampling",
        ),
        (
            ("run", "--point", "gym_samplng/actors=2"),
            "--point gym_samplng/actors=2: workload: unknown 'gym_samplng'; did",
        ),
        (("run", "--point", "fake/actor=2"), "--point fake/actor=2: parameter: unknown 'actor'; did you mean actors?"),
        (("run", "--point", "fake/actors=many"), "--point fake/actors=many: actors: expected an integer, got 'many'"),
        (("run", "--point", "fake/actors"), "--point fake/actors: expected fake/PARAMETER=VALUE,... with each"),
        (("run", "--point", "fake/actors=2,actors=3"), "expected fake/PARAMETER=VALUE,... with each parameter once"),
        (("run", "--point", "no/such/folder/actors=2"), "/no/such/folder: there is no such file or folder"),
        (("run", "--point", "fake", "--workload", "fake"), "leave out --workload and --set"),
        (("run", "--set", "actors"), "expected NAME=VALUE"),
        (("run", "--set", "actors=2,,3"), "expected NAME=VALUE"),
        ((*RUN, "--set", "actors=many"), "actors: expected an integer, got 'many'"),
        ((*RUN, "--set", "actors=-2"), "actors: must be at least 1, got -2"),
        (("run", "--workload", "gym_sampling", "--set", "env=CartPole-v9"), "env: unknown 'CartPole-v9'; did you mean"),
        (("run", "--trials", "0"), "must be at least 1 and at most 1000, got 0"),
        ((*ADVISE, "--seconds", "nan"), "argument --seconds: must be at least 1 and at most 1e+08, got nan"),
        ((*ADVISE, "--seconds", "inf"), "argument --seconds: must be at least 1 and at most 1e+08, got inf"),
        ((*ADVISE, "--seconds", "-5"), "argument --seconds: must be at least 1 and at most 1e+08, got -5"),
        ((*ADVISE, "--actors", "0"), "argument --actors: must be at least 1, got 0"),
        (("scaling", "--rounds", "x"), "argument --rounds: expected an integer, got 'x'"),
        (("run", "--seed", "-1"), "must be at least 0, got -1"),
        (("run", "--time-limit", "inf"), "must be at least 0.1 and at most 1e+08, got inf"),
        ((*RUN, "--output", "/dev/null/x"), "/dev/null/x: Not a directory; expected what can be"),
        (("run", "--resume"), "no such run yet"),
        (("report",), "no such run yet"),
        (("report", "nowhere"), "nowhere: no such directory"),
        (("report", "--json", "--all-backends"), "--json and --export write no pages or figures; leave out"),
        (("report", "--export", "bencher", "--readme", "README.md"), "leave out --readme and --all-backends"),
        (("report", "."), "measurements.csv: holds no rows; expected the results of `harness run`"),
        (("advise",), "required: --env"),
        (
            ("advise", "--env", "CartPole-v1", "--output", "/dev/null/x"),
            "/dev/null/x: cannot be written (Not a directory); choose another --output",
        ),
        (("advise", "--env", "nowhere_at_all:Own-v0"), "env: no module nowhere_at_all"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_refused_in_one_line(refused, arguments, words):
    assert words in refused(*arguments)


@pytest.fixture
def results(finished):
    """A finished run in `out`."""
    assert finished(*RUN[1:]).returncode == 0
    return Path("out")


def test_results_are_not_overwritten(refused, results):
    assert "out already holds measurements.csv; add --resume" in refused(*RUN, "--output", "out")


@pytest.mark.parametrize("change", [{"trial": 7}, {"backend": "ray-paper"}], ids=str)
def test_a_trial_of_another_grid_is_refused(refused, results, change):
    (trial,) = TRIALS.read(results)
    TRIALS.write(results, [trial, replace(trial, **change)])
    assert "trials.csv, line 3: a trial of another grid" in refused(*RUN, "--output", "out", "--resume")


def test_another_machine_is_refused(refused, results):
    path = results / "machine.json"
    described = json.loads(path.read_bytes())
    described["cpu"]["model"] = "Z80"
    path.write_text(json.dumps(described))
    message = refused(*RUN, "--output", "out", "--resume")
    assert "out is from another machine (cpu model Z80 there" in message


def test_everything_there_is_to_run_is_listed(capsys):
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    for name in (*WORKLOADS, *BACKENDS, "smoke", "quick", "paper", "minibatch_policy"):
        assert name in text
    lines = [line.split()[:1] for line in text.splitlines()]
    assert ["actors"] in lines
    assert ["rounds"] not in lines
    assert ["warmup_rounds"] not in lines


@pytest.mark.parametrize("arguments", [["list"], ["run", "--dry-run", "--preset", "paper"]])
def test_listing_and_planning_import_nothing_that_takes_seconds(arguments):
    code = f"import sys; from harness.cli.commands import main; main({arguments}); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60)
    assert done.stdout
    assert not {"ray", "torch", "pandas", "matplotlib"} & set(done.stderr.split())


@pytest.mark.parametrize("name", ["report.md", "measurements.csv", "report.html"])
def test_a_directory_where_a_file_belongs_is_told_by_its_name(harness, results, name):
    (results / name).unlink(missing_ok=True)
    (results / name).mkdir()
    done = harness("report", "out")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"harness: out/{name}: ")
    assert "Is a directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(results.glob(".*")) == []  # no temporary file is left


def test_a_study_needs_a_grid_and_a_place_for_its_file_before_it_measures(refused, finished, monkeypatch):
    finished("--workload", "fake", "--backend", "reactor-inline", "--trials", "1")
    with monkeypatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)
        assert "out/scaling.csv: cannot be written" in refused("scaling", "out")
    assert "--point: unknown 'fake/actors=3'; known: fake" in refused("scaling", "out", "--point", "fake/actors=3")
    Path("out/grid.json").write_text("{}")
    assert "out/grid.json: broken (object missing required field" in refused("scaling", "out")
    Path("out/grid.json").unlink()
    assert "out/grid.json: no such file" in refused("scaling", "out")


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("r", "run report"),
        ("run --pre", "--preset"),
        ("run --preset s", "smoke "),
        ("run --backend ray-", " ".join(name for name in BACKENDS if name.startswith("ray-"))),
    ],
)
def test_a_shell_completes_what_is_typed(tmp_path, typed, offered):
    line = f"python -m harness {typed}"
    told = {"_ARGCOMPLETE": "3", "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "offered"), "_ARGCOMPLETE_IFS": " "}
    done = python("-m", "harness", env={**os.environ, **told, "COMP_LINE": line, "COMP_POINT": str(len(line))})
    assert (done.returncode, (tmp_path / "offered").read_text().split()) == (0, offered.split())


def test_an_interpreter_without_what_the_suite_needs_is_told_in_one_line():
    done = python("-S", "-m", "harness", "list", env={"PYTHONPATH": str(ROOT)})  # without site-packages
    assert done.returncode == 1
    assert done.stderr.startswith("harness: ")
    assert done.stderr.endswith("use .venv/bin/python, which `make install` makes\n")


def test_a_reader_that_leaves_early_is_a_status_without_words(fake):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"], stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


def test_the_version_is_that_of_the_package_and_of_the_files(capsys):
    with pytest.raises(SystemExit, match=r"^0$"):
        main(["--version"])
    assert capsys.readouterr().out == f"reactorlib {reactorlib.__version__}, files of schema {SCHEMA}\n"


def test_output_that_is_lost_is_one_line(fake):
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"], stdout=full, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (2, b"standard output cannot be written: No space left on device\n")


def test_a_report_of_results_that_can_only_be_read_shows_the_answer(results, capsys, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "out/figures")

    monkeypatch.setattr(figure_catalogue, "draw", refuse)
    assert main(["report", "out"]) == 2
    captured = capsys.readouterr()
    assert "Noise floor" in captured.out
    assert captured.err == "harness: out/figures: Permission denied; expected what can be read and written there\n"


def test_a_table_that_another_program_saved_with_a_byte_order_mark_is_read(results):
    path = results / TRIALS.file_name
    expected = TRIALS.read(results)
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert TRIALS.read(results) == expected


def test_a_file_of_a_study_that_is_gone_is_ignored(harness, results):
    (results / "breakdown.csv").write_text("run_id,phase,value\n")
    done = harness("report", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert "breakdown" not in done.stdout


def test_a_run_under_nohup_outlives_its_terminal():
    for before, ends in ((signal.SIG_DFL, True), (signal.SIG_IGN, False)):
        signal.signal(signal.SIGHUP, before)
        end_on_signals()
        assert (signal.getsignal(signal.SIGHUP) is not before) is ends


def test_an_interrupt_while_modules_are_imported_costs_one_line():
    with subprocess.Popen(
        [sys.executable, "-X", "importtime", "-m", "harness", "list"], cwd=ROOT, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        while "harness.errors" not in process.stderr.readline():
            pass
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT
    assert out == ""
    assert [line for line in errors.splitlines() if not line.startswith("import time:")] == ["harness: interrupted"]


def test_an_interrupt_in_a_report_costs_one_line(monkeypatch, capsys, tmp_path):
    def summarise(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("harness.report.summary.summarise", summarise)
    assert main(["report", str(tmp_path)]) == 128 + signal.SIGINT
    assert capsys.readouterr().err == "harness: interrupted\n"
