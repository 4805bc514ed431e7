"""Running a program to its end, as fast as it goes or in physical time; SIGTERM ends it like Ctrl-C."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError
from reactorlib.execution import Execution, RunResult, fresh
from reactorlib.executors import ended_runs
from reactorlib.executors.choice import check_executor, check_names, make_executor
from reactorlib.executors.executor import Executor, exit_on_signal
from reactorlib.executors.library_threads import limited
from reactorlib.program import Program
from reactorlib.tag import time_fault
from reactorlib.worker.context import current
from reactorlib.worker.main_worker import MainWorker


def run(
    program: type[Reactor] | Program,
    /,
    *,
    timeout: int | None = None,
    fast: bool = False,
    keepalive: bool | None = None,
    executor: str = "inline",
    workers: int | None = None,
    placement: Mapping[str, int] | None = None,
    costs: Mapping[str, float] | None = None,
    start_method: str | None = None,
    library_threads: int | None = None,
    trace: bool = False,
    **parameters: Any,
) -> RunResult:
    """Run a reactor class with these parameters, or a Program, until it ends.

    `timeout` is in ns of logical time; `fast` does not wait for physical time; `keepalive` keeps an idle
    program running (default: if it declares a physical action). `executor` is "inline", "threads",
    "processes", "mpi" or "auto", `workers` how many (default: the CPUs this process may use, with "mpi" the ranks that
    mpiexec started, each of which makes this call and gets its result), `placement` puts
    reactors, by path, on workers (those with a physical action stay on worker 0), `costs` balances banks by measured
    time (`RunResult.costs` of a traced run), `start_method` says how processes start: "fork", "spawn" or "forkserver".
    The executor "inline" has one worker and ignores these four. While reactions run, NumPy's and torch's own threads
    are `library_threads` per worker (default: what OMP_NUM_THREADS and the like say, else one); a torch that was loaded
    before has one in processes that are forked. A constructor whose parameter has the name of one of these keywords
    gets it from `elaborate`: `run(elaborate(Farm, workers=8), executor="threads", workers=2)`.

    With a timeout, physical actions that came before it and still wait 50 ms after it are given up, however many they
    are; timers and logical actions are not. Once the run has ended, scheduling one raises RunError.

    Raises ElaborationError before anything runs, ReactionError when a reaction raised, ThreadError when a thread that
    one started did, WorkerError when a worker died or could not be started or a value could not travel between workers,
    RunError when called in a way that makes no sense, and, with `trace`, after a complete run in which a value was set
    that has no digest. SystemExit and KeyboardInterrupt pass through. The shutdown reactions of the other reactors run
    first.

    >>> from reactorlib import MSEC, Reactor, Timer, reaction
    >>> class Ticker(Reactor):
    ...     tick = Timer(0, 1 * MSEC)
    ...     def __init__(self, word: str):
    ...         self.word = word
    ...     @reaction(tick)
    ...     def show(self, tick):
    ...         print(self.word)
    >>> run(Ticker, word="tick", timeout=1 * MSEC, fast=True).tag
    tick
    tick
    Tag(time=1000000, microstep=0)
    """
    if current.worker is not None:
        raise RunError("run() inside a reaction: a program cannot run another one in its own thread")
    check_names("run", program, parameters, timeout=timeout, fast=fast or None, keepalive=keepalive, workers=workers,
                executor=None if executor == "inline" else executor, placement=placement, costs=costs,
                start_method=start_method, library_threads=library_threads, trace=trace or None)  # fmt: skip
    fault = None if timeout is None else time_fault(timeout, "timeout")
    if fault is not None:
        raise RunError(fault)
    check_executor(executor, workers, library_threads)

    def lead(taken: Program, make: Callable[[MainWorker], Executor]) -> RunResult:
        return _run_once(
            Execution(lambda: MainWorker(taken, timeout=timeout, fast=fast, keepalive=keepalive, traced=trace), make)
        )

    with limited(library_threads):
        if executor != "mpi":
            result = lead(
                fresh(program, parameters),
                lambda worker: make_executor(
                    worker, executor, workers, placement, costs, start_method, library_threads
                ),
            )
        else:
            from reactorlib.mpi.runs import Workers, on_ranks  # only where it is used: it needs ranks

            options = {"timeout": timeout, "fast": fast, "keepalive": keepalive, "trace": trace}
            wanted = Workers(workers, placement, costs)
            result = on_ranks(lambda: fresh(program, parameters), lead, wanted, trace, options)
    ended_runs.collect_if_worthwhile()
    return result


def _run_once(execution: Execution) -> RunResult:
    def whole() -> None:
        execution.begin()
        execution.worker.loop(execution.executor)
        execution.finish()

    with _stopping_on_sigterm():
        execution.guarded(whole)
    return execution.result()


@contextmanager
def _stopping_on_sigterm() -> Iterator[None]:
    """SIGTERM ends a run like Ctrl-C, where nobody else handles it and signals can be handled at all."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return

    signal.signal(signal.SIGTERM, exit_on_signal)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
