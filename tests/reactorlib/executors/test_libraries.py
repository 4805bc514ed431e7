"""Numeric libraries in workers: one thread each, and none that hangs in a forked process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np  # noqa: F401  # brings OpenBLAS along
import pytest

from reactorlib import Bank, Output, Reactor, reaction, run, startup
from reactorlib.executors import libraries

SCRIPT = """
import os
import torch
from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup

class Leaf(Reactor):
    inp = Input()
    out = Output()

    @reaction(inp, effects=out)
    def answer(self, inp, out):
        big = torch.ones(1000, 1000)
        out.set((torch.get_num_threads(), float((big @ big).sum())))

class Hub(Reactor):
    out = Output()
    inp = Input(width=3)

    @reaction(startup, effects=out)
    def begin(self, out):
        out.set(1)

    @reaction(inp)
    def gather(self, inp):
        print([answer.value for answer in inp])

class Main(Reactor):
    def __init__(self):
        self.hub = Hub()
        self.leaf = Bank(Leaf, 3)
        connect(self.hub.out, self.leaf.inp)
        connect(self.leaf.out, self.hub.inp)

torch.set_num_threads(2)
big = torch.ones(2000, 2000)
(big @ big).sum()
(big + big).sum()
run(Main, executor=EXECUTOR, workers=3, **OPTIONS)
print(torch.get_num_threads())
"""


@pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")
@pytest.mark.parametrize("asked", [None, "2"])
def test_torch_in_worker_processes_after_it_had_threads_in_this_one(asked):
    environment = {"PYTHONPATH": str(Path(__file__).parents[3])} | ({} if asked is None else {"OMP_NUM_THREADS": asked})
    script = SCRIPT.replace("EXECUTOR", "'processes'").replace("OPTIONS", "{'start_method': 'fork'}")
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    here = 1 if asked is None else 2
    total = 1000.0**3
    assert done.stdout.splitlines() == [str([(here, total), (1, total), (1, total)]), "2"]


class Count(Reactor):
    """Says how many threads NumPy's OpenBLAS has on its worker."""

    threads = Output[list[int]]()

    @reaction(startup, effects=threads)
    def look(self, threads) -> None:
        threads.set(openblas_threads())


class Counts(Reactor):
    def __init__(self) -> None:
        self.count = Bank(Count, 2)


def openblas_threads() -> list[int]:
    return [get() for get, _ in libraries._openblas()]


@pytest.fixture
def two_threads() -> Iterator[None]:
    put_back = [(put, get()) for get, put in libraries._openblas()]
    for put, _ in put_back:
        put(2)
    yield
    for put, before in put_back:
        put(before)


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize("asked", [False, True])
def test_the_blas_of_numpy_has_one_thread_in_each_worker_unless_asked(executor, asked, monkeypatch):
    if not openblas_threads():
        pytest.skip("this NumPy has no OpenBLAS")
    for name in libraries.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    if asked:
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
    result = run(Counts, trace=True, executor=executor, workers=2)
    threads = 2 if asked else 1
    assert [value for record in result.trace for _, value in record.writes] == [[threads], [threads]]
    assert openblas_threads() == [2]
    assert ("OMP_NUM_THREADS" in os.environ) is asked
