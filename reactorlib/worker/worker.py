"""What one worker of a run is: its cells, its current tag, its clock, its modes, and what its reactions may ask for.

Runs no tag and moves nothing between workers: worker 0 does the first, executors do the second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container
from functools import partial
from typing import Any

from reactorlib.elaboration.program import Argument, Cell, Elaborated, Node, ReactionInstance
from reactorlib.errors import words_of
from reactorlib.worker.cells import (
    ActionHandle,
    Contained,
    Event,
    ModeHandle,
    Multiport,
    PlainActionHandle,
    Reader,
    TracedWriter,
    Writer,
)
from reactorlib.worker.deadlines import Deadline
from reactorlib.worker.event_queue import CurrentTag, Events
from reactorlib.worker.inbox import Outside
from reactorlib.worker.modes import ModeState
from reactorlib.worker.requests import Request
from reactorlib.worker.steps import copying, in_mode, in_mode_until_shutdown, recorded
from reactorlib.worker.trace import Recorder

Scheduling = Callable[[Event, int, Any], None]  # what an action's handle calls: event, extra delay in ns, value
Queueing = Callable[[int, Event, Any], None]  # what a schedule calls: a time in ns since the start, event, value


class Worker:
    """One worker of a run of `program`. What its reactions ask for goes to `outbox`, for worker 0.

    Reactions are bound when they first run, so that a large program pays for what it uses. With `shared`, another
    worker of this process, its cells and events serve this one too.
    """

    def __init__(
        self,
        program: Elaborated,
        number: int,
        outside: Outside,
        mode_states: list[ModeState],
        traced: bool,
        *,
        now: CurrentTag | None = None,
        shared: Worker | None = None,
    ) -> None:
        self.program = program
        self.graph = program.graph
        self.number = number
        self.outside = outside
        self.clock = outside.clock
        self.mode_states = mode_states
        self.now = CurrentTag() if now is None else now
        self.deadline: Deadline | None = None  # of the reaction that runs
        self.process = os.getpid()  # a process that a reaction forks is no worker
        self.outbox: list[Request] = []
        self.recorder = Recorder(program, self.now, number) if traced else None
        self.crossing_cells: Container[Cell] = ()  # cells whose buffers come from `allocate`
        self.allocate: Callable[[int], Any] | None = None
        self.allocate_shared: Callable[[int], Any] | None = None  # where readers may write as well
        self.ended: set[int] = set()  # shutdown reactions that have begun
        self._calls: dict[int, tuple[Callable[..., None], tuple[Any, ...]]] = {}
        self._deadlines: dict[int, Deadline] = {}
        self.events: list[Event] = [] if shared is None else shared.events
        self.cells: dict[Cell, Reader] = {} if shared is None else shared.cells
        if shared is None:
            for index, trigger in enumerate(program.triggers):
                event = Event(trigger.path, index, trigger)
                self.events.append(event)
                self.cells[trigger.cell] = event
        self.shutdown = next(event for event in self.events if event.trigger.kind == "shutdown")

    @property
    def started(self) -> int:
        """Physical time at which the run began, in ns; 0 before."""
        return self.outside.started

    # What reactions ask for

    def request_stop(self) -> None:
        """Shutdown at the next microstep, together with what is due there."""
        self.outbox.append(("stop",))

    @property
    def schedule_logical(self) -> Scheduling:
        return lambda event, extra_delay, value: self.outbox.append(("schedule", event.index, extra_delay, value))

    @property
    def schedule_physical(self) -> Scheduling:
        raise AssertionError("what declares a physical action is on worker 0")

    def switch_to(self, mode: int, history: bool) -> None:
        self.outbox.append(("switch", mode, history))

    # What schedules ask for

    @property
    def later(self) -> Queueing:
        return lambda time, event, value: self.outbox.append(("at", event.index, time, value))

    def physical_connection(self, event: Event, value: Any) -> None:
        """Forward a value at physical time."""
        time = self.clock.now() - self.started + event.trigger.delay
        self.outbox.append(("action", event.index, time, value))

    def switch_modes(self) -> None:
        """At the end of a tag: modes switch on worker 0 alone."""

    def take_requests(self, soon: Events) -> list[Request]:
        """What this part of the tag asked for, in order; the outbox is empty afterwards."""
        taken, self.outbox = self.outbox, []
        taken += [("soon", event.index, value) for event, value in soon.items()]
        return taken

    # Cells, and reactions with their arguments

    def cell(self, number: Cell) -> Reader:
        """The reader of a cell."""
        found = self.cells.get(number)
        if found is None:
            found = self.cells[number] = Reader(self.program.cell_path(number))
        return found

    def call(self, reaction: int) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """The bound method of a reaction and its arguments."""
        found = self._calls.get(reaction)
        if found is None:
            record = self.program.reactions[reaction]
            method = self._bound(record, record.declaration.body)
            found = self._calls[reaction] = method, tuple(self._argument(a) for a in record.arguments)
        return found

    def step(self, node: Node) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """What a schedule calls to run a node, and with what: a plain reaction itself, else a function of nothing."""
        reaction = self.graph.reaction(node)
        if reaction is None:
            forward = self.graph.forward(node)
            mode = forward.mode
            step = copying(self.cell(forward.source), self.cell(forward.target), forward.copy)
        elif reaction.is_plain and self.recorder is None:
            return self.call(node)
        else:
            mode = reaction.mode
            body, arguments = self.call(node)
            step = partial(body, *arguments) if reaction.deadline is None else self.deadline_of(node).invoke
            if self.recorder is not None:
                step = recorded(step, node, self.recorder)
        if mode is None:
            return step, ()
        state = self.mode_states[mode]
        if reaction is not None and self.graph.hears_shutdown(reaction):
            return in_mode_until_shutdown(step, state, self.shutdown), ()
        return in_mode(step, state), ()

    def deadline_of(self, reaction: int) -> Deadline:
        """The deadline of a reaction that has one."""
        found = self._deadlines.get(reaction)
        if found is None:
            record = self.program.reactions[reaction]
            assert record.deadline is not None
            handler = self._bound(record, record.declaration.handler or (lambda *_: None))
            found = self._deadlines[reaction] = Deadline(self, record.deadline, *self.call(reaction), handler)
        return found

    def _bound(self, record: ReactionInstance, function: Callable[..., None]) -> Callable[..., None]:
        """A method of the reaction's reactor. One that shutdown triggers notes that it began: it may not run twice."""
        method: Callable[..., None] = function.__get__(record.instance.reactor)
        if not self.graph.hears_shutdown(record):
            return method
        shutdown, ended = self.shutdown, self.ended

        def begin(*arguments: Any) -> None:
            if shutdown.is_present:
                ended.add(record.index)
            method(*arguments)

        return begin

    def _argument(self, argument: Argument) -> Any:
        if argument.kind == "switch":
            return ModeHandle(argument.mode, argument.history, self.switch_to)
        if argument.kind == "schedule":
            event = self.cells[argument.cells[0]]
            assert isinstance(event, Event)
            logical = event.trigger.kind == "logical"
            handle = PlainActionHandle if argument.plain_ns else ActionHandle
            return handle(event, self.schedule_logical if logical else self.schedule_physical)
        if argument.kind == "contained":
            members = [
                Contained(argument.path, {p.name: self._argument(p) for p in ports}) for ports in argument.members
            ]
            return tuple(members) if argument.multi else members[0]
        ends = [self._writer(n) if argument.kind == "set" else self.cell(n) for n in argument.cells]
        return Multiport(ends) if argument.multi else ends[0]

    def _writer(self, number: Cell) -> Writer:
        crosses = number in self.crossing_cells
        allocate, shared = (self.allocate, self.allocate_shared) if crosses else (None, None)
        if self.recorder is None:
            return Writer(self.cell(number), allocate, shared)
        return TracedWriter(self.cell(number), allocate, shared, self.recorder.note)

    # The end of a run that failed: each shutdown reaction runs once, by itself, whatever else went wrong

    def last_reactions(self, mine: Callable[[Node], bool], failed: Node | None) -> list[ReactionInstance]:
        """The shutdown reactions that are `mine` and due, but for those of the reactor whose reaction `failed`."""
        program = self.program
        skip = None if failed is None or failed >= len(program.reactions) else program.reactions[failed].instance
        due = [
            reaction
            for reaction in program.reactions
            if self.graph.hears_shutdown(reaction)
            and mine(reaction.index)
            and reaction.instance is not skip
            and (reaction.mode is None or self.mode_states[reaction.mode].entered)
        ]
        return sorted(due, key=lambda reaction: program.order.rank[reaction.index])

    def break_off_tag(self) -> None:
        """After a tag that was broken off nothing may look present but shutdown."""
        for cell in self.cells.values():
            cell.is_present = False
        self.shutdown.is_present = True

    def run_last(self, reactions: list[ReactionInstance]) -> list[str]:
        """Run shutdown reactions that have not begun yet, however late it is; what they raise, in words."""
        raised = []
        for reaction in reactions:
            if reaction.index in self.ended:
                continue
            body, arguments = self.call(reaction.index)
            self.deadline = None if reaction.deadline is None else self.deadline_of(reaction.index)
            try:
                body(*arguments)
            except (Exception, SystemExit) as second:  # noqa: BLE001  # noted on the first error, which is raised
                raised.append(f"{reaction.path} raised too: {type(second).__name__}: {words_of(second)}")
        return raised
