"""Numeric libraries in workers: one thread each, and none that hangs in a forked process."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from typing import Any

import numpy as np  # noqa: F401  # brings OpenBLAS along
import pytest

from reactorlib import Output, ReactionError, Reactor, RunError, Session, reaction, run, startup
from reactorlib.executors import library_threads
from tests.reactorlib.conformance.reactors import Members
from tests.reactorlib.conformance.sessions import Farm
from tests.reactorlib.scripts import ROOT, printed

SCRIPT = """
import torch
from reactorlib import Bank, Output, Reactor, reaction, run, startup

class Leaf(Reactor):
    out = Output()

    @reaction(startup, effects=out)
    def answer(self, out):
        big = torch.ones(1000, 1000)
        out.set((torch.get_num_threads(), float((big @ big).sum())))

class Main(Reactor):
    def __init__(self):
        self.leaf = Bank(Leaf, 3)

torch.set_num_threads(2)
big = torch.ones(2000, 2000)
(big @ big).sum()
(big + big).sum()
trace = run(Main, executor='processes', workers=3, start_method='fork', trace=True).trace
print([value for record in trace for _, value in record.writes])
print(torch.get_num_threads())
"""


def lines(script: str, *options: str, **environment: str) -> list[str]:
    return printed(*options, "-c", script, env={"PYTHONPATH": str(ROOT), **environment}).splitlines()


TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="needs torch")


@TORCH
@pytest.mark.parametrize("asked", [{}, {"OMP_NUM_THREADS": "2"}])
def test_torch_in_worker_processes_after_it_had_threads_in_this_one(asked):
    here, total = 2 if asked else 1, 1000.0**3
    assert lines(SCRIPT, **asked) == [str([(here, total), (1, total), (1, total)]), "2"]


class Count(Reactor):
    """Says how many threads NumPy's OpenBLAS has on its worker."""

    threads = Output[list[int]]()

    @reaction(startup, effects=threads)
    def look(self, threads) -> None:
        threads.set(openblas_threads())


def openblas_threads() -> list[int]:
    """Of all OpenBLAS in this process: SciPy has one of its own. One number, if they agree."""
    return [*{get() for get, _ in library_threads.openblas().values()}]


@pytest.fixture
def two_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """OpenBLAS has two threads here. No variable of the environment asks for another number."""
    for name in library_threads.VARIABLES:
        monkeypatch.delenv(name, raising=False)
    put_back = [(put, get()) for get, put in library_threads.openblas().values()]
    for put, _ in put_back:
        put(2)
    yield
    for put, before in put_back:
        put(before)


EVERY = pytest.mark.parametrize("executor", ["inline", "threads", "processes"])


def seen(result: Any) -> list[Any]:
    return [value for record in result.trace for _, value in record.writes]


@EVERY
@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(("asked", "option", "threads"), [(None, None, 1), ("2", None, 2), ("2", 1, 1), (None, 2, 2)])
def test_the_blas_of_numpy_has_one_thread_in_each_of_several_workers_unless_asked(
    executor, asked, option, threads, monkeypatch
):
    if executor == "inline" and option is None:
        threads = 2  # as the caller has
    if not openblas_threads():
        pytest.skip("this NumPy has no OpenBLAS")
    if asked is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", asked)
    before = {**os.environ}
    options = {"executor": executor, "workers": 2, "library_threads": option}
    result = run(Members, kind=Count, count=2, trace=True, **options)
    assert seen(result) == [[threads], [threads]]
    assert openblas_threads() == [2]
    assert {**os.environ} == before


class Fails(Reactor):
    def __init__(self, threads: int) -> None:
        self.threads = threads

    @reaction(startup)
    def begin(self) -> None:
        assert openblas_threads() in ([self.threads], [])
        raise ValueError("on purpose")


@EVERY
@pytest.mark.usefixtures("two_threads")
def test_the_setting_of_the_caller_is_back_after_an_error(executor):
    before = {**os.environ}, openblas_threads()
    with pytest.raises(ReactionError, match="on purpose"):
        run(Fails, threads=2 if executor == "inline" else 1, executor=executor, workers=2)
    with pytest.raises(RunError, match="library_threads must be a positive integer, got 0"):
        run(Fails, threads=1, executor=executor, workers=2, library_threads=0)
    assert ({**os.environ}, openblas_threads()) == before


class Waits(Reactor):
    def __init__(self, barrier: threading.Barrier) -> None:
        self.barrier = barrier

    @reaction(startup)
    def begin(self) -> None:
        self.barrier.wait(20)


class Outlives(Waits):
    """Looks when the other run has ended."""

    def __init__(self, barrier: threading.Barrier, other: list[Any]) -> None:
        super().__init__(barrier)
        self.other = other

    threads = Output[list[int]]()

    @reaction(startup, effects=threads)
    def look(self, threads) -> None:
        self.other[0].result(20)
        threads.set(openblas_threads())


@pytest.mark.usefixtures("two_threads")
def test_the_first_of_two_runs_to_end_leaves_the_limit_to_the_other():
    if not openblas_threads():
        pytest.skip("this NumPy has no OpenBLAS")
    barrier, other = threading.Barrier(2), []
    with ThreadPoolExecutor(1) as pool:
        other.append(pool.submit(run, Waits, barrier=barrier, library_threads=1))
        result = run(Outlives, barrier=barrier, other=other, trace=True, library_threads=1)
    assert seen(result) == [[1]]
    assert openblas_threads() == [2]


LATER = """
import os, sys
from reactorlib import Reactor, reaction, run, startup
from reactorlib.cpus import available_cpus

class Loads(Reactor):
    @reaction(startup)
    def begin(self):
        import numpy, torch
        from reactorlib.executors import library_threads
        self.count = lambda: {torch.get_num_threads(), *(get() for get, _ in library_threads.openblas().values())}
        counts.append((self.count, self.count()))

counts = []
run(Loads, library_threads=1)
[(count, during)] = counts
print(during, count() == {available_cpus()}, "OMP_NUM_THREADS" in os.environ)
"""


@TORCH
def test_what_a_reaction_loads_has_one_thread_and_its_own_number_afterwards():
    assert lines(LATER) == ["{1} True False"]


def test_a_program_without_numeric_libraries_looks_for_none():
    script = (
        "import sys\nfrom reactorlib import Reactor, run\nclass Empty(Reactor): ...\nbefore = 'ctypes' in sys.modules\n"
        "run(Empty)\nprint('ctypes' in sys.modules, before)"
    )
    assert lines(script, "-S") == ["False False"]


def test_a_session_or_an_inline_run_does_not_touch_the_libraries_of_the_caller(monkeypatch):
    torch = pytest.importorskip("torch")
    told = []
    monkeypatch.setattr(torch, "set_num_threads", lambda count: told.append((os.getpid(), count)))
    for executor in ("inline", "threads", "processes"):
        with Session(Farm, executor=executor, workers=2) as session:
            session.step(every=1)
    run(Members, kind=Count, count=2)
    assert [count for process, count in told if process == os.getpid()] == []
