"""The schedule that is not compiled: a ready queue in the order of the program.

For sets of events seen too rarely to be worth compiling. Its cost follows the reactions that run, never the
size of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import deepcopy
from heapq import heappop, heappush
from time import perf_counter_ns
from typing import TYPE_CHECKING

from reactorlib.cells import Event, Reader
from reactorlib.events import Step
from reactorlib.plan import Node

if TYPE_CHECKING:
    from reactorlib.runtime import Run


class Ready:
    """Walks one tag at a time for one run; `running` is the reaction that runs, for error messages."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.reach = run.reach
        self.binding = run.binding
        self.rank = run.program.order.rank
        self.node_at = [0] * len(self.rank)
        for node, rank in enumerate(self.rank):
            self.node_at[rank] = node
        self.running: Node | None = None

    def schedule(self, events: Iterable[Event], time: int, soon: Step) -> bool:
        """Run the tag of these events; True when the run ends with it."""
        heap: list[int] = []
        queued: set[Node] = set()
        present: list[tuple[int, Reader]] = []
        stops = False

        def arrived(cell: int, reader: Reader) -> None:
            present.append((cell, reader))
            for node in self.reach.heard_by.get(cell, ()):
                if node not in queued:
                    queued.add(node)
                    heappush(heap, self.rank[node])

        for event in events:
            event.is_present = True
            arrived(event.trigger.cell, event)
            if event.trigger.kind == "timer" and event.trigger.period:
                self.run.queue.at(time + event.trigger.period, event, None)
            stops = stops or event.trigger.kind == "shutdown"
        arrivals = {cell for cell, _ in present}
        while heap:
            node = self.node_at[heappop(heap)]
            if not self._invoke(node, time, stops):
                continue
            for cell in self.reach.sets(node):
                if cell not in arrivals:
                    reader = self.binding.cell(cell)
                    if reader.is_present:
                        arrivals.add(cell)
                        arrived(cell, reader)
        self._captures(present, time, soon)
        for _, reader in present:
            reader.is_present = False
        self.run.modes.apply()
        return stops

    def _invoke(self, node: Node, time: int, stops: bool) -> bool:
        """Run one node; False if a mode keeps it from running."""
        reaction = self.reach.reaction(node)
        states = self.run.modes.states
        if reaction is None:
            forward = self.reach.forward(node)
            if forward.mode is not None and not states[forward.mode].active:
                return False
            source, target = self.binding.cell(forward.source), self.binding.cell(forward.target)
            self.running = node
            target.value = deepcopy(source.value) if forward.copy else source.value
            target.is_present = True
            self.running = None
            return True
        if reaction.mode is not None:
            state = states[reaction.mode]
            hears = stops and self.reach.hears_shutdown(reaction)
            if not (state.entered if hears else state.active):
                return False
        body, arguments = self.binding.call(node)
        self.running = node
        began = perf_counter_ns()
        if reaction.deadline is not None:
            context = self.run.context
            due = self.run.started + time + reaction.deadline
            if reaction.deadline == 0 or self.run.clock.now() > due:
                body = self.binding.handler(node)
            context.due = due
            body(*arguments)
            context.due = None
        else:
            body(*arguments)
        self.running = None
        if self.run.recorder is not None:
            self.run.recorder.record(node, began)
        return True

    def _captures(self, present: list[tuple[int, Reader]], time: int, soon: Step) -> None:
        for cell, reader in present:
            for index in self.reach.captured_by.get(cell, ()):
                self._capture(index, reader, time, soon)

    def _capture(self, index: int, reader: Reader, time: int, soon: Step) -> None:
        event = self.binding.events[index]
        trigger = event.trigger
        if not self.run.modes.is_active(trigger.mode):
            return
        if trigger.kind == "physical delay":
            self.run.physical_connection(event, reader.value)
        elif trigger.delay:
            self.run.queue.at(time + trigger.delay, event, reader.value)
        else:
            soon[event] = reader.value
