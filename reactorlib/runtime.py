"""Running a program to its end, as fast as it goes or in physical time; SIGTERM ends it like Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import RunError
from reactorlib.execution import Execution, RunResult, fresh
from reactorlib.executors import ended_runs
from reactorlib.executors.executor import exit_on_signal, handling
from reactorlib.executors.library_threads import limited
from reactorlib.program import Program
from reactorlib.worker.context import current
from reactorlib.worker.options import ExecutorName, Options, StartMethod


def run(
    program: type[Reactor] | Program,
    /,
    *,
    timeout: int | None = None,
    fast: bool = False,
    keepalive: bool | None = None,
    executor: ExecutorName = "inline",
    workers: int | None = None,
    placement: Mapping[str, int] | None = None,
    start_method: StartMethod | None = None,
    library_threads: int | None = None,
    trace: bool = False,
    **parameters: Any,
) -> RunResult:
    """Run a reactor class with these parameters, or a Program, until it ends.

    - `timeout` is a logical time such as `5 * SEC`. `fast` does not wait for physical time. `keepalive` keeps an idle
      program running (default: if it declares a physical action).
    - `executor` is "inline", "threads", "processes", "mpi" (each rank makes this call) or "auto".
    - `workers` is their number (default: the CPUs that this process may use, or the ranks).
    - `placement` puts reactors, by path, on workers (default: banks evenly, others so that they can run side by side).
      Reactors with a physical action stay on worker 0.
    - `start_method` of processes is "fork", "spawn" or "forkserver".
    - `library_threads` of NumPy and torch run per worker. Default, where there are several workers: as OMP_NUM_THREADS
      and the like say, else one. A run with one worker changes nothing unless it is asked to.

    A constructor with a parameter of one of these names gets it from `elaborate`:
    `run(elaborate(Farm, workers=8), executor="threads", workers=2)`.

    Raises ElaborationError before anything runs, ReactionError when a reaction raised, ThreadError when a thread raised
    in `RunHandle.call`. WorkerError: a worker died or could not start, or a value could not travel. RunError: the call
    makes no sense, or a traced value has no digest. The shutdown reactions of other reactors run first.

    >>> from reactorlib import MSEC, Reactor, Timer, reaction
    >>> class Ticker(Reactor):
    ...     tick = Timer(0, 1 * MSEC)
    ...     @reaction(tick)
    ...     def show(self, tick):
    ...         print("tick")
    >>> run(Ticker, timeout=1 * MSEC, fast=True).tag
    tick
    tick
    Tag(time=1000000, microstep=0)
    """
    if executor == "mpi" and current.worker is not None:
        raise RunError(
            "run(executor='mpi') inside a reaction: all ranks make this call, and the others run the program"
        )
    options = Options(timeout=timeout, fast=fast, keepalive=keepalive, executor=executor, workers=workers,
                      placement=placement, start_method=start_method, library_threads=library_threads,
                      trace=trace)  # fmt: skip
    options.check("run", program, parameters)
    if executor == "mpi":
        from reactorlib.mpi.runs import on_ranks  # only where it is used: it needs ranks

        with limited(library_threads):
            result = on_ranks(
                lambda: fresh(program, parameters),
                lambda taken, make: _run_once(Execution(taken, options, make)),
                options,
            )
    else:
        execution = Execution(fresh(program, parameters), options)
        alone = execution.executor.workers == 1 and library_threads is None
        with nullcontext() if alone else limited(library_threads):
            result = _run_once(execution)
    ended_runs.collect_if_worthwhile()
    return result


def _run_once(execution: Execution) -> RunResult:
    def whole() -> bool:
        execution.begin()
        return execution.coordinator.run(execution.executor)

    # SIGTERM ends a run like Ctrl-C, unless the program handles it.
    numbers = [signal.SIGTERM] if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL else []
    with handling(exit_on_signal, *numbers):
        execution.guarded(whole)
    return execution.result()
