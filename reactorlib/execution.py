"""One execution of a program: how it is opened and the ways in which it ends. Who drives it is not its concern."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Token
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from reactorlib.declaration.reactor import Reactor
from reactorlib.errors import ReactionError, WorkerError, kind_of
from reactorlib.executors import ended_runs
from reactorlib.executors.executor import Executor
from reactorlib.program import Program, elaborate
from reactorlib.tag import Tag
from reactorlib.worker.context import current, origin
from reactorlib.worker.inbox import Outside
from reactorlib.worker.main_worker import MainWorker
from reactorlib.worker.port_hints import explain
from reactorlib.worker.trace import Costs, Span, TraceRecord, costs_of, digest_of
from reactorlib.worker.user_threads import hook

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RunResult:
    """What a run leaves: the last tag, and with `trace=True` the records, spans, costs and the digest.

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
    costs: Costs | None = None  # ns that each reactor's reactions took, by path
    reason: str = ""  # why executor="auto" chose this one
    start_method: str = ""  # how worker processes started; empty where there were none


def fresh(program: type[Reactor] | Program, parameters: Mapping[str, Any]) -> Program:
    """A program that has not run yet: its reactors are as their constructors left them."""
    if isinstance(program, Program):
        if program.root.used:
            program = elaborate(program.cls, **program.parameters)
    else:
        program = elaborate(program, **parameters)
    program.root.used = True
    return program


class Execution:
    """A program and what runs it, from its start to its end. Reactions may run in what `guarded` calls."""

    def __init__(self, make_worker: Callable[[], MainWorker], make: Callable[[MainWorker], Executor]) -> None:
        with _system_willing():
            self.worker = make_worker()
        try:
            with _system_willing():
                self.executor = make(self.worker)
        except BaseException:
            self.worker.clock.close()
            raise
        self.over: str | None = None  # why no reaction may run any more
        self.living = [self]  # nothing, once it has ended: who waits to kill it keeps this, not what an error holds
        self._begun = False

    def begin(self) -> None:
        """Start the other workers; the first tag may run. Within `guarded`."""
        hook()
        with _system_willing():
            self.executor.start()
        self.worker.inbox.started = self.worker.clock.now()
        self.executor.begin()
        self._begun = True
        self.worker.begin()

    def guarded(self, part: Callable[..., T], *arguments: Any) -> T:
        """What a part of the execution gives, in which reactions may run.

        An exception that leaves it ends the execution, after the shutdown reactions; it is a ReactionError where a
        reaction raised. The handler of a signal may raise wherever a function is called or returns: so nothing is set
        outside of `try`, and what would lock out all others is the first thing that is put back.
        """
        outside = origin.get()
        before: Token[Outside | None] | None = None
        try:
            current.worker = self.worker
            before = origin.set(self.worker.inbox)
            return part(*arguments)
        except BaseException as error:
            self.over = self.over or "an error ended it"
            self._fail(error)
            raise
        finally:
            current.worker = None
            if before is not None:
                origin.reset(before)
            elif origin.get() is not outside:  # set, and interrupted before it could say so
                origin.set(outside)

    def _fail(self, error: BaseException) -> None:
        try:
            if os.getpid() == self.worker.process:  # else a reaction forked: nothing is its own
                if self._begun:
                    self._end_early(error)
                else:
                    self.executor.kill()
        finally:
            self._release()

    def _end_early(self, error: BaseException) -> None:
        """Run the shutdown reactions of the other reactors, then raise: a ReactionError where a reaction raised."""
        worker, tag = self.worker, self._tag
        error, failed = self.executor.abandon(error)
        self.over = f"{kind_of(error)} ended it at {tag}"
        if failed is None or not isinstance(error, Exception):
            raise error
        explain(worker.program, failed, error)
        reactor, _, name = worker.program.node_path(failed).rpartition(".")
        raise ReactionError(reactor, name, tag, error) from error

    def finish(self) -> None:
        """The last tag has run: the other workers end. Within `guarded`."""
        self.worker.inbox.close()
        if self.worker.inbox.failure is not None:
            raise self.worker.inbox.failure
        self.executor.finish()
        self.over = f"it ended at {self._tag}"

    @property
    def _tag(self) -> Tag:
        return Tag(self.worker.now.time, self.worker.now.microstep)

    def kill(self) -> None:
        """End it at once, without shutdown reactions. Nothing, in a process that was forked meanwhile."""
        if self.over is None and os.getpid() == self.worker.process:
            self.over = "it was killed"
            self.executor.kill()
            self._release()

    def _release(self) -> None:
        self.living.clear()
        self.worker.inbox.close()
        self.worker.clock.close()
        self.executor.forget_schedules()

    def result(self) -> RunResult:
        """What it leaves, after `finish`."""
        self._release()
        worker, executor, tag = self.worker, self.executor, self._tag
        told = RunResult(
            tag, executor.name, executor.workers, reason=executor.reason, start_method=executor.start_method
        )
        if worker.recorder is None:
            return told
        records, spans = worker.recorder.records(), worker.recorder.spans()
        digest, costs = digest_of(records), costs_of(worker.program, spans)
        return replace(told, trace=records, spans=spans, digest=digest, costs=costs)


@contextmanager
def _system_willing() -> Iterator[None]:
    """What the system refuses to a run that is about to start is a WorkerError that says what is short."""
    try:
        yield
    except OSError as error:
        hint = ""
        if error.errno in (errno.EMFILE, errno.ENFILE):
            hint = "; see `ulimit -n`"
            ended_runs.collect()  # what earlier runs left may hold descriptors: the next attempt has those
        raise WorkerError(f"the run cannot start: {error.strerror or error}{hint}") from error
