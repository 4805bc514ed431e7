"""One plan cut by a partition: the part of each worker, with the sends and waits where a value crosses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import product

from reactorlib.elaboration.program import Cell, Elaborated
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Part, Plan, Send, Split, Step, Wait


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
        """The part of each worker. Waits stand right before the first step that needs them."""
        return _Cut(self, plan).split()


@dataclass
class _Draft:
    """The part of one worker, under way."""

    items: list[Step | Send | Wait] = field(default_factory=list)
    events: dict[int, None] = field(default_factory=dict)
    captures: list[int] = field(default_factory=list)
    cells: dict[Cell, None] = field(default_factory=dict)  # that its steps set or its waits bring
    last: tuple[Cell, ...] = ()


class _Cut:
    """The cut of one plan, under way. Steps are numbered in the order of the plan.

    Say worker 1 runs step 0, which sets a, and step 1, which sets b; worker 0 runs step 2, which reads a, and step 3,
    which reads b. Then `waits` is {2: {1: 0}, 3: {1: 1}}, `sends` is {0: [(1, 0)], 1: [(1, 0)]}, and the parts are

        worker 1: step 0, Send(0, a), step 1, then b with the message that ends the part
        worker 0: Wait(1, a), step 2, Wait(1, b), step 3
    """

    def __init__(self, splitter: Splitter, plan: Plan) -> None:
        self.plan = plan
        self.graph, self.triggers = splitter.graph, splitter.program.triggers
        self.of_node, self.readers, self.copies = splitter.partition.of_node, splitter.readers, splitter.copies
        self.writes: dict[int, list[tuple[int, Cell]]] = defaultdict(list)  # by worker: steps with the cells they set
        self.written: dict[Cell, tuple[int, int]] = {}  # the worker and the step that set a cell last
        self.waits: dict[int, dict[int, int]] = {}  # before a step: for which worker, up to which of its steps
        self.sends: dict[int, list[tuple[int, int]]] = defaultdict(list)  # after a step: from and to which worker
        self.carried: dict[tuple[int, int], int] = defaultdict(int)  # how many of `writes` a pair has exchanged
        self.drafts: dict[int, _Draft] = defaultdict(_Draft)

    def split(self) -> Split:
        self._meet()
        self._lay_out()
        for index in self.plan.events:
            users = self.readers.get(self.triggers[index].cell, ()) if self.copies else ()
            for worker in (0, *users):
                self.drafts[worker].events[index] = None
        for index in self.plan.captures:
            source = self.triggers[index].source
            assert source is not None
            self.drafts[self.written.get(source, (0, 0))[0]].captures.append(index)
        self._end()
        return Split(self.plan, {worker: self._part(worker, draft) for worker, draft in self.drafts.items()})

    def _meet(self) -> None:
        """Find the steps that must wait for another worker, and where that worker sends."""
        synced: dict[tuple[int, int], int] = defaultdict(lambda: -1)  # from, to: up to which step
        for number, step in enumerate(self.plan.steps):
            worker = self.of_node[step.node]
            needs = self.waits[number] = {}
            for cell in self.graph.reads[step.node]:
                source, upto = self.written.get(cell, (worker, -1))
                if source != worker and upto > synced[source, worker]:
                    needs[source] = max(upto, needs.get(source, -1))
            for source, upto in needs.items():
                synced[source, worker] = upto
                self.sends[upto].append((source, worker))
            for cell in self.graph.writes[step.node]:
                self.written[cell] = worker, number
                self.writes[worker].append((number, cell))

    def _lay_out(self) -> None:
        """Put steps in order, each after its waits and before the sends that others wait for."""
        wanted = self._wanted()
        carrying: dict[tuple[int, int, int], tuple[Cell, ...]] = {}
        for number, step in enumerate(self.plan.steps):
            worker = self.of_node[step.node]
            draft = self.drafts[worker]
            for source, upto in self.waits[number].items():
                self._wait(worker, source, carrying[source, worker, upto])
            draft.items.append(step)
            draft.cells.update(dict.fromkeys(self.graph.writes[step.node]))
            for source, target in self.sends.get(number, ()):
                cells = carrying[source, target, number] = self._carry(source, target, number, wanted[target])
                draft.items.append(Send(target, cells))
        if self.copies:
            # Cells that no step of this tag reads still go to the workers that hold a copy.
            for source, target in product(sorted(self.writes), sorted(wanted)):
                cells = self._carry(source, target, len(self.plan.steps), wanted[target]) if source != target else ()
                if cells:
                    self.drafts[source].items.append(Send(target, cells))
                    self._wait(target, source, cells)

    def _wait(self, worker: int, source: int, cells: tuple[Cell, ...]) -> None:
        self.drafts[worker].items.append(Wait(source, cells))
        self.drafts[worker].cells.update(dict.fromkeys(cells))

    def _wanted(self) -> dict[int, set[Cell]]:
        """The cells that each worker wants: all that its steps read, with `copies` all that it ever reads."""
        wanted: dict[int, set[Cell]] = defaultdict(set)
        for step in self.plan.steps:
            wanted[self.of_node[step.node]].update(self.graph.reads[step.node])
        for cell in self.plan.cleared if self.copies else ():
            for worker in self.readers.get(cell, ()):
                wanted[worker].add(cell)
        return wanted

    def _carry(self, source: int, target: int, upto: int, wanted: set[Cell]) -> tuple[Cell, ...]:
        """The wanted cells that the source has set since its last message to the target, up to a step."""
        rows = self.writes[source]
        start = end = self.carried[source, target]
        while end < len(rows) and rows[end][0] <= upto:
            end += 1
        self.carried[source, target] = end
        return tuple(dict.fromkeys(cell for _, cell in rows[start:end] if cell in wanted))

    def _end(self) -> None:
        """End the part of each other worker with a message to worker 0: its last Send to it, if nothing follows."""
        hub = self.drafts[0]
        for worker, draft in sorted(self.drafts.items()):
            if worker == 0:
                continue
            if draft.items and isinstance(draft.items[-1], Send) and draft.items[-1].to == 0:
                last = draft.items.pop()
                draft.last = last.cells if self.copies and isinstance(last, Send) else ()
            else:
                hub.items.append(Wait(worker, ()))

    def _part(self, worker: int, draft: _Draft) -> Part:
        if self.copies:
            cleared = tuple({self.triggers[index].cell: None for index in draft.events} | draft.cells)
        else:
            cleared = self.plan.cleared if worker == 0 else ()
        return Part(worker, tuple(draft.events), tuple(draft.items), tuple(draft.captures), cleared, draft.last)
