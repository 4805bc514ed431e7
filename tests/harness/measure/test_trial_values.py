"""From turns to values."""

from types import SimpleNamespace

import pytest

from harness.measure import trial_values
from harness.measure.block import Measured
from harness.measure.subject import Subject
from harness.measure.turn import Turn
from harness.plan import metrics


def task(**changes):
    described = {"metric": "throughput", "unit": "steps/s", "units_per_round": 10}
    return SimpleNamespace(**(described | changes))


def trial(*turns):
    taken = {(sweep, 0): turn for sweep, turn in enumerate(turns)}
    return Measured(Subject("s", {}), turns=taken, startup_ns=77, peak_bytes=4_096)


def test_all_that_is_of_a_round_comes_from_the_same_mean():
    found = trial_values.measured(task(), trial(Turn(2, 200, 300), Turn(1, 400, 450)), workers=1)
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
    found = trial_values.measured(broadcast, trial(Turn(1, taken, 200), Turn(10, 10 * taken, 2_000)), workers)
    assert found["overhead"] == pytest.approx(70)
    assert found["throughput"] == pytest.approx(1e9 / taken)


def test_the_ratio_of_two_trials_is_that_of_neighbouring_turns():
    drift = (1.0, 3.0, 0.5, 7.0)
    one = trial(*(Turn(1, int(1e6 * speed), 1) for speed in drift))
    other = trial(*(Turn(1, int(1.5e6 * speed), 1) for speed in drift))
    ratio = trial_values.measured(task(), one, 1)["throughput"] / trial_values.measured(task(), other, 1)["throughput"]
    assert ratio == pytest.approx(1.5)


def test_units_name_every_metric_of_a_row():
    assert metrics.units(task()) == {
        "throughput": "steps/s",
        "round_time": "ns",
        "startup_time": "ns",
        "peak_rss": "bytes",
        "cpu_time": "ns/step",
    }
