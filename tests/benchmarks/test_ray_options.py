"""Options of Ray: every option makes rounds on every backend, and the ratio is of rounds per second."""

import subprocess
import sys

import pytest

from benchmarks import ray_options
from benchmarks.ray_options import BACKENDS, OPTIONS, SHARES, SIZES
from tests.choice import first
from tests.harness.runs import engine
from tests.pages import ROOT


def test_a_gain_is_of_rounds_per_second_and_a_failure_is_reported(monkeypatch, capsys):
    half, failing = list(OPTIONS)[2:4]
    monkeypatch.setattr(ray_options.block, "run", engine(lambda name: 500 if name == half else 1_000, failing))
    assert ray_options.main(["--blocks", "3", "--backend", SHARES]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert [line.removeprefix(half).strip() for line in printed if line.startswith(half)] == [
        "2.00x [2.00, 2.00], 3 starts: faster"
    ] * len(SIZES)
    assert [line.removeprefix(failing).strip() for line in printed if line.startswith(failing)] == ["no memory"] * len(
        SIZES
    )


@pytest.mark.real
@pytest.mark.parametrize(
    ("backend", "option", "size"),
    first(
        1,
        [(backend, option, size) for backend in BACKENDS for option in OPTIONS for size in SIZES],
        "a Ray of its own for each option",
    ),
)
def test_every_option_makes_rounds(backend, option, size):
    code = f"from benchmarks.ray_options import *; rounds(Meter(1, 2, laps=2), {backend!r}, {option!r}, {size!r})"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
