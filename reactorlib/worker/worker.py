"""One worker of a run: its cells, its current tag, its modes, and its reactions with their arguments.

`Worker.call` makes a function of each node: of a plain reaction itself, else with a copy, a deadline, a trace, a mode.
Compiled and walked schedules call that. The coordinator runs tags, and executors move values between workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from time import perf_counter_ns
from types import SimpleNamespace
from typing import Any, Protocol

from reactorlib.elaboration.records import Argument, Cell, Elaborated, Node, ReactionInstance
from reactorlib.errors import words_of
from reactorlib.tag import LONGEST
from reactorlib.worker.cells import (
    ActionHandle,
    Buffers,
    Contained,
    Event,
    Multiport,
    Reader,
    TracedWriter,
    Writer,
    events_of,
    local_buffers,
)
from reactorlib.worker.event_queue import CurrentTag
from reactorlib.worker.inbox import RunHandle, RunInterface
from reactorlib.worker.modes import ModeState
from reactorlib.worker.recorder import Recorder

Runnable = Callable[[], None]
BoundCall = tuple[Callable[..., None], tuple[Any, ...]]  # a function and its arguments
# A call of a Scheduler: the name of the method, the event by its index (None where there is none), the other arguments.
Call = tuple[Any, ...]


class Scheduler(Protocol):
    """Takes the calls of reactions and schedules: at once on worker 0, elsewhere an Outbox records them for it.

    Times are in ns since the start of the run, delays in ns.
    """

    def at(self, event: Event, time: int, value: Any) -> None: ...  # at its next free microstep
    def schedule(self, event: Event, extra_delay: int, value: Any) -> None: ...  # of a logical action
    def switch(self, mode: int, history: bool) -> None: ...  # when the tag ends
    def end_tag(self) -> None: ...
    def stop(self) -> None: ...  # at the next microstep, together with the events due there
    def listen(self) -> None: ...  # to threads that reactions of this worker start


def copying(source: Reader, target: Reader, deep: bool) -> Runnable:
    """A forward. `deep`: the target gets a value of its own."""

    def copy() -> None:
        target.value = deepcopy(source.value) if deep else source.value
        target.is_present = True

    return copy


def recorded(call: Runnable, reaction: int, recorder: Recorder) -> Runnable:
    """The call of a reaction, which is recorded once it has run."""
    record = recorder.record

    def run() -> None:
        began = perf_counter_ns()
        call()
        record(reaction, began)

    return run


def in_mode(call: Runnable, state: ModeState, shutdown: Reader | None) -> Runnable:
    """A call that runs while its mode is active. At the `shutdown` that triggers it, if its mode was ever active."""

    def run() -> None:
        is_last = shutdown is not None and shutdown.is_present
        if state.entered if is_last else state.active:
            call()

    return run


class Deadline:
    """The deadline of one reaction during a run. The order of a tag follows from the declared ones alone."""

    def __init__(self, worker: Worker, ns: int, call: BoundCall, handler: Callable[..., None]) -> None:
        self._worker = worker
        self._body, self._arguments = call
        self._handler = handler
        self._handled: tuple[int, int] | None = None  # the last tag at which the handler began
        self.update(ns)

    def update(self, ns: int) -> None:
        """Replace the deadline from now on: `ns` after the tag. A deadline of 0 has always passed."""
        self._ns = ns or -LONGEST

    def has_passed(self) -> bool:
        interface = self._worker.interface
        return interface.clock.now() > interface.started + self._worker.now.time + self._ns

    def invoke(self) -> None:
        """Run the body in time, the handler later."""
        self._worker.deadline = self
        if self.has_passed():
            self.late()
        else:
            self._body(*self._arguments)
        self._worker.deadline = None

    def late(self) -> None:
        """Run the handler in place of the body, or of its rest, once a tag."""
        now = self._worker.now
        tag = now.time, now.microstep
        if self._handled != tag:
            self._handled = tag
            self._handler(*self._arguments)


class Worker:
    """One worker of a run of `program`. Calls of its reactions go to `scheduler`.

    Reactions are bound when they first run. Workers of one process may share modes, `events` and `cells`.
    """

    def __init__(
        self,
        program: Elaborated,
        number: int,
        interface: RunInterface,
        scheduler: Scheduler,
        traced: bool,
        *,
        mode_states: list[ModeState] | None = None,
        now: CurrentTag | None = None,
        events: list[Event] | None = None,
        cells: dict[Cell, Reader] | None = None,
        buffers: Buffers | None = None,
    ) -> None:
        self.program, self.graph = program, program.graph
        self.number = number
        self.interface = interface
        self.scheduler = scheduler
        self.mode_states = mode_states or [ModeState() for _ in program.modes]
        self.now = now or CurrentTag()
        self.events = events or events_of(program)
        self.cells: dict[Cell, Reader] = cells or {event.trigger.cell: event for event in self.events}
        self.shutdown = self.events[program.graph.shutdown]
        self.buffers = buffers or local_buffers()
        self.own_buffers = self.buffers if self.buffers.allocate_shared is None else local_buffers()
        self.recorder = Recorder(program, self.now, number) if traced else None
        self.deadline: Deadline | None = None  # of the reaction that runs
        self.process = os.getpid()  # a process that a reaction forks is no worker
        self.last_begun: set[int] = set()  # shutdown reactions that have begun
        self._methods: dict[int, BoundCall] = {}
        self._deadlines: dict[int, Deadline] = {}
        if (opened := getattr(program.cls, "__opened__", None)) is not None:  # see docs/guide/front-ends.md
            opened(RunHandle(interface))

    def arrive(self, event: Event, value: Any) -> None:
        """Forward a value along a physical connection: at physical time."""
        time = self.interface.clock.now() - self.interface.started + event.trigger.delay
        self.scheduler.at(event, time, value)

    def cell(self, number: Cell) -> Reader:
        if number not in self.cells:
            self.cells[number] = Reader(self.program.cell_path(number))
        return self.cells[number]

    def method(self, reaction: int) -> BoundCall:
        """The bound method of a reaction and its arguments."""
        if reaction not in self._methods:
            record = self.program.reactions[reaction]
            method = self._bound(record, record.declaration.body)
            self._methods[reaction] = method, tuple(map(self._argument, record.arguments))
        return self._methods[reaction]

    def call(self, node: Node) -> BoundCall:
        """The function that runs a node, and its arguments: a plain reaction itself, else one without arguments."""
        reaction = self.graph.reaction(node)
        if reaction is None:
            forward = self.graph.forward(node)
            mode = forward.mode
            call = copying(self.cell(forward.source), self.cell(forward.target), forward.copy)
        elif reaction.is_plain and self.recorder is None:
            return self.method(node)
        else:
            mode = reaction.mode
            body, arguments = self.method(node)
            call = partial(body, *arguments) if reaction.deadline is None else self.deadline_of(node).invoke
            if self.recorder is not None:
                call = recorded(call, node, self.recorder)
        if mode is None:
            return call, ()
        shutdown = self.shutdown if reaction is not None and self.graph.hears_shutdown(reaction) else None
        return in_mode(call, self.mode_states[mode], shutdown), ()

    def deadline_of(self, reaction: int) -> Deadline:
        if reaction not in self._deadlines:
            record = self.program.reactions[reaction]
            assert record.deadline is not None
            handler = self._bound(record, record.declaration.handler or (lambda *_: None))
            self._deadlines[reaction] = Deadline(self, record.deadline, self.method(reaction), handler)
        return self._deadlines[reaction]

    def _bound(self, record: ReactionInstance, function: Callable[..., None]) -> Callable[..., None]:
        """A method of the reaction's reactor. A shutdown reaction notes that it began: it may not run twice."""
        method: Callable[..., None] = function.__get__(record.instance.reactor)
        if not self.graph.hears_shutdown(record):
            return method
        shutdown, last_begun = self.shutdown, self.last_begun

        def begin(*arguments: Any) -> None:
            if shutdown.is_present:
                last_begun.add(record.index)
            method(*arguments)

        return begin

    def _argument(self, argument: Argument) -> Any:
        if argument.kind == "switch":
            return SimpleNamespace(set=partial(self.scheduler.switch, argument.mode, argument.history))
        if argument.kind == "schedule":
            event = self.cells[argument.cells[0]]
            assert isinstance(event, Event)
            schedule = self.scheduler.schedule if event.trigger.kind == "logical" else self.interface.schedule
            action: Any = argument.elements[0].declaration
            return action.argument(ActionHandle(event, schedule))
        if argument.kind == "contained":
            ports = [{port.name: self._argument(port) for port in member} for member in argument.members]
            members = tuple(Contained(argument.path, named) for named in ports)
            return members if argument.multi else members[0]
        ends = [self._writer(n) if argument.kind == "set" else self.cell(n) for n in argument.cells]
        return Multiport(ends) if argument.multi else ends[0]

    def _writer(self, number: Cell) -> Writer:
        cell, buffers = self.cell(number), self.buffers if number in self.buffers.crossing else self.own_buffers
        return Writer(cell, buffers) if self.recorder is None else TracedWriter(cell, buffers, self.recorder.note)

    # The end of a run that failed: each shutdown reaction runs once, whatever else went wrong

    def last_reactions(self, of_node: Sequence[int] | None, failed: Node | None) -> list[ReactionInstance]:
        """The shutdown reactions due here by `of_node` that have not begun, but for the reactor whose node `failed`."""
        skip = None if failed is None else self.graph.reaction(failed)

        def is_due(reaction: ReactionInstance) -> bool:
            return (
                self.graph.hears_shutdown(reaction)
                and reaction.index not in self.last_begun
                and (of_node is None or of_node[reaction.index] == self.number)
                and (skip is None or reaction.instance is not skip.instance)
                and (reaction.mode is None or self.mode_states[reaction.mode].entered)
            )

        rank = self.program.order.rank
        return sorted(filter(is_due, self.program.reactions), key=lambda reaction: rank[reaction.index])

    def break_off_tag(self) -> None:
        """After a tag was broken off, make shutdown present and all else absent."""
        for cell in self.cells.values():
            cell.is_present = False
        self.shutdown.is_present = True

    def run_last(self, of_node: Sequence[int] | None, failed: Node | None) -> list[str]:
        """Run the last reactions, however late it is. Returns their errors in words."""
        raised = []
        for reaction in self.last_reactions(of_node, failed):
            body, arguments = self.method(reaction.index)
            self.deadline = None if reaction.deadline is None else self.deadline_of(reaction.index)
            try:
                body(*arguments)
            except (Exception, SystemExit) as second:  # noqa: BLE001  # noted on the first error, which is raised
                raised.append(f"{reaction.path} raised too: {type(second).__name__}: {words_of(second)}")
        return raised
