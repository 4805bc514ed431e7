"""A run that was interrupted or has failed trials is completed, and trials are added."""

import errno
import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.store.recorded_turns import TURNS
from harness.store.run_directory import RunDirectory
from harness.store.status import OK
from harness.store.trial_records import TRIALS
from tests.harness.measure.fake_run import LIMIT_S, METRICS, ONE, SLOW, TWO, alive, rows_of, statuses, wait_until

INTERRUPTED_OTHERWISE = pytest.mark.slow(reason="a run and its completion for each signal; one is always tried")


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


def test_a_full_disk_ends_a_run_in_one_line_that_completes_it(harness, monkeypatch):
    add, full = RunDirectory.add, [False, True]

    def fill(self, records, turns):
        if full.pop(0):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out/turns.csv.gz")
        add(self, records, turns)

    monkeypatch.setattr(RunDirectory, "add", fill)
    done = harness("run", *TWO, "--trials", "2", "--output", "out")
    assert done.returncode == 2
    assert done.stderr.count("harness: ") == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("harness: out: No space left on device; what was measured before is kept; once there is ")
    assert last.endswith("-m harness run --output out --resume")
    monkeypatch.setattr(RunDirectory, "add", add)
    assert harness("run", "--output", "out", "--resume").returncode == 0


@pytest.mark.slow(reason="a run and its completion; `make test` completes an interrupted run")
def test_failed_trials_run_again_when_the_run_is_resumed_but_not_what_is_unsupported(harness):
    once = Path("once")
    settings = ("--set", "behaviour=good,refuses,breaks_once", "--set", f"file={once.resolve()}")
    first = harness("run", *TWO, "--trials", "2", *settings, "--output", "out")
    assert first.returncode == 1
    before = rows_of("out")
    assert {row.status for row in before if row.is_failure} == {"RuntimeError: not yet"}
    done = harness("run", "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert "2 trials into out" in done.stderr  # a block runs as a whole
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
    assert {row.backend: row.status for row in rows_of("out")} == {backends[0]: status[backends[0]], backends[1]: OK}


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


@pytest.mark.parametrize("line", [(), TWO], ids=["as it is", "repeated"])
def test_trials_can_be_added_and_know_no_budget_of_those_before(harness, ticking, line):
    ticking(step=2)  # beyond the budget before any block that it could forbid
    assert harness("run", *TWO, "--trials", "1", "--budget", "1s", "--output", "out").returncode == 0
    before = rows_of("out")
    planned = harness("run", *line, "--trials", "2", "--output", "out", "--resume", "--dry-run")
    assert planned.stdout.splitlines()[-1].startswith("2 trials, ")
    assert json.loads(Path("out/grid.json").read_text())["points"][0]["trials"] == 1
    done = harness("run", *line, "--trials", "2", "--output", "out", "--resume")
    assert done.returncode == 0, done.stderr
    assert rows_of("out")[: len(before)] == before
    assert {row.trial for row in rows_of("out")} == {0, 1}
    fewer = harness("run", "--trials", "1", "--output", "out", "--resume")
    assert fewer.stderr == "harness: out has 2 trials of a point; expected --trials 2 or more to add to them\n"
