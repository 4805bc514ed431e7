"""What is said while a run goes on."""

import io
import itertools

import pytest
from rich.console import Console

from harness.progress import Display, Estimator
from harness.selection import Setting, select


@pytest.fixture
def trials(fake):
    """Four trials: two backends, two points."""
    made = select(
        "smoke",
        workloads=["fake"],
        backends=["serial", "ray-paper"],
        settings=[Setting("actors", ("2", "5"))],
        trials=1,
    ).grid
    return sorted(made.trials(), key=lambda trial: (trial.point.values["actors"], trial.backend))


def test_an_estimate_comes_from_what_is_most_like_the_trial(trials):
    ray_2, serial_2, ray_5, serial_5 = trials
    estimator = Estimator()
    assert estimator.seconds(trials) == 20
    estimator.add(serial_2, 1.0)
    assert estimator.seconds([ray_5, serial_5]) == 2
    estimator.add(ray_2, 9.0)
    assert estimator.seconds([ray_5, serial_5]) == 10
    estimator.add(ray_5, 20.0)
    assert estimator.seconds([ray_5, serial_5]) == 21


def test_plain_lines_where_there_is_no_terminal(trials, row):
    output = io.StringIO()
    with Display(Console(file=output, width=300), trials, done=2) as display:
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


def test_a_bar_on_a_terminal(trials, row):
    output = io.StringIO()
    console = Console(file=output, force_terminal=True, width=200)
    with Display(console, trials, done=0) as display:
        for trial in itertools.islice(trials, 2):
            display.trial_begins(trial)
            display.trial_ends(trial, [row(unit="things/s")], 4.0)
        display.trial_begins(trials[2])
    assert "2/4" in output.getvalue()
    assert "fake good actors=5 ray-paper trial 0  8 s left" in output.getvalue()
