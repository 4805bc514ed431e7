"""Options of Ray against `ray-tuned`: every option makes rounds, and the ratio is of rounds per second."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from benchmarks import ray_options
from benchmarks.ray_options import OPTIONS, PLAIN, SIZES
from harness.measure.turn import Turn
from tests.choice import first
from tests.pages import ROOT


def measured(round_ns, failure=""):
    turn = Turn(10, 10 * round_ns, 0, {})
    return SimpleNamespace(failure=failure, turns={(0, 0): turn, (1, 0): turn})


def test_a_gain_is_of_rounds_per_second_and_a_failure_is_told():
    names = [f"{option}, small" for option in OPTIONS]
    half, failing = names[1], names[2]
    block = {name: measured(500 if name == half else 1_000, "no memory" if name == failing else "") for name in names}
    found = ray_options.gains([block, block], "small")
    options = list(OPTIONS)
    assert found[PLAIN].value == 1
    assert found[options[1]].value == 2
    assert found[options[2]] == "no memory"


@pytest.mark.real
@pytest.mark.parametrize(
    ("option", "size"),
    first(1, [(option, size) for option in OPTIONS for size in SIZES], "a Ray of its own for each option"),
)
def test_every_option_makes_rounds(option, size):
    code = f"from benchmarks.ray_options import *; rounds(Meter(1, 2, laps=2), {option!r}, {size!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
