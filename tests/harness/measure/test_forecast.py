"""How long a run is expected to take."""

import pytest

from harness.measure import forecast
from harness.measure.forecast import Forecast
from harness.plan.selection import Setting
from harness.store.trial_records import TRIALS, TrialRecord


@pytest.fixture
def grid(built):
    """A grid of two points, of which the first has both backends twice in a block."""
    return built(Setting("actors", ("2", "5")), trials=1)


@pytest.fixture
def trials(grid):
    """Two trials of each point on each backend, in the order in which they run."""
    return list(grid.with_trials(2).trials())


def detail_of(trial, duration_s):
    return TrialRecord(**trial.columns, started_at="2026-01-01T00:00:00Z", duration_s=duration_s, outside_cores=0.0)


def test_it_comes_from_what_is_most_like_the_trial(trials):
    by_name = {(trial.point.values["actors"], trial.backend): trial for trial in trials}
    serial_2, serial_5 = by_name[2, "serial"], by_name[5, "serial"]
    inline_2, inline_5 = by_name[2, "reactor-inline"], by_name[5, "reactor-inline"]
    expected = Forecast()
    assert expected.seconds(by_name.values()) == 20
    expected.add(serial_2, 1.0)
    assert expected.seconds([inline_5, serial_5]) == 2
    expected.add(inline_2, 9.0)
    assert expected.seconds([inline_5, serial_5]) == 10
    expected.add(inline_5, 20.0)
    assert expected.seconds([inline_5, serial_5]) == 21


def test_what_this_run_took_counts_before_what_others_did(trials):
    expected = Forecast(before=[detail_of(trial, 8.0) for trial in trials])
    assert expected.seconds(trials) == 64
    expected.add(trials[0], 2.0)
    assert expected.seconds(trials[:1]) == 2
    assert expected.seconds(trials) == 2 * 2 + 6 * 8


def test_runs_here_count_before_those_that_the_checkout_brings(grid, trials, tmp_path):
    assert forecast.here(grid, tmp_path).source == "as they took on another machine"
    run = tmp_path / "20260101-000000-smoke"
    run.mkdir()
    TRIALS.write(run, [detail_of(trials[0], 3.0)])
    found = forecast.here(grid, tmp_path)
    assert (found.source, found.seconds(grid.trials())) == ("as runs here took", 18)
