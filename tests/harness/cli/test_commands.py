"""The command line: its options, and bad input, which costs one line and changes nothing."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.commands import main
from harness.store.trial_records import TRIALS
from workloads.catalogue import BACKENDS, WORKLOADS

ROOT = Path(__file__).resolve().parents[3]

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
        (("doctor", "--only", "rya"), "did you mean ray?"),
        ((), "required: COMMAND"),
        (("run", "--workload", "gym_samplin"), "--workload: invalid choice: 'gym_samplin': did you mean gym_sampling"),
        (("run", "--backend", "ray-papr"), "--backend: invalid choice: 'ray-papr': did you mean ray-paper"),
        (("run", "--preset", "papr"), "--preset: invalid choice: 'papr': did you mean paper?"),
        (("run", "--set", "actor=3"), "parameter: unknown 'actor'; did you mean actors"),
        (("run", "--set", "fake.actor=3", "--workload", "fake"), "did you mean actors?"),
        (("run", "--set", "gym.actors=1"), "--set gym.actors=1: workload: unknown 'gym'"),
        (
            ("run", "--workload", "gym_sampling", "--set", "q_learning.actors=2"),
            "--set q_learning.actors=2: q_learning is not among the workloads chosen: gym_sampling",
        ),
        (("run", "--set", "actors"), "expected NAME=VALUE"),
        (("run", "--set", "actors="), "expected NAME=VALUE"),
        (("run", "--set", "actors=2,,3"), "expected NAME=VALUE"),
        ((*RUN, "--set", "actors=many"), "actors: expected an integer, got 'many'"),
        ((*RUN, "--set", "actors=2.5"), "actors: expected an integer, got '2.5'"),
        ((*RUN, "--set", "actors=-2"), "actors: must be at least 1, got -2"),
        ((*RUN, "--set", "pause=nan"), "pause: expected a finite number"),
        (("run", "--workload", "gym_sampling", "--set", "env=CartPole-v9"), "env: unknown 'CartPole-v9'; did you mean"),
        (("run", "--workload", "atari_sampling", "--set", "env=Pongg"), "env: unknown 'Pongg'; did you mean Pong"),
        (("run", "--trials", "0"), "must be at least 1 and at most 1000, got 0"),
        (("run", "--trials", "x"), "expected an integer, got 'x'"),
        (("scaling", "--rounds", "x"), "argument --rounds: expected an integer, got 'x'"),
        (("run", "--seed", "-1"), "must be at least 0, got -1"),
        (("run", "--time-limit", "inf"), "must be at least 0.1 and at most 1e+08, got inf"),
        ((*RUN, "--output", "/dev/null/x"), "/dev/null/x: Not a directory; expected what can be"),
        ((*RUN, "--output", "/proc/nowhere/x"), "No such file or directory; expected what can be"),
        (("run", "--resume"), "no such run yet"),
        (("report",), "no such run yet"),
        (("report", "nowhere"), "nowhere: no such directory"),
        (("report", "."), "measurements.csv: holds no rows; expected the results of `harness run`"),
        (("advise",), "required: --env"),
        (("advise", "--env", "CartPole-v9"), "env: unknown 'CartPole-v9'; did you mean"),
        (("advise", "--env", "nowhere_at_all:Own-v0"), "env: no module nowhere_at_all"),
        (("advise", "--env", "busy:2"), "env: "),
        (("advise", "--env", "CartPole-v1", "--actors", "0"), "actors: must be at least 1, got 0"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bad_input_is_refused_in_one_line(refused, arguments, words):
    assert words in refused(*arguments)


@pytest.fixture
def results(finished, capsys):
    """A finished run in `out`."""
    assert finished(*RUN[1:]).returncode == 0
    capsys.readouterr()
    return Path("out")


def test_results_are_not_overwritten(refused, results):
    assert "out already holds measurements.csv; add --resume" in refused(*RUN, "--output", "out")


def test_another_grid_is_refused(refused, results):
    assert "out holds another grid" in refused(*RUN, "--set", "actors=9", "--output", "out", "--resume")
    assert "seed 0 there, 4 here" in refused(*RUN, "--seed", "4", "--output", "out", "--resume")


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


@pytest.mark.parametrize("name", ["machine.json", "grid.json"])
@pytest.mark.parametrize("content", [None, "{", "[]", "{}"])
def test_a_broken_description_is_refused(refused, results, name, content):
    path = results / name
    if content is None:
        path.unlink()
    else:
        path.write_text(content)
    message = refused(*RUN, "--output", "out", "--resume")
    assert "out" in message
    assert "choose another --output" in message


def test_a_broken_line_is_named(refused, results):
    path = results / "trials.csv"
    path.write_text(path.read_text().replace(",serial,0,", ",serial,first,"))
    for arguments in ((*RUN, "--output", "out", "--resume"), ("report", "out")):
        message = refused(*arguments)
        assert "out/trials.csv, line 2: column trial: expected int, got 'first'; " in message


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
    code = f"import sys; from harness.__main__ import main; main({arguments}); print(*sys.modules, file=sys.stderr)"
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


@pytest.mark.parametrize("command", ["scaling", "breakdown"])
def test_where_nothing_can_be_written_nothing_is_measured(refused, finished, capsys, command, monkeypatch):
    one = ("--workload", "fake", "--backend", "reactor-inline", "--trials", "1")
    assert finished(*one, output="two").returncode == 0
    capsys.readouterr()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert refused(command, "two") == (
        f"harness: two/{command}.csv: cannot be written; make its directory one that can be written to\n"
    )


@pytest.mark.parametrize("command", ["scaling", "breakdown"])
def test_a_directory_without_a_grid_is_refused_without_options_of_other_commands(refused, results, command):
    (results / "grid.json").unlink()
    assert refused(command, "out") == ("harness: out/grid.json: no such file; expected the results of `harness run`\n")
    (results / "grid.json").write_text("{}")
    assert "out/grid.json: broken (object missing required field" in refused(command, "out")


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
    done = subprocess.run(
        [sys.executable, "-m", "harness"],
        env={**os.environ, **told, "COMP_LINE": line, "COMP_POINT": str(len(line))},
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert (done.returncode, (tmp_path / "offered").read_text().split()) == (0, offered.split())


def test_an_interpreter_without_what_the_suite_needs_is_told_in_one_line():
    done = subprocess.run(
        [sys.executable, "-S", "-m", "harness", "list"],  # without site-packages
        env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("harness: ")
    assert done.stderr.endswith("use .venv/bin/python, which `make install` makes\n")


def test_help_shows_examples(capsys):
    for command in ("--help", "run --help"):
        with pytest.raises(SystemExit) as ended:
            main(command.split())
        assert ended.value.code == 0
        assert "python -m harness run" in capsys.readouterr().out


def test_a_reader_that_leaves_early_is_no_error(fake):
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "harness", "list"], stdout=closed, stderr=subprocess.PIPE, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, b"")
