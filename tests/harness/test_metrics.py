"""From turns to values."""

from types import SimpleNamespace

import pytest

from harness import metrics
from harness.engine.block import Measured
from harness.engine.subject import Subject
from harness.engine.turn import Turn


def task(**changes):
    described = {"metric": "throughput", "unit": "steps/s", "units_per_round": 10}
    return SimpleNamespace(**(described | changes))


def trial(*turns):
    taken = {(sweep, 0): turn for sweep, turn in enumerate(turns)}
    return Measured(Subject("s", {}), turns=taken, startup_ns=77, peak_bytes=4_096)


def test_all_that_is_of_a_round_comes_from_the_same_mean():
    found = metrics.measured(task(), trial(Turn(2, 200, 300), Turn(1, 400, 450)))
    assert found == pytest.approx(
        {
            "throughput": 10 * 1e9 / 200,  # the geometric mean of 100 and 400
            "round_time": 200,
            "startup_time": 77,
            "peak_rss": 4_096,
            "cpu_time": 750 / 30,
        }
    )


def test_the_simulated_work_is_no_overhead():
    broadcast = task(metric="overhead", unit="ns", work_seconds=1e-7)
    found = metrics.measured(broadcast, trial(Turn(1, 170, 200), Turn(10, 1_700, 2_000)))
    assert found["overhead"] == pytest.approx(70)
    assert found["throughput"] == pytest.approx(1e9 / 170)


def test_the_ratio_of_two_trials_is_that_of_neighbouring_turns():
    drift = (1.0, 3.0, 0.5, 7.0)
    one = trial(*(Turn(1, int(1e6 * speed), 1) for speed in drift))
    other = trial(*(Turn(1, int(1.5e6 * speed), 1) for speed in drift))
    ratio = metrics.measured(task(), one)["throughput"] / metrics.measured(task(), other)["throughput"]
    assert ratio == pytest.approx(1.5)


def test_units_name_every_metric_of_a_row():
    assert metrics.units(task()) == {
        "throughput": "steps/s",
        "round_time": "ns",
        "startup_time": "ns",
        "peak_rss": "bytes",
        "cpu_time": "ns/step",
    }
