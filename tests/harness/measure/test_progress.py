"""The messages of a run in progress."""

import io
import itertools
from types import SimpleNamespace

import pytest
from rich.console import Console

from harness.measure import progress
from harness.measure.block import Measured
from harness.measure.forecast import Forecast
from harness.measure.measured_processes import Subject
from harness.measure.progress import Display
from harness.measure.turn import Turn
from harness.plan.selection import Setting, select


@pytest.fixture
def trials(built):
    """Four trials: two backends, two points."""
    made = built(Setting("actors", ("2", "5")), backends=["serial", "ray-paper"], trials=1)
    return sorted(made.trials(), key=lambda trial: (trial.point.values["actors"], trial.backend))


def test_plain_lines_where_there_is_no_terminal(trials, row):
    output = io.StringIO()
    with Display(Console(file=output, width=300), trials, done=2, forecast=Forecast()) as display:
        display.trial_begins(trials[0])
        display.trial_ends(trials[0], [row(unit="things/s")], 4.0)
        display.trial_begins(trials[1])
        display.trial_ends(trials[1], [row().failed("no [luck]")], 2.0)
        display.note("something [else]")
    assert output.getvalue().splitlines() == [
        "[3/6] fake good actors=2 ray-paper trial 0: throughput 100 things/s (4.0 s)  12 s left",
        "[4/6] fake good actors=2 serial trial 0: FAILED no [luck] (2.0 s)  6 s left",
        "something [else]",
    ]


@pytest.mark.parametrize(("budget_s", "told"), [(None, "[1/8] 35 s"), (21.0, "[1] 11 s"), (60.0, "[1] 35 s")])
def test_what_is_left_is_no_more_than_a_budget_allows(built, row, monkeypatch, budget_s, told):
    output, trials, clock = io.StringIO(), list(built(trials=4).trials()), [0.0]
    monkeypatch.setattr(progress, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    with Display(Console(file=output, width=300), trials, 0, Forecast(), budget_s) as display:
        clock[0] = 10.0
        display.trial_ends(trials[0], [row()], 5.0)
    position, left = told.split(maxsplit=1)
    assert output.getvalue().startswith(f"{position} ")
    assert output.getvalue().endswith(f"  {left} left\n")


def test_a_bar_on_a_terminal(trials, row):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=200)
    with Display(console, trials, done=0, forecast=Forecast()) as display:
        for trial in itertools.islice(trials, 2):
            display.trial_begins(trial)
            display.trial_ends(trial, [row(unit="things/s")], 4.0)
        display.trial_begins(trials[2])
    assert "2/4" in output.getvalue()
    assert "fake good actors=5 ray-paper trial 0  8 s left" in output.getvalue()


def measured(name, round_us):
    turns = {(sweep, 0): Turn(10, round(10_000 * round_us * (1 + sweep % 2 / 1000)), 1) for sweep in range(12)}
    return name, Measured(Subject(name, {}), turns=turns)


def test_what_is_known_of_a_point_is_said_after_every_block(trials):
    output = io.StringIO()
    with Display(Console(file=output, width=300), trials, done=0, forecast=Forecast()) as display:
        point = trials[0].point
        one = [measured("serial", 20), measured("ray-paper", 80), measured("ray-paper again", 78)]
        display.block_ends(point, dict(one))
        display.block_ends(point, dict([*one, measured("reactor-inline", 10)]))
        display.block_ends(trials[2].point, dict([measured("serial", 5)]))
    assert output.getvalue().splitlines() == [
        "fake good actors=2: by now, in times the speed of serial: ray-paper 0.25x, ray-paper again 1.03x of itself",
        (
            "fake good actors=2: by now, in times the speed of serial: reactor-inline 2.00x, ray-paper 0.25x, "
            "ray-paper again 1.03x of itself"
        ),
    ]


def test_who_failed_is_not_among_the_findings(trials):
    output = io.StringIO()
    with Display(Console(file=output, width=300), trials, done=0, forecast=Forecast()) as display:
        name, failed = measured("ray-paper", 80)
        failed.failure = "died in its last turn"
        display.block_ends(trials[0].point, dict([measured("serial", 20), (name, failed)]))
        display.block_ends(trials[0].point, dict([measured("reactor-inline", 20), ("serial", failed)]))
    assert not output.getvalue()


def test_of_simulated_work_nothing_is_told_as_a_speed():
    (point,) = select("quick", workloads=["broadcast_gather"], settings=[Setting("work_seconds", ("0.5",))]).grid.points
    output = io.StringIO()
    with Display(Console(file=output, width=300), [], done=0, forecast=Forecast()) as display:
        display.block_ends(point, dict([measured("serial", 20), measured("ray-paper", 80)]))
    assert not output.getvalue()
