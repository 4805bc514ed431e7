"""One execution of a program: its executor, its beginning and the ways in which it ends. A run or session drives it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EAGAIN, EFBIG, EMFILE, ENOMEM
from threading import get_ident
from typing import Any

from reactorlib.declaration.reactor import Reactor
from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import EffectError, WorkerError, kind_of
from reactorlib.executors import ended_runs
from reactorlib.executors.executor import Executor
from reactorlib.executors.failure import reaction_error
from reactorlib.executors.inline import Inline
from reactorlib.program import Program, elaborate
from reactorlib.tag import Tag
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.options import Options
from reactorlib.worker.recorder import Span, TraceRecord, digest_of

# The resource that a run lacks, by the error of a system call, and the option of `ulimit` that limits it.
LIMITS = {
    EMFILE: ("open files", "n"),
    ENOMEM: ("addresses or memory", "v"),
    EAGAIN: ("processes", "u"),
    EFBIG: ("bytes in a file", "f"),
}


@dataclass(frozen=True, slots=True)
class RunResult:
    """The result of a run: the last tag, and with `trace=True` the records, spans and the digest.

    >>> from reactorlib import Reactor, reaction, run, startup
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
    reason: str = ""  # why executor="auto" chose this one, or how many of the given workers have nothing to do
    start_method: str = ""  # how worker processes started; empty where there were none


def fresh(program: type[Reactor] | Program, parameters: Mapping[str, Any]) -> Program:
    """A program that has not run yet: its reactors are as their constructors left them."""
    if not isinstance(program, Program):
        program = elaborate(program, **parameters)
    try:
        program.unused.pop()  # atomic: another thread may run the same program, and another may fork meanwhile
    except IndexError:
        program = elaborate(program.cls, **program.parameters)
        program.unused.clear()
    return program


def make_executor(coordinator: Coordinator) -> Executor:
    """The executor of a run that is on no ranks."""
    program, options = coordinator.program, coordinator.options
    name, reason = options.executor, ""
    if name == "inline":
        alone = Inline(coordinator)
        if options.workers is not None and options.workers > 1:
            alone.reason = f"inline has one worker, and workers={options.workers} is for the other executors"
        return alone
    # Imported where they are used: a program on one thread starts in three quarters of the time without them.
    from reactorlib.cpus import available_cpus, gil_enabled
    from reactorlib.executors.threads import Threads
    from reactorlib.schedule.partition import partition

    placed = partition(program, int(options.workers or available_cpus()), options.placement)
    if name == "auto":
        if placed.abreast < 2:
            name, reason = "inline", "nothing can run side by side"
        else:
            name, why = "threads", "processes need Linux"
            if not gil_enabled():
                why = "without a GIL they run in parallel, and hand values over without a copy"
            elif sys.platform == "linux":
                from reactorlib.executors.processes import is_daemonic

                name, why = "processes", "threads take turns while the GIL is on"
                if is_daemonic():
                    name, why = "threads", "a daemonic process may start no others"
            reason = f"something can run side by side; on {name}, as {why}"
    used = len(set(placed.of_node))
    if used < placed.workers and name != "inline":
        idle = f"{used} of {placed.workers} workers have reactions"
        reason = f"{reason}; {idle}" if reason else idle
    if name == "inline":
        executor: Executor = Inline(coordinator)
    elif name == "threads":
        executor = Threads(coordinator, placed)
    else:
        from reactorlib.executors.processes import Processes  # it needs shared memory

        executor = Processes(coordinator, placed)
    executor.reason = reason
    return executor


class Execution:
    """A program with its coordinator and executor, from start to end. Reactions run within `guarded`."""

    def __init__(
        self, program: Program, options: Options, make: Callable[[Coordinator], Executor] = make_executor
    ) -> None:
        self.coordinator = Coordinator(program, options)
        with _system_willing():
            self.executor = make(self.coordinator)
        self.worker = self.executor.worker
        self._inbox = self.coordinator.inbox
        self.released: Callable[[], object] = lambda: None  # called at the end
        self._over: str | None = None
        self._begun = False
        self.ended = False  # without an error

    @property
    def over(self) -> str | None:
        """The reason why no reaction may run any more, if there is one."""
        if os.getpid() != self.worker.process:
            return f"it is a copy of that of process {self.worker.process}, which this one was forked from"
        return self._over

    @property
    def tag(self) -> Tag:
        """The current tag, or the last one."""
        return Tag(self.worker.now.time, self.worker.now.microstep)

    def begin(self) -> None:
        """Start the other workers; the first tag may run. Within `guarded`."""
        with _system_willing():
            self.executor.start()
        self.coordinator.inbox.started = self.coordinator.clock.now()
        self.executor.begin()
        self._begun = True
        self.coordinator.begin()

    def guarded(self, part: Callable[..., bool | None], *arguments: Any) -> bool | None:
        """Call a part of the execution in which reactions may run, and return its result. True: it was the last.

        An exception that leaves it ends the execution, after the shutdown reactions. It is a ReactionError if a
        reaction raised. A signal handler may raise at any call or return, so nothing is set outside of `try`.
        A reaction of another execution may make this call, and goes on as itself.
        """
        driver = current.worker
        try:
            if driver is not None:
                self._inbox.driver = driver.interface
            current.worker = self.worker
            self._inbox.reacting.add(get_ident())
            last = part(*arguments)
            if last:
                self._finish()
            return last
        except BaseException as error:
            self._over = self._over or "an error ended it"
            try:
                self._end_early(error)
            finally:
                self._release()
            raise
        finally:
            current.worker = driver
            if driver is not None:
                self._inbox.driver = None

    def _end_early(self, error: BaseException) -> None:
        """Run the shutdown reactions of the other reactors, then raise: a ReactionError where a reaction raised."""
        worker, tag = self.worker, self.tag
        if os.getpid() != worker.process:
            return  # a reaction forked: nothing is its own
        if not self._begun:
            self._kill_workers()
            return
        self._inbox.ending = True
        raised, (error, failed) = error, self.executor.abandon(error)
        if error is not raised:  # the one caught here only broke off the tag
            error.__suppress_context__ = True
        self._over = f"{kind_of(error)} ended it at {tag}"
        if failed is None or not isinstance(error, Exception):
            raise error
        _explain(worker.program, failed, error)
        raise reaction_error(worker.program, failed, worker.now, error) from error

    def _finish(self) -> None:
        self.coordinator.inbox.close()
        if self.coordinator.inbox.failure is not None:
            raise self.coordinator.inbox.failure
        self.executor.finish()
        self._over = f"it ended at {self.tag}"
        self.ended = True

    def kill(self) -> None:
        """End it at once, without shutdown reactions."""
        if self.over is None:
            self._over = "it was killed"
            try:
                self._kill_workers()
            finally:
                self._release()

    def _kill_workers(self) -> None:
        try:
            self.executor.kill()
        except BaseException:  # Ctrl-C meanwhile: no worker may be left
            self.executor.kill()
            raise

    def _release(self) -> None:
        self.released()
        self.coordinator.inbox.close()
        self.executor.forget_schedules()

    def result(self) -> RunResult:
        self._release()
        executor, recorder = self.executor, self.worker.recorder
        trace = spans = digest = None
        if recorder is not None:
            trace, spans = recorder.records(), recorder.spans()
            digest = digest_of(trace)
        return RunResult(self.tag, executor.name, executor.workers, trace, spans, digest, executor.reason,
                         executor.start_method)  # fmt: skip


def _explain(program: Elaborated, node: int, error: Exception) -> None:
    """Name the port by which this reaction reads a cell that it set. A cell has the path of the port that sets it."""
    reaction = program.graph.reaction(node)
    if reaction is None or not isinstance(error, EffectError):
        return
    read = next((cell for cell in reaction.reads if program.cell_path(cell) == error.element), None)
    for port, channel in () if read is None else reaction.channels_of(read):
        error.element = port.channel_path(channel)


@contextmanager
def _system_willing() -> Iterator[None]:
    """Turn an OSError of a run that is about to start into a WorkerError."""
    try:
        yield
    except OSError as error:
        ended_runs.collect()  # earlier runs may still hold what is lacking: the next attempt has it
        raise WorkerError(f"the run cannot start: {error.strerror or error}; {_remedy(error)}") from error


def _remedy(error: OSError) -> str:
    """The limit that the system has set, and the remedy."""
    lacking, option = LIMITS.get(error.errno or 0, ("", "a"))
    if not lacking:
        return "see `ulimit -a`"
    return f"it needs more {lacking}: raise `ulimit -{option}`, or have fewer sessions or workers at a time"
