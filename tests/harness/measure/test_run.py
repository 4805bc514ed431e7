"""Whole runs of the fake workload: real processes, real files."""

import itertools
import json
import math
import os
import re
import signal
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from types import SimpleNamespace

import psutil
import pytest

from harness.cli.options import budget_s
from harness.measure import block, runner
from harness.store.measurements import MEASUREMENTS
from harness.store.recorded_turns import TURNS
from harness.store.status import OK
from harness.store.trial_records import TRIALS

METRICS = {"throughput", "round_time", "startup_time", "peak_rss", "cpu_time"}
TWO = ("--workload", "fake", "--backend", "serial", "--backend", "reactor-inline")
ONE = (*TWO, "--trials", "1")
LIMIT_S = 60


def rows_of(directory):
    return MEASUREMENTS.read(Path(directory))


def statuses(directory):
    """The status of each backend's trial 0, by behaviour."""
    return {(row.scenario, row.backend): row.status for row in rows_of(directory) if row.metric == "throughput"}


def wait_until(condition):
    give_up = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def alive(pids):
    return [pid for pid in pids if psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie"]


def test_every_trial_gives_every_metric_and_one_digest(harness):
    done = harness("run", *TWO, "--trials", "2", "--set", "actors=5", "--output", "out")
    assert done.returncode == 0, done.stderr
    rows = rows_of("out")
    assert Counter(row.trial_key for row in rows) == dict.fromkeys((row.trial_key for row in rows), len(METRICS))
    assert {row.metric for row in rows} == METRICS
    assert len({row.trial_key for row in rows}) == 2 * 2
    assert all(row.ok and row.value > 0 for row in rows)
    assert len({row.digest for row in rows}) == 1
    assert {row.actors for row in rows} == {5}
    assert len({row.run_id for row in rows}) == 1
    assert list(Path("out/logs").iterdir()) == []


def test_every_turn_is_kept_and_the_values_come_from_them(harness):
    assert harness("run", *TWO, "--trials", "2", "--set", "pause=0.001", "--output", "out").returncode == 0
    taken = [turn for turn in TURNS.read(Path("out")) if not turn.copy]
    rows = {row.trial_key: row.value for row in rows_of("out") if row.metric == "round_time"}
    assert len(rows) == 4
    for key, value in rows.items():
        own = [turn for turn in taken if turn.trial_key == key]
        assert value == pytest.approx(math.exp(fmean(math.log(turn.wall_ns / turn.rounds) for turn in own)))
        assert sorted(turn.sweep for turn in own) == [0, 1, 2]
    assert all(trial.warmup_turns >= 1 for trial in TRIALS.read(Path("out")))


@pytest.mark.slow(reason="a whole run; `make test` has what else becomes a row")
def test_what_a_backend_cannot_run_is_a_row_with_the_reason_and_no_failure(harness):
    done = harness("run", *TWO, "--trials", "2", "--set", "behaviour=refuses", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert "FAILED" not in done.stderr
    refused = [row for row in rows_of("out") if row.backend == "reactor-inline"]
    assert len(refused) == 2 * len(METRICS)
    assert {(row.status, row.value, row.digest) for row in refused} == {("unsupported: told to refuse", None, "")}
    assert list(Path("out/logs").iterdir()) == []


def test_the_machine_is_described(harness):
    harness("run", "--workload", "fake", "--backend", "serial", "--trials", "1", "--output", "out")
    described = json.loads(Path("out/machine.json").read_bytes())
    assert described["cores_allowed"] >= 1
    assert described["gil_enabled_after_imports"] == {"serial": True}
    (session,) = described["sessions"]
    assert session["command"][-2:] == ["--output", "out"]
    assert session["variables_of_workers"]["OMP_NUM_THREADS"] == "1"


def test_what_goes_wrong_becomes_a_row_with_its_reason(harness):
    behaviours = "good,raises,exits,killed,wrong"
    done = harness("run", *TWO, "--trials", "1", "--set", f"behaviour={behaviours}", "--output", "out")
    assert done.returncode == 1
    found = statuses("out")
    assert {found[behaviour, "serial"] for behaviour in behaviours.split(",")} == {"ok"}
    assert found["good", "reactor-inline"] == "ok"
    assert found["raises", "reactor-inline"] == "RuntimeError: told to raise"
    assert found["exits", "reactor-inline"] == "exited with status 3 before reporting a result"
    assert found["killed", "reactor-inline"] == "killed by SIGKILL (out of memory?)"
    assert found["wrong", "reactor-inline"].startswith("digest differs: ")
    assert "serial has" in found["wrong", "reactor-inline"]
    assert all((row.value is None) == (row.status != "ok") for row in rows_of("out"))
    (log,) = [path for path in Path("out/logs").iterdir() if "Traceback" in path.read_text()]
    assert "told to\nraise" in log.read_text()
    assert "Traceback" not in done.stderr
    assert "FAILED" in done.stderr


def test_a_backend_that_never_reports_its_state_is_measured_all_the_same(harness):
    done = harness("run", "--workload", "fake", "--backend", "reactor-inline", "--trials", "1",
                   "--set", "behaviour=silent", "--output", "out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {row.metric for row in rows_of("out") if row.value > 0} == METRICS


@pytest.mark.usefixtures("made_up")
def test_what_fails_in_a_block_is_a_row_and_the_others_are_whole(harness, monkeypatch):
    made = block.run

    def failing(*given):
        return [
            replace(one, failure="time limit: no result after 8 s") if one.subject.name == "reactor-inline" else one
            for one in made(*given)
        ]

    monkeypatch.setattr(block, "run", failing)
    done = harness("run", *ONE, "--output", "out")
    assert (done.returncode, "FAILED time limit" in done.stderr) == (1, True)
    assert statuses("out") == {("good", "serial"): "ok", ("good", "reactor-inline"): "time limit: no result after 8 s"}


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no shared memory to leave files in")
@pytest.mark.parametrize(("name", "stays"), [("sem.obj{}-{}", False), ("test-{}-{}.so", True)])
def test_what_a_trial_leaves_behind_is_removed_but_no_file_of_a_user(harness, tmp_path, name, stays):
    file = Path("/dev/shm", name.format(os.getpid(), time.time_ns()))
    try:
        done = harness("run", "--workload", "fake", "--backend", "reactor-inline", "--trials", "1",
                       "--set", "behaviour=orphans", "--set", f"file={file}", "--output", "out")  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert file.exists() == stays
    finally:
        file.unlink(missing_ok=True)
    assert not [process for process in psutil.process_iter() if str(file) in _command(process)]


def _command(process):
    try:
        return process.cmdline()
    except psutil.Error:
        return []


@pytest.mark.usefixtures("made_up")
def test_a_complete_run_has_nothing_to_resume(harness, finished):
    finished(*ONE)
    before = Path("out/measurements.csv").read_bytes()
    done = harness("run", *ONE, "--output", "out", "--resume")
    assert done.returncode == 0
    assert "0 trials" in done.stderr
    assert Path("out/measurements.csv").read_bytes() == before
    assert len(json.loads(Path("out/machine.json").read_bytes())["sessions"]) == 2


INTERRUPTED_OTHERWISE = pytest.mark.slow(reason="a run and its completion for each signal; one is always tried")
SLOW = ("run", *TWO, "--trials", "2", "--set", "pause=0.05", "--output", "out")


@pytest.mark.parametrize(
    ("number", "status"),
    [
        (signal.SIGINT, 130),
        pytest.param(signal.SIGKILL, -9, marks=INTERRUPTED_OTHERWISE),
        pytest.param(signal.SIGTERM, 143, marks=INTERRUPTED_OTHERWISE),
    ],
    ids=str,
)
def test_an_interrupted_run_can_be_completed(start, harness, number, status):
    interrupted = start(*SLOW)
    path = Path("out/measurements.csv")
    wait_until(lambda: path.exists() and path.read_bytes().count(b"\n") > len(METRICS))
    wait_until(lambda: len(psutil.Process(interrupted.pid).children(recursive=True)) >= 2)
    tree = [process.pid for process in psutil.Process(interrupted.pid).children(recursive=True)]
    before = path.read_bytes()
    interrupted.send_signal(number)
    _, errors = interrupted.communicate(timeout=LIMIT_S)
    assert interrupted.returncode == status
    wait_until(lambda: not alive(tree))
    assert "Traceback" not in errors
    if number != signal.SIGKILL:
        assert "--output out --resume" in errors
    assert path.read_bytes().startswith(before)

    done = harness("run", "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert path.read_bytes().startswith(before)
    keys = [row.key for row in rows_of("out")]
    assert len(keys) == len(set(keys)) == 2 * 2 * len(METRICS)
    assert len({row.digest for row in rows_of("out")}) == 1
    assert Path("out/logs").is_dir()


@pytest.mark.slow(reason="a run and its completion; `make test` completes an interrupted run")
def test_failed_trials_run_again_when_the_run_is_resumed_but_not_what_is_unsupported(harness):
    once = Path("once")
    arguments = (
        *TWO,
        "--trials",
        "2",
        "--set",
        "behaviour=good,refuses,breaks_once",
        "--set",
        f"file={once.resolve()}",
    )
    first = harness("run", *arguments, "--output", "out")
    assert first.returncode == 1
    before = rows_of("out")
    assert {row.status for row in before if row.is_failure} == {"RuntimeError: not yet"}
    done = harness("run", "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert "2 trials into out" in done.stderr  # a block runs as a whole
    assert "1 trial failed before, to run again" in done.stderr
    after = {row.key: row for row in rows_of("out")}
    assert after.keys() == {row.key for row in before}
    once = {row.point for row in before if row.is_failure}
    assert all(after[row.key] == row for row in before if row.point not in once or row.trial)
    assert not any(row.is_failure for row in after.values())
    assert sum(row.unsupported for row in after.values()) == 2 * len(METRICS)


def test_a_wrong_digest_is_not_tried_until_it_comes_out_right(harness):
    harness("run", *ONE, "--set", "behaviour=wrong", "--output", "out")
    before = rows_of("out")
    done = harness("run", "--output", "out", "--resume")
    assert done.returncode == 1
    assert "0 trials into out" in done.stderr
    assert rows_of("out") == before


@pytest.mark.usefixtures("made_up")
def test_a_wrong_digest_stays_where_another_trial_of_its_block_runs_again(harness, finished):
    finished(*TWO)
    trials = TRIALS.read(Path("out"))
    backends = sorted({trial.backend for trial in trials})
    status = {backends[0]: "digest differs: aa, most backends have bb", backends[1]: "error: it was the weather"}
    TRIALS.write(Path("out"), [replace(trial, status=status[trial.backend]) for trial in trials])
    done = harness("run", "--output", "out", "--resume")
    assert done.returncode == 1
    assert {row.backend: row.status for row in rows_of("out")} == {
        backends[0]: status[backends[0]],
        backends[1]: OK,
    }


@pytest.mark.usefixtures("made_up")
def test_trials_that_are_added_know_no_budget_but_their_own(harness, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    assert (
        harness("run", *TWO, "--set", "actors=2", "--trials", "3", "--budget", "1s", "--output", "out").returncode == 0
    )
    done = harness("run", "--resume", "--trials", "4", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert len({row.trial for row in rows_of("out")}) == 4


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize("table", [TRIALS, TURNS], ids=lambda table: table.file_name)
def test_a_trial_whose_record_or_turns_are_missing_is_measured_again(harness, finished, table):
    finished(*ONE)
    table.write(Path("out"), [one for one in table.read(Path("out")) if one.backend == "serial"])
    done = harness("run", *ONE, "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert "2 trials into out" in done.stderr  # a block runs as a whole
    assert len({row.key for row in rows_of("out")}) == 2 * len(METRICS)
    assert len(TURNS.read(Path("out"))) == 3 * 2 * 2  # sweeps, trials, copies


@pytest.mark.usefixtures("made_up")
def test_a_block_that_nobody_judged_is_judged_when_the_run_is_resumed(harness, finished):
    finished(*ONE)
    trials = TRIALS.read(Path("out"))
    forged = [replace(one, digest="beef-01") if one.backend == "reactor-inline" else one for one in trials]
    TRIALS.write(Path("out"), forged)
    done = harness("run", *ONE, "--output", "out", "--resume")
    assert done.returncode == 1
    assert statuses("out")["good", "reactor-inline"].startswith("digest differs: beef-01, serial has ")


def test_two_runs_cannot_write_into_one_directory(start, harness):
    start(*SLOW)
    wait_until(lambda: Path("out/measurements.csv").exists())
    done = harness(*SLOW, "--resume")
    assert done.returncode == 2
    assert "another run is writing there" in done.stderr


@pytest.mark.usefixtures("made_up")
def test_without_an_output_results_have_a_directory_of_their_own_that_is_the_latest(harness):
    one = harness("run", "--workload", "fake", "--backend", "serial", "--trials", "1", "--json")
    output = json.loads(one.stdout)["output"]
    assert Path(output).parent == Path("results/runs")
    assert Path("results/latest").resolve() == Path(output).resolve()
    assert harness("report").returncode == 0
    assert "0 trials" in harness("run", "--resume").stderr


@pytest.mark.usefixtures("made_up")
def test_a_directory_in_the_place_of_the_latest_is_told_and_kept(harness):
    mine = Path("results/latest/mine")
    mine.parent.mkdir(parents=True)
    mine.touch()
    done = harness("run", "--workload", "fake", "--backend", "serial", "--trials", "1", "--json")
    assert done.returncode == 0
    output = json.loads(done.stdout)["output"]
    assert (
        f"results/latest is no symbolic link and stays as it is: it is not this run, which is {output}" in done.stderr
    )
    assert mine.exists()


def test_a_plan_is_printed_and_nothing_run(harness, tmp_path):
    done = harness("run", *TWO, "--trials", "3", "--dry-run")
    assert done.returncode == 0
    assert re.fullmatch(r"6 trials, each at most 3 min; together about \d+ .*", done.stdout.splitlines()[-1])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow(reason="a run and its completion; `make test` has the plan of a run that cannot be completed")
@pytest.mark.parametrize("output", [["--output", "out"], []], ids=str)
def test_a_plan_of_a_run_to_complete_is_what_it_lacks(harness, output):
    harness("run", *TWO, "--trials", "2", "--set", "behaviour=good,raises", *output)
    path = Path("out" if output else "results/latest")
    TRIALS.write(path, TRIALS.read(path)[:-2])
    before = {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()}
    done = harness("run", *output, "--resume", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert {file: file.read_bytes() for file in Path().rglob("*") if file.is_file()} == before
    assert done.stdout.splitlines()[-1].startswith(
        "4 trials, each at most 3 min; "
    )  # both blocks of the one that raises
    assert " failed before, to run again" in done.stderr
    assert "4 trials into" in harness("run", *output, "--resume").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "missing"), "missing: holds no run that could be resumed"),
        (("--output", "out", *TWO, "--set", "actors=7"), "out holds another grid"),
        (("--output", "out", "--trials", "100001"), "trials: expected 1 or more"),
    ],
)
def test_a_plan_of_a_run_that_cannot_be_completed_is_refused_as_that_is(harness, finished, arguments, message):
    finished(*ONE)
    done, real = (harness("run", *arguments, "--resume", *more) for more in (("--dry-run",), ()))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", real.stderr)
    assert message in done.stderr


@pytest.mark.parametrize("line", [(), TWO], ids=["as it is", "repeated"])
@pytest.mark.usefixtures("made_up")
def test_trials_can_be_added(harness, line):
    assert harness("run", *TWO, "--trials", "1", "--output", "out").returncode == 0
    before = rows_of("out")
    planned = harness("run", *line, "--trials", "2", "--output", "out", "--resume", "--dry-run")
    assert planned.stdout.splitlines()[-1].startswith("2 trials, ")
    assert json.loads(Path("out/grid.json").read_text())["points"][0]["trials"] == 1
    done = harness("run", *line, "--trials", "2", "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert rows_of("out")[: len(before)] == before
    assert {row.trial_key[3] for row in rows_of("out")} == {0, 1}
    fewer = harness("run", "--trials", "1", "--output", "out", "--resume")
    assert fewer.stderr == "harness: out has 2 trials of a point; expected --trials 2 or more to add to them\n"


def test_resuming_what_is_not_there_begins_nothing(harness):
    done = harness("run", "--workload", "fake", "--backend", "serial", "--output", "missing", "--resume")
    assert done.returncode == 2
    assert (
        done.stderr == "harness: missing: holds no run that could be resumed; leave out --resume to begin one there\n"
    )
    assert not Path("missing").exists()


@pytest.mark.parametrize(("budget", "trials"), [("1s", [1, 1]), ("11s", [1, 1]), ("12s", [2, 1]), ("1h", [3, 3])])
@pytest.mark.usefixtures("made_up")
def test_a_budget_decides_how_many_trials_there_are_and_each_point_has_one(harness, monkeypatch, budget, trials):
    clock = itertools.count()  # a second from look to look: a block takes three, and one passes before it
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    done = harness("run", *TWO, "--trials", "3", "--set", "actors=2,5", "--budget", budget, "--output", "out")
    assert done.returncode == 0, done.stderr
    grid = json.loads(Path("out/grid.json").read_text())
    assert [point["trials"] for point in grid["points"]] == trials
    assert len({row.trial_key for row in rows_of("out")}) == 2 * sum(trials)
    counted = {(1, 1): "1 trial", (2, 1): "1 or 2 trials"}.get(tuple(trials))
    told = f"the budget of {budget[:-1]} s is used: {counted} of each point"
    assert (told in done.stderr) == (trials != [3, 3])
    again = harness("run", "--resume", "--output", "out", "--dry-run")
    assert again.stdout.startswith("0 trials")


@pytest.mark.usefixtures("made_up")
def test_a_run_with_a_budget_is_completed_by_the_command_that_began_it(harness, monkeypatch):
    clock = itertools.count()
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    line = ("run", *TWO, "--set", "actors=2", "--trials", "3", "--output", "out")
    assert harness(*line, "--budget", "1s").returncode == 0
    assert len({row.trial_key for row in rows_of("out")}) == 2
    done = harness(*line, "--budget", "1s", "--resume")
    assert done.returncode == 0, done.stderr
    assert len({row.trial_key for row in rows_of("out")}) == 2


@pytest.mark.usefixtures("made_up")
def test_a_budget_that_is_used_up_cuts_nothing_that_was_measured(harness, monkeypatch):
    line = ("run", *TWO, "--set", "actors=2,5", "--trials", "3", "--output", "out")
    assert harness(*line, "--budget", "1h").returncode == 0
    before = rows_of("out")
    trials = TRIALS.read(Path("out"))
    failed = [replace(trial, status="error: it was the weather") if trial.trial == 1 else trial for trial in trials]
    TRIALS.write(Path("out"), failed)
    clock = itertools.count(0, 1000)
    monkeypatch.setattr(runner, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    done = harness(*line, "--budget", "1h", "--resume")
    assert "trials are left for --resume" in done.stderr
    assert {row.trial_key for row in rows_of("out") if row.trial != 1} == {
        row.trial_key for row in before if row.trial != 1
    }


@pytest.mark.parametrize(("text", "seconds"), [("45s", 45), ("90m", 5400), ("90min", 5400), ("1.5h", 5400)])
def test_a_budget_has_a_unit(text, seconds):
    assert budget_s(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "90 m", "-1h", "0m", "1d", "h", "3hin"])
def test_a_budget_is_a_time(harness, text):
    done = harness("run", *TWO, f"--budget={text}")
    assert done.returncode == 2
    assert f"--budget: expected a time such as 45s, 90m or 8h, got {text!r}" in done.stderr
