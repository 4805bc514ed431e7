"""A budget decides how many trials a run has."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli.options import budget_s
from harness.store.trial_records import TRIALS
from tests.harness.measure.fake_run import TWO, rows_of


@pytest.mark.parametrize(("budget", "trials"), [("1s", [1, 1]), ("11s", [1, 1]), ("12s", [2, 1]), ("1h", [3, 3])])
def test_a_budget_decides_how_many_trials_there_are_and_each_point_has_one(harness, ticking, budget, trials):
    ticking()  # a block takes three seconds, and one passes before it
    line = ("run", *TWO, "--trials", "3", "--set", "actors=2,5", "--budget", budget, "--output", "out")
    done = harness(*line)
    assert done.returncode == 0, done.stderr
    grid = json.loads(Path("out/grid.json").read_text())
    assert [point["trials"] for point in grid["points"]] == trials
    assert len({row.trial_key for row in rows_of("out")}) == 2 * sum(trials)
    counted = {(1, 1): "1 trial", (2, 1): "1 or 2 trials"}.get(tuple(trials))
    told = f"the budget of {budget[:-1]} s is used: {counted} of each point"
    assert (told in done.stderr) == (trials != [3, 3])
    assert harness(*line, "--resume", "--dry-run").stdout.startswith("0 trials")


def test_a_budget_that_is_used_up_cuts_nothing_that_was_measured(harness, ticking):
    line = ("run", *TWO, "--set", "actors=2,5", "--trials", "3", "--output", "out")
    assert harness(*line, "--budget", "1h").returncode == 0
    before = rows_of("out")
    trials = TRIALS.read(Path("out"))
    failed = [replace(trial, status="error: it was the weather") if trial.trial == 1 else trial for trial in trials]
    TRIALS.write(Path("out"), failed)
    ticking(step=1000)
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
