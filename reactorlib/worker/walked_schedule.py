"""The schedule of events that come too rarely to be worth compiling: a ready queue in the order of the program.

The cost follows the reactions that run, never the size of the program.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush

from reactorlib.elaboration.records import Cell, Node
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.event_queue import Events
from reactorlib.worker.worker import BoundCall, Worker


@dataclass(slots=True, eq=False)
class _Heard:
    """A cell with its hearers."""

    reader: Reader
    ranks: list[int]  # of nodes
    captures: list[int]  # delayed connections, by trigger


class Walk:
    """Walks one tag at a time on worker 0; `running` is the node that runs, for error messages."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.graph = worker.graph
        self.running: Node | None = None
        self._at = worker.scheduler.at
        self._rank = worker.program.order.rank
        self._node_at = sorted(range(len(self._rank)), key=self._rank.__getitem__)  # by rank
        self._heard: dict[Cell, _Heard] = {}
        self._calls: dict[int, tuple[Node, BoundCall, list[_Heard]]] = {}  # by rank, with the cells that it may set

    def schedule(self, events: Iterable[Event], time: int, soon: Events) -> bool:
        """Run the tag of these events. True: the run ends with it."""
        arrived: list[_Heard] = []
        stops = False
        for event in events:
            trigger = event.trigger
            event.is_present = True
            arrived.append(self._hear(trigger.cell))
            if trigger.period:
                self._at(event, time + trigger.period, None)
            stops = stops or trigger.kind == "shutdown"
        present = self._react(arrived)
        for heard in present:
            for index in heard.captures:
                self._capture(index, heard.reader, time, soon)
        for heard in present:
            heard.reader.is_present = False
        self.worker.scheduler.end_tag()
        return stops

    def _react(self, arrived: list[_Heard]) -> dict[_Heard, None]:
        """Run the nodes that follow, in order, and return all that was present in the end."""
        heap: list[int] = []
        queued: set[int] = set()
        present: dict[_Heard, None] = {}
        while True:
            for heard in arrived:
                present[heard] = None
                for rank in heard.ranks:
                    if rank not in queued:
                        queued.add(rank)
                        heappush(heap, rank)
            if not heap:
                return present
            rank = heappop(heap)
            self.running, (run, arguments), sets = self._calls.get(rank) or self._call(rank)
            run(*arguments)
            self.running = None
            arrived = [heard for heard in sets if heard.reader.is_present and heard not in present]

    def _hear(self, cell: Cell) -> _Heard:
        found = self._heard.get(cell)
        if found is None:
            ranks = sorted({self._rank[node] for node in self.graph.heard_by.get(cell, ())})
            captures = self.graph.captured_by.get(cell, [])
            found = self._heard[cell] = _Heard(self.worker.cell(cell), ranks, captures)
        return found

    def _call(self, rank: int) -> tuple[Node, BoundCall, list[_Heard]]:
        node = self._node_at[rank]
        sets = [self._hear(cell) for cell in dict.fromkeys(self.graph.writes[node])]
        found = self._calls[rank] = node, self.worker.call(node), sets
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
