"""The objects of one run: a reader for every cell, an event for every trigger, the arguments of every reaction.

Made anew for each run; reactions are bound when they first run, so that a large program pays for what it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from reactorlib.elaboration.program import Argument, Cell, Program
from reactorlib.worker.cells import ActionHandle, Event, ModeHandle, Multiport, Reader, TracedWriter, Writer

Schedule = Callable[[Event, int, Any], None]


class Binding:
    """Cells and calls of one run of `program`.

    `schedule_logical`, `schedule_physical` and `switch` are what the handles call; `note` is where traced
    writers put what they set, None without a trace. With `shared`, its cells and events serve this one too.
    """

    def __init__(
        self,
        program: Program,
        schedule_logical: Schedule,
        schedule_physical: Schedule,
        switch: Callable[[int, bool], None],
        note: Callable[[tuple[str, Any]], None] | None,
        shared: Binding | None = None,
    ) -> None:
        self.program = program
        self._schedule = {"logical": schedule_logical, "physical": schedule_physical}
        self._switch = switch
        self._note = note
        self.shared_cells: Container[Cell] = ()  # cells whose buffers come from `allocate`
        self.allocate: Callable[[int], Any] | None = None
        self._bodies: dict[int, tuple[Callable[..., None], tuple[Any, ...]]] = {}
        self.cells: dict[Cell, Reader] = {} if shared is None else shared.cells
        self.events: list[Event] = [] if shared is None else shared.events
        self.ended: set[int] = set()  # shutdown reactions that have begun
        if shared is None:
            for index, trigger in enumerate(program.triggers):
                event = Event(trigger.path, index, trigger)
                self.events.append(event)
                self.cells[trigger.cell] = event
        self.shutdown = next(event for event in self.events if event.trigger.kind == "shutdown")

    def cell(self, number: Cell) -> Reader:
        """The reader of a cell."""
        found = self.cells.get(number)
        if found is None:
            found = self.cells[number] = Reader(self.program.cell_path(number))
        return found

    def call(self, reaction: int) -> tuple[Callable[..., None], tuple[Any, ...]]:
        """The bound method of a reaction and its arguments."""
        found = self._bodies.get(reaction)
        if found is None:
            record = self.program.reactions[reaction]
            method = self._bound(reaction, record.declaration.body)
            found = self._bodies[reaction] = method, tuple(self._argument(a) for a in record.arguments)
        return found

    def handler(self, reaction: int) -> Callable[..., None]:
        """What runs instead when the deadline of a reaction is missed."""
        handler = self.program.reactions[reaction].declaration.handler
        return self._bound(reaction, _nothing if handler is None else handler)

    def _bound(self, reaction: int, function: Callable[..., None]) -> Callable[..., None]:
        """A method of the reaction's reactor. One that shutdown triggers notes that it began: it may not run twice."""
        record = self.program.reactions[reaction]
        method: Callable[..., None] = function.__get__(record.instance.reactor)
        shutdown, ended = self.shutdown, self.ended
        if shutdown.trigger.cell not in record.triggers:
            return method

        def begin(*arguments: Any) -> None:
            if shutdown.is_present:
                ended.add(reaction)
            method(*arguments)

        return begin

    def _argument(self, argument: Argument) -> Any:
        if argument.kind == "switch":
            return ModeHandle(argument.mode, argument.history, self._switch)
        if argument.kind == "schedule":
            event = self.cells[argument.cells[0]]
            assert isinstance(event, Event)
            return ActionHandle(event, self._schedule[event.trigger.kind])
        ends = [self._writer(n) if argument.kind == "set" else self.cell(n) for n in argument.cells]
        return Multiport(ends) if argument.multi else ends[0]

    def _writer(self, number: Cell) -> Writer:
        allocate = self.allocate if number in self.shared_cells else None
        if self._note is None:
            return Writer(self.cell(number), allocate)
        return TracedWriter(self.cell(number), allocate, self._note)


def _nothing(_reactor: object, *arguments: object) -> None:
    """A missed deadline without a handler: the reaction does not run."""
