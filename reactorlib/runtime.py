"""Running a program: opens it, drives it to its end, closes it. And the ways in which a run ends."""

from __future__ import annotations

import errno
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import ReactionError, RunError, WorkerError
from reactorlib.executors import garbage
from reactorlib.executors.choice import check_executor, check_names, make_executor
from reactorlib.executors.executor import Executor, exit_on_signal
from reactorlib.executors.library_threads import limited
from reactorlib.program import Program, elaborate
from reactorlib.tag import Tag, time_fault
from reactorlib.worker.context import current, origin
from reactorlib.worker.main_worker import MainWorker
from reactorlib.worker.port_hints import explain
from reactorlib.worker.trace import Span, TraceRecord, costs_of, digest_of
from reactorlib.worker.user_threads import hook

if "PMI_RANK" in os.environ or "PMIX_RANK" in os.environ:  # a launcher of MPI started this process
    from reactorlib.executors.early import tell_of_failure

    tell_of_failure()


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run leaves: the last tag, and with `trace=True` the records, spans, costs and the digest.

    >>> from reactorlib import Reactor, reaction, startup
    >>> class Hello(Reactor):
    ...     @reaction(startup)
    ...     def begin(self): ...
    >>> result = run(Hello, trace=True)
    >>> result.executor, result.workers, [record.reaction for record in result.trace], len(result.digest)
    ('inline', 1, ['Hello.begin'], 32)
    """

    tag: Tag
    executor: str
    workers: int
    trace: list[TraceRecord] | None = None
    spans: list[Span] | None = None
    digest: str | None = None
    costs: dict[str, float] | None = None  # ns that each reactor's reactions took, by path


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
    check_names(program, parameters, timeout=timeout, fast=fast or None, keepalive=keepalive, workers=workers,
                executor=None if executor == "inline" else executor, placement=placement, costs=costs,
                start_method=start_method, library_threads=library_threads, trace=trace or None)  # fmt: skip
    fault = None if timeout is None else time_fault(timeout, "timeout")
    if fault is not None:
        raise RunError(fault)
    check_executor(executor, workers, library_threads)

    def lead(fresh: Program, workers: int | None) -> RunResult:
        with _system_willing():
            worker = MainWorker(fresh, timeout=timeout, fast=fast, keepalive=keepalive, traced=trace)
        return _run_once(
            worker,
            lambda worker: make_executor(worker, executor, workers, placement, costs, start_method, library_threads),
        )

    with limited(library_threads):
        if executor != "mpi":
            result = lead(_fresh(program, parameters), workers)
        else:
            from reactorlib.executors.mpi import on_ranks  # only where it is used: it needs ranks

            options = {"timeout": timeout, "fast": fast, "keepalive": keepalive, "trace": trace}
            result = on_ranks(lambda: _fresh(program, parameters), lead, workers, placement, costs, trace, options)
    garbage.tidy()
    return result


def _fresh(program: type[Reactor] | Program, parameters: dict[str, Any]) -> Program:
    """A program that has not run yet: its reactors are as their constructors left them."""
    if isinstance(program, Program):
        if program.root.used:
            program = elaborate(program.cls, **program.parameters)
    else:
        program = elaborate(program, **parameters)
    program.root.used = True
    return program


def _run_once(worker: MainWorker, make: Callable[[MainWorker], Executor]) -> RunResult:
    try:
        with _system_willing():
            executor = make(worker)
    except BaseException:
        worker.clock.close()
        raise
    with _stopping_on_sigterm():
        _drive(worker, executor)
    tag = Tag(worker.now.time, worker.now.microstep)
    if worker.recorder is None:
        return RunResult(tag, executor.name, executor.workers)
    records = worker.recorder.records()
    spans, digest = worker.recorder.spans(), digest_of(records)
    return RunResult(tag, executor.name, executor.workers, records, spans, digest, costs_of(worker.program, spans))


def _drive(worker: MainWorker, executor: Executor) -> None:
    """Run to the end. Raises ReactionError; on KeyboardInterrupt and SystemExit shutdown reactions run first."""
    hook()
    before = None
    try:
        with _system_willing():
            executor.start()
        worker.inbox.started = worker.clock.now()
        executor.begin()
        current.worker, before = worker, origin.set(worker.inbox)
        worker.begin()
        worker.loop(executor)
        worker.inbox.close()
        if worker.inbox.failure is not None:
            raise worker.inbox.failure
        executor.finish()
    except BaseException as error:  # whatever ends a run, its shutdown reactions come first
        if os.getpid() != worker.process:
            raise  # a process that a reaction forked is at its end: nothing here is its own
        if current.worker is None:
            executor.kill()
            raise
        _end_early(worker, executor, error)
    finally:
        current.worker = None
        if before is not None:
            origin.reset(before)
        worker.inbox.close()
        worker.clock.close()
        executor.forget_schedules()


def _end_early(worker: MainWorker, executor: Executor, error: BaseException) -> None:
    """Run the shutdown reactions of the other reactors, then raise: a ReactionError where a reaction raised."""
    tag = Tag(worker.now.time, worker.now.microstep)
    error, failed = executor.abandon(error)
    if failed is None or not isinstance(error, Exception):
        raise error
    explain(worker.program, failed, error)
    reactor, _, name = worker.program.node_path(failed).rpartition(".")
    raise ReactionError(reactor, name, tag, error) from error


@contextmanager
def _system_willing() -> Iterator[None]:
    """What the system refuses to a run that is about to start is a WorkerError that says what is short."""
    try:
        yield
    except OSError as error:
        hint = "; see `ulimit -n`" if error.errno in (errno.EMFILE, errno.ENFILE) else ""
        raise WorkerError(f"the run cannot start: {error.strerror or error}{hint}") from error


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
