"""The schedule that is not compiled: a ready queue in the order of the program.

Sets of events that come too rarely to be worth compiling are walked. The cost follows the reactions that run, never the
size of the program. Lookups of cells and nodes are kept for later tags.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from heapq import heappop, heappush
from typing import Any

from reactorlib.elaboration.program import Cell, Node
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.event_queue import Events
from reactorlib.worker.worker import Worker


class _Heard:
    """A cell with its hearers: ranks of nodes, and delayed connections by trigger index."""

    __slots__ = ("arrived", "captures", "ranks", "reader")

    def __init__(self, reader: Reader, ranks: tuple[int, ...], captures: tuple[int, ...]) -> None:
        self.reader = reader
        self.ranks = ranks
        self.captures = captures
        self.arrived = 0  # the last walk at which it was present


class _Walked:
    """A node with its step, and the cells that it may set."""

    __slots__ = ("arguments", "node", "run", "sets")

    def __init__(self, node: Node, run: Callable[..., None], arguments: tuple[Any, ...], sets: tuple[_Heard, ...]):
        self.node = node
        self.run = run
        self.arguments = arguments
        self.sets = sets


class Walk:
    """Walks one tag at a time on worker 0; `running` is the node that runs, for error messages."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.graph = worker.graph
        self.running: Node | None = None
        self._at = worker.scheduler.at
        self._rank = worker.program.order.rank
        self._node_at = [0] * len(self._rank)
        for node, rank in enumerate(self._rank):
            self._node_at[rank] = node
        self._heard: dict[Cell, _Heard] = {}
        self._walked: dict[int, _Walked] = {}  # by rank
        self._walks = 0
        self._queued = [0] * len(self._rank)  # by rank: the last walk that queued it
        self._modal = bool(worker.program.modes)

    def schedule(self, events: Iterable[Event], time: int, soon: Events) -> bool:
        """Run the tag of these events. True: the run ends with it."""
        self._walks += 1
        arrived: list[_Heard] = []
        stops = False
        for event in events:
            trigger = event.trigger
            event.is_present = True
            heard = self._heard.get(trigger.cell) or self._hear(trigger.cell)
            heard.arrived = self._walks
            arrived.append(heard)
            if trigger.period:
                self._at(event, time + trigger.period, None)
            stops = stops or trigger.kind == "shutdown"
        present = self._react(arrived)
        for heard in present:
            for index in heard.captures:
                self._capture(index, heard.reader, time, soon)
        for heard in present:
            heard.reader.is_present = False
        if self._modal:
            self.worker.scheduler.end_tag()
        return stops

    def _react(self, arrived: list[_Heard]) -> list[_Heard]:
        """Run the nodes that follow, in order, and return all that was present in the end."""
        walk, queued = self._walks, self._queued
        heap: list[int] = []
        present: list[_Heard] = []
        while True:
            for heard in arrived:
                present.append(heard)
                for rank in heard.ranks:
                    if queued[rank] != walk:
                        queued[rank] = walk
                        heappush(heap, rank)
            if not heap:
                return present
            rank = heappop(heap)
            walked = self._walked.get(rank) or self._walk(rank)
            arrived = []
            self.running = walked.node
            walked.run(*walked.arguments)
            self.running = None
            for heard in walked.sets:
                if heard.reader.is_present and heard.arrived != walk:
                    heard.arrived = walk
                    arrived.append(heard)

    # Lookups

    def _hear(self, cell: Cell) -> _Heard:
        ranks = sorted({self._rank[node] for node in self.graph.heard_by.get(cell, ())})
        captures = tuple(self.graph.captured_by.get(cell, ()))
        found = self._heard[cell] = _Heard(self.worker.cell(cell), tuple(ranks), captures)
        return found

    def _walk(self, rank: int) -> _Walked:
        node = self._node_at[rank]
        sets = tuple(self._heard.get(cell) or self._hear(cell) for cell in self.graph.writes[node])
        found = self._walked[rank] = _Walked(node, *self.worker.step(node), sets)
        return found

    def _capture(self, index: int, reader: Reader, time: int, soon: Events) -> None:
        event = self.worker.events[index]
        trigger = event.trigger
        if trigger.mode is not None and not self.worker.mode_states[trigger.mode].active:
            return
        if trigger.kind == "physical delay":
            self.worker.arrive(event, reader.value)
        elif trigger.delay:
            self._at(event, time + trigger.delay, reader.value)
        else:
            soon[event] = reader.value
