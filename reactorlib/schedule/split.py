"""One plan cut by a partition: the part of each worker, with the sends and waits where a value crosses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

from reactorlib.elaboration.program import Cell, Elaborated
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Part, Plan, Send, Split, Step, Wait


@dataclass
class _Draft:
    items: list[Step | Send | Wait] = field(default_factory=list)
    events: dict[int, None] = field(default_factory=dict)
    captures: list[int] = field(default_factory=list)
    cells: dict[Cell, None] = field(default_factory=dict)
    last: tuple[Cell, ...] = ()


class Splitter:
    """Cuts plans of one program by one partition.

    `copies`: workers hold copies of cells, as processes do. Then a value also goes to workers that read it at later
    tags. With shared cells, as of threads, only the order matters.
    """

    def __init__(self, program: Elaborated, partition: Partition, copies: bool) -> None:
        self.program = program
        self.graph = program.graph
        self.partition = partition
        self.copies = copies
        # The workers on which a node reads a cell.
        self.readers = {
            cell: {partition.of_node[node] for node in nodes} for cell, nodes in program.graph.readers.items()
        }

    def crossing_cells(self) -> frozenset[Cell]:
        """Cells whose values other workers read, now or after a delay: their buffers belong where all can read."""
        program, readers = self.program, self.readers
        owner = {cell: worker for node, worker in enumerate(self.partition.of_node) for cell in self.graph.writes[node]}
        crossing = {cell for cell, worker in owner.items() if readers.get(cell, set()) - {worker}}
        for trigger in program.triggers:
            if trigger.source is not None:  # the value goes by way of worker 0, where the event queue is
                users = {0, *readers.get(trigger.cell, ())}
                if users - {owner.get(trigger.source, 0)}:
                    crossing.add(trigger.source)
        new = crossing
        while new:  # a forwarded value must be where the last reader sees it
            handed_on = {forward.source for forward in program.forwards if forward.target in new}
            new = handed_on - crossing
            crossing |= new
        return frozenset(crossing)

    def split(self, plan: Plan) -> Split:
        """The part of each worker; waits stand right before the first step that needs them."""
        drafts: dict[int, _Draft] = defaultdict(_Draft)
        writes: dict[int, list[tuple[int, Cell]]] = defaultdict(list)  # worker -> (step, cell) in order
        written: dict[Cell, tuple[int, int]] = {}  # cell -> worker, step that writes it last
        sends: dict[int, list[tuple[int, int]]] = defaultdict(list)  # after a step: (from, to)
        waits: dict[int, dict[int, int]] = {}  # before a step: from -> up to which step
        synced: dict[tuple[int, int], int] = defaultdict(lambda: -1)
        wanted = self._wanted(plan)
        for number, step in enumerate(plan.steps):
            worker = self.partition.of_node[step.node]
            needs = waits[number] = {}
            for cell in self.graph.reads[step.node]:
                source, upto = written.get(cell, (worker, -1))
                if source != worker and upto > synced[source, worker]:
                    needs[source] = max(upto, needs.get(source, -1))
            for source, upto in needs.items():
                synced[source, worker] = upto
                sends[upto].append((source, worker))
            for cell in self.graph.writes[step.node]:
                written[cell] = worker, number
                writes[worker].append((number, cell))
        self._lay_out(plan, drafts, writes, waits, sends, wanted)
        self._events(plan, drafts)
        self._captures(plan, drafts, written)
        return self._finish(plan, drafts)

    def _wanted(self, plan: Plan) -> dict[int, set[Cell]]:
        """The cells that each worker wants: those that its steps read, with `copies` those that it ever reads."""
        wanted: dict[int, set[Cell]] = defaultdict(set)
        for step in plan.steps:
            wanted[self.partition.of_node[step.node]].update(self.graph.reads[step.node])
        if self.copies:
            for cell in plan.cleared:
                for worker in self.readers.get(cell, ()):
                    wanted[worker].add(cell)
        return wanted

    def _lay_out(
        self,
        plan: Plan,
        drafts: dict[int, _Draft],
        writes: dict[int, list[tuple[int, Cell]]],
        waits: dict[int, dict[int, int]],
        sends: dict[int, list[tuple[int, int]]],
        wanted: dict[int, set[Cell]],
    ) -> None:
        """Steps in order, each preceded by its waits and followed by the sends that others wait for."""
        carried: dict[tuple[int, int], int] = defaultdict(int)  # how many of `writes` a pair has exchanged

        def cells_between(source: int, target: int, upto: int) -> tuple[Cell, ...]:
            rows = writes[source]
            start = end = carried[source, target]
            while end < len(rows) and rows[end][0] <= upto:
                end += 1
            carried[source, target] = end
            return tuple(dict.fromkeys(cell for _, cell in rows[start:end] if cell in wanted[target]))

        carrying: dict[tuple[int, int, int], tuple[Cell, ...]] = {}
        for number, step in enumerate(plan.steps):
            worker = self.partition.of_node[step.node]
            draft = drafts[worker]
            for source, upto in waits[number].items():
                cells = carrying[source, worker, upto]
                draft.items.append(Wait(source, cells))
                draft.cells.update(dict.fromkeys(cells))
            draft.items.append(step)
            draft.cells.update(dict.fromkeys(self.graph.writes[step.node]))
            for source, target in sends.get(number, ()):
                cells = carrying[source, target, number] = cells_between(source, target, number)
                draft.items.append(Send(target, cells))
        if self.copies:
            # Cells that no step of this tag reads still go to the workers that hold a copy.
            for source, target in product(sorted(writes), sorted(wanted)):
                cells = cells_between(source, target, len(plan.steps)) if source != target else ()
                if cells:
                    drafts[source].items.append(Send(target, cells))
                    drafts[target].items.append(Wait(source, cells))
                    drafts[target].cells.update(dict.fromkeys(cells))

    def _events(self, plan: Plan, drafts: dict[int, _Draft]) -> None:
        for index in plan.events:
            cell = self.program.triggers[index].cell
            drafts[0].events[index] = None
            if self.copies:
                for worker in self.readers.get(cell, ()):
                    drafts[worker].events[index] = None

    def _captures(self, plan: Plan, drafts: dict[int, _Draft], written: dict[Cell, tuple[int, int]]) -> None:
        for index in plan.captures:
            source = self.program.triggers[index].source
            assert source is not None
            drafts[written[source][0] if source in written else 0].captures.append(index)

    def _finish(self, plan: Plan, drafts: dict[int, _Draft]) -> Split:
        """Every other worker's part ends with a message to worker 0: its last Send to it, if nothing follows."""
        parts: dict[int, Part] = {}
        ends: list[Wait] = []
        for worker in sorted(drafts):
            if worker == 0:
                continue
            draft = drafts[worker]
            last: tuple[Cell, ...] = ()
            if draft.items and isinstance(draft.items[-1], Send) and draft.items[-1].to == 0:
                last = draft.items[-1].cells if self.copies else ()
                draft.items.pop()
            else:
                ends.append(Wait(worker, ()))
            draft.last = last
        drafts[0].items += ends
        for worker, draft in drafts.items():
            if self.copies:
                present = {self.program.triggers[index].cell: None for index in draft.events} | draft.cells
                cleared = tuple(present)
            else:
                cleared = plan.cleared if worker == 0 else ()
            parts[worker] = Part(
                worker, tuple(draft.events), tuple(draft.items), tuple(draft.captures), cleared, draft.last
            )
        return Split(plan, parts)
