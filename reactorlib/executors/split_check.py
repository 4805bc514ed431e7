"""Invariants of the parts of a split, asserted with REACTORLIB_DEBUG=1 by a simulation of their messages."""

from __future__ import annotations

from collections import defaultdict, deque

from reactorlib.elaboration.records import Cell, Node
from reactorlib.schedule.plan import NodeCall, Plan, Send, Wait
from reactorlib.schedule.split import Splitter


def check_split(splitter: Splitter, plan: Plan, parts: dict[int, Plan]) -> None:
    """Each call runs once, on its worker, in order. The parts come to an end, and each call sees what it reads."""
    calls: list[tuple[Node, int]] = []
    for worker, part in parts.items():
        calls += [(call.node, worker) for call in part.calls]
    of_node, rank = splitter.partition.of_node, splitter.program.order.rank
    assert sorted(calls) == sorted((call.node, of_node[call.node]) for call in plan.calls), "a call is not in its part"
    for part in parts.values():
        assert part.calls == sorted(part.calls, key=lambda call: rank[call.node]), "a part is out of order"
    _Simulation(splitter, plan, parts).run()


class _Simulation:
    """The parts under way: each goes on as far as its messages let it."""

    def __init__(self, splitter: Splitter, plan: Plan, parts: dict[int, Plan]) -> None:
        self._splitter = splitter
        self._items = {worker: deque(part.items) for worker, part in parts.items()}
        self._parts = parts
        self._mail: dict[tuple[int, int], deque[tuple[tuple[Cell, ...], dict[Cell, Node]]]] = defaultdict(deque)
        # By worker: the call that set what it knows of a cell.
        self._known: dict[int, dict[Cell, Node]] = defaultdict(dict)
        # By call: for each cell that it reads, the last call before it that sets this cell.
        self._expected: dict[Node, dict[Cell, Node]] = {}
        graph, last = splitter.graph, dict[Cell, Node]()
        for call in plan.calls:
            self._expected[call.node] = {cell: last[cell] for cell in graph.reads[call.node] if cell in last}
            last.update(dict.fromkeys(graph.writes[call.node], call.node))

    def run(self) -> None:
        waiting = set(self._parts)
        while waiting:
            moved = [worker for worker in waiting if self._advance(worker)]
            waiting.difference_update(worker for worker in moved if not self._items[worker])
            assert moved, f"workers {sorted(waiting)} wait for each other"

    def _advance(self, worker: int) -> bool:
        """Run a part until a wait whose message is missing. Whether it got on, or is at its end."""
        items, known, rank = self._items[worker], self._known[worker], self._splitter.program.order.rank
        count = len(items)
        while items:
            item = items[0]
            if isinstance(item, Wait):
                if not self._mail[item.of, worker]:
                    return len(items) < count
                cells, known_there = self._mail[item.of, worker].popleft()
                assert not self._splitter.copies or cells == item.cells, (
                    f"worker {worker} expects other cells than worker {item.of} sends"
                )
                for cell, writer in known_there.items():  # of a cell that is shared, the latest is seen
                    is_newer = cell not in known or rank[writer] > rank[known[cell]]
                    if self._splitter.copies or is_newer:
                        known[cell] = writer
            elif isinstance(item, Send):
                self._send(worker, item.to, item.cells)
            else:
                self._call(worker, item, known)
            items.popleft()
        if worker:
            self._send(worker, 0, self._parts[worker].last)
        return True

    def _send(self, worker: int, to: int, cells: tuple[Cell, ...]) -> None:
        known = self._known[worker]
        carried = {cell: known[cell] for cell in cells if cell in known} if self._splitter.copies else {**known}
        self._mail[worker, to].append((cells, carried))

    def _call(self, worker: int, call: NodeCall, known: dict[Cell, Node]) -> None:
        for cell, writer in self._expected[call.node].items():
            assert known.get(cell) == writer, f"worker {worker} reads a cell before it knows what was set"
        known.update(dict.fromkeys(self._splitter.graph.writes[call.node], call.node))
