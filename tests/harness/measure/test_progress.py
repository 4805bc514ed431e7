"""The messages of a run in progress."""

import io
import itertools
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.measure import progress
from harness.measure.forecast import Forecast
from harness.measure.progress import Display
from harness.plan.selection import Setting
from harness.store.trial_records import TrialRecord


@pytest.fixture
def trials(built):
    """Four trials: two backends, two points."""
    made = built(Setting("actors", ("2", "5")), trials=1)
    return sorted(made.trials(), key=lambda trial: (trial.point.values["actors"], trial.backend))


def record(trial, duration_s, status="ok"):
    return TrialRecord(
        **trial.columns, started_at="2026-01-01T00:00:00Z", duration_s=duration_s, outside_cores=0.0, status=status
    )


def test_a_line_for_each_failure_and_each_block(trials):
    output = io.StringIO()
    with Display(Console(file=output, width=300), trials, Forecast()) as display:
        display.trial_begins(trials[0])
        display.trial_ends(trials[0], record(trials[0], 4.0))
        display.trial_ends(trials[1], record(trials[1], 2.0, "no [luck]"))
        display.block_ends(trials[0].point)
        display.note("something [else]")
    assert output.getvalue().splitlines() == [
        "fake serial trial 0: FAILED no [luck]",
        "fake: 6 s left",
        "something [else]",
    ]


@pytest.mark.parametrize(("budget_s", "left_s"), [(None, 35), (21.0, 11), (60.0, 35)])
def test_what_is_left_is_no_more_than_a_budget_allows(built, monkeypatch, budget_s, left_s):
    output, trials, clock = io.StringIO(), list(built(trials=4).trials()), [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with Display(Console(file=output, width=300), trials, Forecast(), budget_s) as display:
        clock[0] = 10.0
        display.trial_ends(trials[0], record(trials[0], 5.0))
        display.block_ends(trials[0].point)
    assert output.getvalue().endswith(f": {left_s} s left\n")


def test_a_bar_on_a_terminal(trials):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=200)
    with Display(console, trials, Forecast()) as display:
        for trial in itertools.islice(trials, 2):
            display.trial_begins(trial)
            display.trial_ends(trial, record(trial, 4.0))
        display.trial_begins(trials[2])
    assert "2/4" in output.getvalue()
    assert "fake/actors=5 reactor-inline trial 0  8 s left" in output.getvalue()
