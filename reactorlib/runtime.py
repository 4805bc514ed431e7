"""The tag loop: next tag, wait for it, run its schedule. And the ways in which a run ends."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import Any

from reactorlib.clock import LONGEST_WAIT_NS, Clock, PhysicalClock
from reactorlib.declaration.reactor import Reactor
from reactorlib.elaboration.elaborate import elaborate
from reactorlib.elaboration.program import Program
from reactorlib.errors import ReactionError, RunError
from reactorlib.executors import leftovers
from reactorlib.executors.choice import check_executor, check_names, make_executor
from reactorlib.schedule.plan import Reach
from reactorlib.tag import Tag, time_fault
from reactorlib.worker.binding import Binding
from reactorlib.worker.cells import Event
from reactorlib.worker.context import Context, current
from reactorlib.worker.ending import exit_on_signal
from reactorlib.worker.events import Queue
from reactorlib.worker.modes import Modes, ModeState
from reactorlib.worker.trace import Recorder, Span, TraceRecord, costs_of, digest_of


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
    trace: bool = False,
    **parameters: Any,
) -> RunResult:
    """Run a reactor class with these parameters, or a Program, until it ends.

    `timeout` is in ns of logical time; `fast` does not wait for physical time; `keepalive` keeps an idle
    program running (default: if it declares a physical action). `executor` is "inline", "threads",
    "processes" or "auto", `workers` how many (default: the CPUs this process may use), `placement` puts
    reactors, by path, on workers (those with a physical action stay on worker 0), `costs` balances banks by measured
    time (`RunResult.costs` of a traced run), `start_method` says how processes start: "fork", "spawn" or "forkserver".
    The executor "inline" has one worker and ignores these four. A constructor whose parameter has the name of one of
    these keywords gets it from `elaborate`: `run(elaborate(Farm, workers=8), executor="threads", workers=2)`.

    Raises ElaborationError before anything runs, ReactionError when a reaction raised, WorkerError when a worker died
    or a value could not travel between workers, RunError when called in a way that makes no sense, and, with `trace`,
    after a complete run in which a value was set that has no digest. SystemExit and KeyboardInterrupt pass through. The
    shutdown reactions of the other reactors run first.

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
    if current.run is not None:
        raise RunError("run() inside a reaction: a program cannot run another one in its own thread")
    if not isinstance(program, Program):
        check_names(program, timeout=timeout, fast=fast or None, keepalive=keepalive, workers=workers, costs=costs,
                    executor=None if executor == "inline" else executor, placement=placement,
                    start_method=start_method, trace=trace or None)  # fmt: skip
    fault = None if timeout is None else time_fault(timeout, "timeout")
    if fault is not None:
        raise RunError(fault)
    check_executor(executor, workers)
    fresh = _fresh(program, parameters)
    one = Run(fresh, timeout, fast, keepalive, trace, executor, workers, placement, costs, start_method)
    with _stopping_on_sigterm():
        one.run()
    result = one.result()
    del one
    leftovers.tidy()
    return result


def _fresh(program: type[Reactor] | Program, parameters: dict[str, Any]) -> Program:
    """A program that has not run yet: its reactors are as their constructors left them."""
    if isinstance(program, Program):
        if parameters:
            raise RunError(f"a Program has its parameters already, got {', '.join(parameters)}")
        if program.root.used:
            program = elaborate(program.cls, **program.parameters)
    else:
        program = elaborate(program, **parameters)
    program.root.used = True
    return program


class Run:
    """One run of one program: its queue, its clock, its cells, and the loop over tags."""

    def __init__(
        self,
        program: Program,
        timeout: int | None = None,
        fast: bool = False,
        keepalive: bool | None = None,
        trace: bool = False,
        executor: str = "inline",
        workers: int | None = None,
        placement: Mapping[str, int] | None = None,
        costs: Mapping[str, float] | None = None,
        start_method: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.program = program
        self.fast = fast
        declares_physical = any(trigger.kind == "physical" for trigger in program.triggers)
        self.keepalive = declares_physical if keepalive is None else keepalive
        self.stop_time = None if timeout is None else int(timeout)
        self.clock = clock or PhysicalClock()
        self.started = 0
        self.process = os.getpid()
        self.queue = Queue()
        self.later = self.queue.at
        self.context = Context()
        self.inbox: deque[tuple[Event, int, Any]] = deque()  # physical actions, from any thread
        self.recorder = Recorder(program, self.queue) if trace else None
        self.modes = Modes(program, self.queue)
        self.reach = Reach(program)
        self.binding = Binding(
            program,
            self.schedule_logical if program.modes else self.queue.schedule,
            self._schedule_physical,
            self.modes.request,
            self.recorder.note if self.recorder is not None else None,
        )
        self.modes.bind(self.binding)
        try:
            self.executor = make_executor(self, executor, workers, placement, costs, start_method)
        except BaseException:
            self.clock.close()
            raise
        self.shutdown = next(e for e in self.binding.events if e.trigger.kind == "shutdown")

    @property
    def mode_states(self) -> list[ModeState]:
        return self.modes.states

    def switch(self) -> None:
        self.modes.apply()

    # What reactions ask for

    def request_stop(self) -> None:
        """Shutdown at the next microstep, together with what is due there."""
        self.queue.soon[self.shutdown] = None

    def schedule_logical(self, event: Event, extra_delay: int, value: Any) -> None:
        if self.modes.is_active(event.mode):
            self.queue.schedule(event, extra_delay, value)
        else:
            self.modes.hold(event, event.trigger.delay + extra_delay, value)

    def _schedule_physical(self, event: Event, extra_delay: int, value: Any) -> None:
        """From any thread: the tag is read off the clock here, the loop queues it."""
        self.inbox.append((event, self.clock.now() - self.started + event.trigger.delay + extra_delay, value))
        self.clock.wake()

    def physical_connection(self, event: Event, value: Any) -> None:
        """Forward a value at physical time, in the thread of the loop."""
        self.queue.schedule_at(event, self.clock.now() - self.started + event.trigger.delay, value)

    # The loop

    def run(self) -> None:
        """Run to the end. Raises ReactionError; on KeyboardInterrupt and SystemExit shutdown reactions run first."""
        try:
            self.executor.start()
            self.started = self.clock.now()
            self.executor.begin()
            current.run = self
            self._start()
            self._loop()
            self.executor.finish()
        except BaseException as error:  # whatever ends a run, its shutdown reactions come first
            if os.getpid() != self.process:
                raise  # a process that a reaction forked is at its end: nothing here is its own
            if current.run is None:
                self.executor.kill()
                raise
            self._end_early(error)
        finally:
            current.run = None
            self.clock.close()
            self.executor.schedules.forget()

    def _start(self) -> None:
        for event in self.binding.events:
            if event.mode is None and event.trigger.kind in ("startup", "timer"):
                self.queue.at(event.trigger.delay, event, None)
        self.modes.start()

    def _loop(self) -> None:
        queue, inbox, executor = self.queue, self.inbox, self.executor
        # Before this time nothing is waited for, and the run does not end.
        horizon = -1 if not self.fast else inf if self.stop_time is None else self.stop_time
        while True:
            if inbox:
                self._receive()
            events = queue.soon
            if events and not queue.ahead:  # the next microstep: Queue.pop without the call
                queue.microstep += 1
                soon = queue.soon = {}
            else:
                if not events:
                    due = queue.next_time()
                    if due is None or due >= horizon:
                        self._advance()
                events = queue.pop()
                soon = queue.soon
            if len(events) == 1:
                event, value = events.popitem()
                event.value = value
                schedule = event.schedule_alone or executor.alone(event)
            else:
                for event, value in events.items():
                    event.value = value
                schedule = executor.together(events)
            if schedule(queue.time, soon):
                return

    def _receive(self) -> None:
        """Queue what physical actions brought."""
        for _ in range(len(self.inbox)):  # what comes meanwhile waits: it may never end
            event, time, value = self.inbox.popleft()
            if self.modes.is_active(event.mode):
                self.queue.schedule_at(event, time, value)
            else:
                self.modes.hold(event, max(0, time - self.queue.time), value)

    def _advance(self) -> None:
        """Wait until the next time with events may come; there, or at the timeout, shutdown joins them."""
        queue = self.queue
        while True:
            if self.inbox:
                self._receive()
            due = queue.next_time()
            if due is not None and queue.soon:
                return
            if due is None and not self.keepalive:
                queue.at(queue.time, self.shutdown, None)
                return
            if self.stop_time is not None and (due is None or due >= self.stop_time):
                due = self.stop_time
            wants_wait = not self.fast or (self.keepalive and due == self.stop_time)
            if due is None:
                self.clock.wait(self.clock.now() + LONGEST_WAIT_NS)
            elif wants_wait and self.clock.now() < self.started + due:
                self.clock.wait(self.started + due)
            else:
                if due == self.stop_time:
                    queue.at(due, self.shutdown, None)
                return
            self.executor.check()

    # The end

    def _end_early(self, error: BaseException) -> None:
        """Run the shutdown reactions of the other reactors, then raise: a ReactionError where a reaction raised."""
        tag = Tag(self.queue.time, self.queue.microstep)
        error, failed = self.executor.abandon(error)
        if failed is None or not isinstance(error, Exception):
            raise error
        reactor, _, name = self.program.node_path(failed).rpartition(".")
        raise ReactionError(reactor, name, tag, error) from error

    def result(self) -> RunResult:
        """What the run leaves."""
        tag = Tag(self.queue.time, self.queue.microstep)
        name, workers = self.executor.name, self.executor.workers
        if self.recorder is None:
            return RunResult(tag, name, workers)
        records = self.recorder.records()
        spans, digest = self.recorder.spans(), digest_of(records)
        return RunResult(tag, name, workers, records, spans, digest, costs_of(self.program, spans))


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
