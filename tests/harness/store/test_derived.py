"""The rows of measurements.csv follow from the trials and their turns."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.store.measurement_table import MEASUREMENTS, derived, measured
from harness.store.recorded_turns import TURNS, RecordedTurn
from harness.store.run_directory import stored_grid
from harness.store.trial_records import TRIALS, TrialRecord

STORED = sorted(path.parent for path in (Path(__file__).parents[3] / "results").glob("*/trials.csv"))
KEY = ("fake", "{}", "serial", 0)
TRIAL = TrialRecord(*KEY, "2026-05-01T10:00:00Z", 1.0, 0.0, workers=1, startup_ns=77, peak_bytes=4_096)


def task(**changes):
    described = {"metric": "throughput", "unit": "steps/s", "units_per_round": 10}
    return SimpleNamespace(**(described | changes))


def turns(*taken):
    """Turns, each with its number of rounds, wall time and CPU time."""
    return [RecordedTurn(*KEY, 0, sweep, 0, *turn) for sweep, turn in enumerate(taken)]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_the_rows_of_every_stored_run_follow_from_its_trials_and_turns(path):
    run_id, grid = stored_grid(path)
    rows = MEASUREMENTS.read(path)
    assert rows == list(derived(run_id, grid.points, TRIALS.read(path), TURNS.read(path)))


def test_there_are_stored_runs():
    assert {"quick", "reference"} <= {path.name for path in STORED}


def test_all_that_is_of_a_round_comes_from_the_same_mean():
    found = measured(task(), TRIAL, turns((2, 200, 300), (1, 400, 450)))
    assert found == pytest.approx(
        {
            "throughput": 10 * 1e9 / 200,  # the geometric mean of 100 and 400
            "round_time": 200,
            "startup_time": 77,
            "peak_rss": 4_096,
            "cpu_time": 750 / 30,
        }
    )


@pytest.mark.parametrize(
    ("workers", "ideal_ns"), [(None, 100), (24, 100), (23, 200), (16, 200), (12, 200), (2, 1_200), (1, 2_400)]
)
def test_the_simulated_work_spread_over_a_backends_workers_is_no_overhead(workers, ideal_ns):
    broadcast = task(metric="overhead", unit="ns", work_seconds=1e-7, members=24)
    taken = ideal_ns + 70
    found = measured(broadcast, replace(TRIAL, workers=workers), turns((1, taken, 200), (10, 10 * taken, 2_000)))
    assert found["overhead"] == pytest.approx(70)
    assert found["throughput"] == pytest.approx(1e9 / taken)
