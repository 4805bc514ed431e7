"""Options of Ray: every option makes rounds on every backend, and the ratio is of rounds per second."""

import sys
from collections import Counter
from itertools import product

import pytest

from benchmarks import ray_options
from benchmarks.ray_options import BACKENDS, OPTIONS, SIZES
from tests.choice import first
from tests.harness.runs import engine
from tests.pages import ROOT, execute


def test_a_gain_is_of_rounds_per_second_and_a_failure_is_reported(monkeypatch, capsys):
    half, failing = list(OPTIONS)[2:4]
    monkeypatch.setattr(ray_options.block, "run", engine(lambda name: 500 if name == half else 1_000, failing))
    assert ray_options.main(["--blocks", "3", "--backend", "ray-pooled"]) == 0
    told = Counter(" ".join(line.split()) for line in capsys.readouterr().out.splitlines())
    assert told[f"{half} 2.00x [2.00, 2.00], 3 starts: faster"] == len(SIZES)
    assert told[f"{failing} no memory"] == len(SIZES)


def test_every_thread_of_a_process_is_bound():
    code = "import os, threading; from benchmarks.ray_options import _bind; core = min(os.sched_getaffinity(0)); "
    code += "threading.Thread(target=threading.Event().wait, daemon=True).start(); _bind(None, core); "
    code += "threads = map(int, os.listdir('/proc/self/task')); "
    code += "print(*{cpu for thread in threads for cpu in os.sched_getaffinity(thread)} - {core})"
    done = execute([sys.executable, "-c", code], cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "\n"), done.stderr


@pytest.mark.real
@pytest.mark.parametrize(
    ("backend", "option", "size"), first(1, product(BACKENDS, OPTIONS, SIZES), "a Ray of its own for each option")
)
def test_every_option_makes_rounds(backend, option, size):
    code = f"from benchmarks.ray_options import *; rounds(Meter(1, 2, laps=2), {backend!r}, {option!r}, {size!r})"
    done = execute([sys.executable, "-c", code], cwd=ROOT)
    assert done.returncode == 0, done.stderr
