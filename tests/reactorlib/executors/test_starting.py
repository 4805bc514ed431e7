"""The start of workers by each start method, with threads and for several runs, after which nothing is left."""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from reactorlib import MSEC, Bank, Output, Reactor, Timer, reaction, run, startup
from reactorlib.errors import ElaborationError, RunError, WorkerError
from reactorlib.executors import ended_runs
from tests.choice import first
from tests.reactorlib.conformance.reactors import Pair
from tests.reactorlib.conformance.reactors import noted as noted_reaction
from tests.reactorlib.executors.programs import ON_EACH_ITS_OWN, Star, noted
from tests.reactorlib.scripts import python

START_METHODS = ["fork", "spawn", "forkserver"]
ANEW = pytest.mark.parametrize("start_method", ["spawn", "forkserver"])
UNGUARDED = """
from reactorlib import *
from tests.reactorlib.conformance.reactors import noted as noted_reaction
class Main(Reactor):
    begin = noted_reaction(startup)
run(Main, executor='processes', workers=2, start_method='spawn')
"""


class Named(Reactor):
    begin = noted_reaction(startup)


class Unordered(Reactor):
    """Its members depend on the process that makes it, as those of a set of strings do."""

    def __init__(self) -> None:
        names = ["left", "right"]
        for name in names if multiprocessing.parent_process() is None else reversed(names):
            setattr(self, name, Named())


@ANEW
def test_a_program_that_is_another_in_a_new_process_is_refused(start_method, monkeypatch) -> None:
    monkeypatch.setenv("REACTORLIB_START_METHOD", start_method)
    with pytest.raises(
        RunError, match=r"the workers do not run the same: the reactors is .* on worker 0, .* on worker 1"
    ):
        run(Unordered, executor="processes", workers=2, placement={"Unordered.left": 0, "Unordered.right": 1})


class Choosy(Reactor):
    """Cannot be made in the process of worker 2, which says so before worker 1 is ready."""

    def __init__(self) -> None:
        process = multiprocessing.current_process().name
        if process.endswith("worker 1"):
            time.sleep(1.5)
        if process.endswith("worker 2"):
            raise ValueError("the port is in use")
        self.named = Bank(Named, 3)


def test_why_a_worker_could_not_be_made_is_told_although_another_is_not_ready(monkeypatch) -> None:
    monkeypatch.setenv("REACTORLIB_START_METHOD", "spawn")
    with pytest.raises(ElaborationError, match="the port is in use"):
        run(Choosy, executor="processes", workers=3)


@pytest.fixture(scope="module")
def digest() -> str:
    found = run(Star, trace=True).digest
    assert found is not None
    return found


@pytest.mark.parametrize("start_method", START_METHODS)
def test_every_start_method_gives_the_same(start_method, digest):
    result = run(Star, trace=True, executor="processes", workers=3, start_method=start_method)
    assert result.digest == digest
    assert (result.executor, result.workers) == ("processes", 3)


@ANEW
def test_a_program_that_cannot_be_sent_says_what_to_do(start_method, soon):
    class Local(Reactor):
        tick = Timer(0, 1 * MSEC)
        show = noted_reaction(tick)

    with soon(), pytest.raises(WorkerError, match="top level of a module"):
        run(Local, timeout=1 * MSEC, executor="processes", workers=2, start_method=start_method)
    with soon(), pytest.raises(WorkerError, match="parameters that can be pickled"):
        run(Star, log=lambda: 0, faults={}, executor="processes", workers=2, start_method=start_method)
    run(Local, timeout=1 * MSEC, executor="processes", workers=2, start_method="fork")


class OnlyHere(Reactor):
    """Its constructor refuses to run in any process but the one that made it."""

    tick = Timer(0, 1 * MSEC)

    def __init__(self, pid: int) -> None:
        if os.getpid() != pid:
            raise ValueError("this is another process")

    show = noted_reaction(tick)


@ANEW
def test_what_a_constructor_raises_in_a_worker_is_the_error(start_method, soon):
    with pytest.raises(ElaborationError, match="this is another process") as caught:
        run(OnlyHere, pid=os.getpid(), timeout=1 * MSEC, executor="processes", workers=2, start_method=start_method)
    assert "in __init__" in caught.value.__notes__[0]
    run(OnlyHere, pid=os.getpid(), timeout=1 * MSEC, executor="processes", workers=2, start_method="fork")


@pytest.mark.parametrize(
    ("is_file", "said"),
    [(False, "Define its class in a module or script that can be imported"), (True, "if __name__ == '__main__':")],
)
def test_a_program_that_a_new_process_cannot_import_says_what_to_do(is_file, said, tmp_path):
    script = tmp_path / "unguarded.py"
    script.write_text(UNGUARDED)
    done = python(script) if is_file else python("-c", UNGUARDED)
    assert done.returncode == 1
    assert said in done.stderr


ELSEWHERE = dict.fromkeys(("Star", "Star.hub", "Star.leaf[0]", "Star.leaf[1]", "Star.leaf[2]"), 1)


@pytest.mark.parametrize(("workers", "placement"), [(1, None), (2, None), (7, None), (2, ELSEWHERE)])
def test_more_workers_than_reactors_or_one_and_all_of_them_elsewhere(executor, workers, placement, digest):
    assert run(Star, trace=True, executor=executor, workers=workers, placement=placement).digest == digest


def test_runs_side_by_side_in_threads(executor, digest):
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(run, Star, trace=True, executor=executor, workers=2) for _ in range(12)]
        futures.append(pool.submit(run, Star, trace=True, executor="threads", workers=3))
        assert {future.result(60).digest for future in futures} == {digest}


def test_a_failure_in_one_thread_leaves_the_other_run_alone(log, executor, digest):
    options = {"executor": executor, "workers": 3}
    with ThreadPoolExecutor(2) as pool:
        good = pool.submit(run, Star, trace=True, **options)
        bad = pool.submit(run, Star, log=log, faults={"leaf 1": (3, "raise")}, placement=ON_EACH_ITS_OWN, **options)
        assert good.result(30).digest == digest
        assert "leaf 1 failed" in str(bad.exception(30))


def possessions() -> tuple[int, int, int, set[str]]:
    """Of this process alone: what others keep in shared memory comes and goes as they like."""
    gc.collect()
    names = {path.name for path in Path("/dev/shm").glob("*reactorlib*")}
    return len(list(Path("/dev/fd").iterdir())), threading.active_count(), len(multiprocessing.active_children()), names


@pytest.mark.parametrize("runs", first(1, [10, 50], "repetition in search of leaks"))
def test_many_runs_leave_nothing_behind(executor, runs, log):
    faults = [{}, {"leaf 1": (2, "raise")}, {"leaf 2": ("startup", "raise")}]
    if executor == "processes":
        faults += [{"leaf 1": (2, "killed")}, {"leaf 2": (2, "unpicklable")}]
    before = possessions()
    for number in range(runs):
        fault = faults[number % len(faults)]
        try:
            run(Star, log=log, faults=fault, executor=executor, workers=3, placement=ON_EACH_ITS_OWN)
        except Exception:  # noqa: BLE001
            assert fault
        else:
            assert not fault
    assert possessions() == before
    assert len([line for line in noted(log) if line == "hub ended"]) == runs


class Large(Reactor):
    tick = Timer(0, 1 * MSEC)
    out = Output[np.ndarray]()

    @reaction(tick, effects=out)
    def make(self, tick, out) -> None:
        out.set(np.ones(1 << 20))


def shared_mappings() -> int:
    return Path("/proc/self/maps").read_text().count("memfd:reactorlib")


@pytest.mark.slow(reason="hundreds of MiB in 26 runs; `make test` has runs that leave nothing")
@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("mover", ["source", "reader"])
def test_shared_memory_is_freed_though_nothing_else_collects_garbage(mover):
    gc.collect()
    before = shared_mappings()
    gc.disable()
    try:
        options = {"executor": "processes", "workers": 2, "placement": {f"Pair.{mover}": 1}}
        for _ in range(6):
            run(Pair, source=Large, timeout=10 * MSEC, fast=True, **options)
        assert shared_mappings() - before <= 4  # at least 8 MiB each
        for _ in range(20):
            run(Star, rounds=2, executor="processes", workers=2)
        assert shared_mappings() - before <= ended_runs.BYTES // ended_runs.LEAST
    finally:
        gc.enable()


@pytest.mark.parametrize("name", ["processes", "mpi"])
def test_off_linux_what_needs_it_is_refused_in_one_line(monkeypatch, name):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(RunError, match=f"executor '{name}' needs Linux: 'inline' and 'threads' run here"):
        run(Star, rounds=2, executor=name)
