"""Invariants of the parts of a split, asserted with REACTORLIB_DEBUG=1 by a simulation of their messages."""

from __future__ import annotations

from collections import defaultdict, deque

from reactorlib.elaboration.records import Cell, Node
from reactorlib.schedule.plan import Plan, Send, Step, Wait
from reactorlib.schedule.split import Splitter


def check_split(splitter: Splitter, plan: Plan, parts: dict[int, Plan]) -> None:
    """Each step runs once, on its worker, in order. The parts come to an end, and each step sees what it reads."""
    steps: list[tuple[Node, int]] = []
    for worker, part in parts.items():
        steps += [(step.node, worker) for step in part.steps]
    of_node, rank = splitter.partition.of_node, splitter.program.order.rank
    assert sorted(steps) == sorted((step.node, of_node[step.node]) for step in plan.steps), "a step is not in its part"
    for part in parts.values():
        assert part.steps == sorted(part.steps, key=lambda step: rank[step.node]), "a part is out of order"
    _Simulation(splitter, plan, parts).run()


class _Simulation:
    """The parts under way: each goes on as far as its messages let it."""

    def __init__(self, splitter: Splitter, plan: Plan, parts: dict[int, Plan]) -> None:
        self._splitter = splitter
        self._items = {worker: deque(part.items) for worker, part in parts.items()}
        self._parts = parts
        self._mail: dict[tuple[int, int], deque[tuple[tuple[Cell, ...], dict[Cell, Node]]]] = defaultdict(deque)
        # By worker: the step that set what it knows of a cell.
        self._known: dict[int, dict[Cell, Node]] = defaultdict(dict)
        # By step: for each cell that it reads, the last step before it that sets this cell.
        self._expected: dict[Node, dict[Cell, Node]] = {}
        graph, last = splitter.graph, dict[Cell, Node]()
        for step in plan.steps:
            self._expected[step.node] = {cell: last[cell] for cell in graph.reads[step.node] if cell in last}
            last.update(dict.fromkeys(graph.writes[step.node], step.node))

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
                self._step(worker, item, known)
            items.popleft()
        if worker:
            self._send(worker, 0, self._parts[worker].last)
        return True

    def _send(self, worker: int, to: int, cells: tuple[Cell, ...]) -> None:
        known = self._known[worker]
        carried = {cell: known[cell] for cell in cells if cell in known} if self._splitter.copies else {**known}
        self._mail[worker, to].append((cells, carried))

    def _step(self, worker: int, step: Step, known: dict[Cell, Node]) -> None:
        for cell, writer in self._expected[step.node].items():
            assert known.get(cell) == writer, f"worker {worker} reads a cell before it knows what was set"
        known.update(dict.fromkeys(self._splitter.graph.writes[step.node], step.node))
