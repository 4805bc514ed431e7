"""Whole runs of the fake workload: real processes, real files."""

import json
import os
import re
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from harness.store.trial_records import TRIALS
from tests.harness.measure.fake_run import METRICS, ONE, SLOW, TWO, rows_of, statuses, wait_until


def test_every_trial_gives_every_metric_and_one_digest_and_the_machine_is_described(harness):
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
    described = json.loads(Path("out/machine.json").read_bytes())
    assert described["cores_allowed"] >= 1
    trials = TRIALS.read(Path("out"))
    assert {trial.gil_enabled for trial in trials} == {True}
    assert all(trial.warmup_turns >= 1 for trial in trials)
    (session,) = described["sessions"]
    assert session["command"][-2:] == ["--output", "out"]
    assert session["variables_of_workers"]["OMP_NUM_THREADS"] == "1"
    assert session["variables_of_workers"]["MALLOC_MMAP_THRESHOLD_"] == "33554432"


def test_what_goes_wrong_becomes_a_row_with_its_reason(harness):
    behaviours = "good,refuses,raises,exits,killed,wrong"
    done = harness("run", *TWO, "--trials", "1", "--set", f"behaviour={behaviours}", "--output", "out")
    assert done.returncode == 1
    found = statuses("out")
    assert {found[behaviour, "serial"] for behaviour in behaviours.split(",")} == {"ok"}
    assert found["good", "reactor-inline"] == "ok"
    assert found["refuses", "reactor-inline"] == "unsupported: told to refuse"
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


def test_two_runs_cannot_write_into_one_directory(start, harness):
    start(*SLOW)
    wait_until(lambda: Path("out/measurements.csv").exists())
    done = harness(*SLOW, "--resume")
    assert done.returncode == 2
    assert "another run is writing there" in done.stderr


@pytest.mark.usefixtures("made_up")
def test_without_an_output_results_have_a_directory_of_their_own_that_is_the_latest(harness):
    assert harness("run", "--workload", "fake", "--backend", "serial", "--trials", "1").returncode == 0
    (output,) = Path("results/runs").iterdir()
    assert Path("results/latest").resolve() == output.resolve()
    assert harness("report").returncode == 0
    before = Path(output, "measurements.csv").read_bytes()
    assert "0 trials" in harness("run", "--resume").stderr
    assert Path(output, "measurements.csv").read_bytes() == before
    assert len(json.loads(Path(output, "machine.json").read_bytes())["sessions"]) == 2


@pytest.mark.usefixtures("made_up")
def test_a_directory_in_the_place_of_the_latest_is_told_and_kept(harness):
    mine = Path("results/latest/mine")
    mine.parent.mkdir(parents=True)
    mine.touch()
    done = harness("run", "--workload", "fake", "--backend", "serial", "--trials", "1")
    assert done.returncode == 0
    (output,) = Path("results/runs").iterdir()
    assert (
        f"results/latest is no symbolic link and stays as it is: it is not this run, which is {output}" in done.stderr
    )
    assert mine.exists()


def test_a_plan_is_printed_and_nothing_run(harness, tmp_path):
    done = harness("run", *TWO, "--trials", "3", "--dry-run")
    assert done.returncode == 0
    told = "6 trials, at most 3 min for each thing that a trial is asked; together about "
    assert re.fullmatch(rf"{told}\d+ .*", done.stdout.splitlines()[-1])
    assert "fake: 1 trial of serial, reactor-inline\n" in harness("run", *ONE, "--dry-run").stdout
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
    assert done.stdout.splitlines()[-1].startswith("4 trials, ")  # both blocks of the one that raises
    assert "4 trials into" in harness("run", *output, "--resume").stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output", "missing"), "missing: holds no run that could be resumed; leave out --resume to begin one there"),
        (("--output", "out", *TWO, "--set", "actors=7"), "out holds another grid"),
        (("--output", "out", "--trials", "100001"), "must be at least 1 and at most 1000, got 100001"),
    ],
)
def test_a_plan_of_a_run_that_cannot_be_completed_is_refused_as_that_is(harness, finished, arguments, message):
    finished(*ONE)
    done, real = (harness("run", *arguments, "--resume", *more) for more in (("--dry-run",), ()))
    assert (done.returncode, done.stdout, done.stderr) == (2, "", real.stderr)
    assert message in done.stderr
    assert not Path("missing").exists()
