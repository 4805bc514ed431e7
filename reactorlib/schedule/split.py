"""One plan cut by a given partition: the part of each worker, with the sends and waits where a value crosses."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import chain, product

from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import NodeCall, Plan, Send, Wait

Items = list[NodeCall | Send | Wait]  # of a part, or of one call with its waits and sends


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
        of_node, readers = partition.of_node, program.graph.readers.items()
        self.readers = {cell: {of_node[node] for node in nodes} for cell, nodes in readers}  # workers by cell

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
        return frozenset(self.graph.origins(crossing))  # a forwarded value must be where the last reader sees it

    def split(self, plan: Plan) -> dict[int, Plan]:
        """The part of each worker that takes part. Waits come right before the first call that needs them."""
        return _Cut(self, plan).split()


@dataclass
class _Draft:
    """The part of one worker, under way."""

    items: list[Items] = field(default_factory=list)  # by call
    events: dict[int, None] = field(default_factory=dict)
    captures: list[int] = field(default_factory=list)
    cells: dict[Cell, None] = field(default_factory=dict)  # that its calls set or its waits bring
    writes: list[tuple[Items, Cell]] = field(default_factory=list)  # of calls, with the cells that they set


class _Cut:
    """The cut of one plan, under way.

    Say worker 1 runs call 0, which sets a, and call 1, which sets b. Worker 0 runs call 2, which reads a, and call 3,
    which reads b. The parts:

        worker 1: call 0, Send(0, a), call 1, then b with the message that ends the part
        worker 0: Wait(1, a), call 2, Wait(1, b), call 3
    """

    def __init__(self, splitter: Splitter, plan: Plan) -> None:
        self.plan = plan
        self.graph, self.triggers = splitter.graph, splitter.program.triggers
        self.of_node, self.readers, self.copies = splitter.partition.of_node, splitter.readers, splitter.copies
        self.written: dict[Cell, tuple[int, int]] = {}  # the worker that set a cell last, and where in its `writes`
        self.carried: dict[tuple[int, int], int] = defaultdict(int)  # how many of `writes` a pair has exchanged
        self.drafts: dict[int, _Draft] = defaultdict(_Draft)
        self.wanted: dict[int, set[Cell]] = defaultdict(set)  # by worker: what its calls read, with `copies` ever read
        for call in plan.calls:
            self.wanted[self.of_node[call.node]].update(self.graph.reads[call.node])
        for cell in plan.cleared if self.copies else ():
            for worker in self.readers.get(cell, ()):
                self.wanted[worker].add(cell)

    def split(self) -> dict[int, Plan]:
        for call in self.plan.calls:
            worker = self.of_node[call.node]
            items: Items = []
            draft = self.drafts[worker]
            for source, upto in self._needs(worker, call).items():
                cells = self._carry(source, worker, upto)
                self.drafts[source].writes[upto][0].append(Send(worker, cells))
                items.append(Wait(source, cells))
                draft.cells.update(dict.fromkeys(cells))
            items.append(call)
            draft.items.append(items)
            for cell in self.graph.writes[call.node]:
                self.written[cell] = worker, len(draft.writes)
                draft.writes.append((items, cell))
                draft.cells[cell] = None
        if self.copies:
            self._send_the_rest()
        for index in self.plan.events:
            users = self.readers.get(self.triggers[index].cell, ()) if self.copies else ()
            for worker in (0, *users):
                self.drafts[worker].events[index] = None
        for index in self.plan.captures:
            source_cell = self.triggers[index].source
            assert source_cell is not None
            self.drafts[self.written.get(source_cell, (0, 0))[0]].captures.append(index)
        return self._parts()

    def _needs(self, worker: int, call: NodeCall) -> dict[int, int]:
        """The workers that a call must wait for, each with the last of its `writes` that the call reads."""
        needs: dict[int, int] = {}
        for cell in self.graph.reads[call.node]:
            source, at = self.written.get(cell, (worker, 0))
            if source != worker and at >= self.carried[source, worker]:
                needs[source] = max(at, needs.get(source, 0))
        return needs

    def _carry(self, source: int, target: int, upto: int) -> tuple[Cell, ...]:
        """The wanted cells that the source has set since its last message to the target, up to the end of a call."""
        rows, start = self.drafts[source].writes, self.carried[source, target]
        end = upto
        while end < len(rows) and rows[end][0] is rows[upto][0]:
            end += 1
        self.carried[source, target] = end
        return tuple(dict.fromkeys(cell for _, cell in rows[start:end] if cell in self.wanted[target]))

    def _send_the_rest(self) -> None:
        """Cells that no call of this tag reads still go to the workers that hold a copy."""
        sources = sorted(worker for worker, draft in self.drafts.items() if draft.writes)
        for source, target in product(sources, sorted(self.wanted)):
            rows = self.drafts[source].writes
            cells = self._carry(source, target, len(rows) - 1) if source != target else ()
            if cells:
                self.drafts[source].items.append([Send(target, cells)])
                self.drafts[target].items.append([Wait(source, cells)])
                self.drafts[target].cells.update(dict.fromkeys(cells))

    def _parts(self) -> dict[int, Plan]:
        """The parts. A Send to worker 0 at the end of a part becomes the message that ends it."""
        parts, hub = dict[int, Plan](), self.drafts.pop(0, None) or _Draft()
        for worker, draft in sorted(self.drafts.items()):
            items, last = list(chain.from_iterable(draft.items)), tuple[Cell, ...]()
            end = items.pop() if items else None
            if isinstance(end, Send) and end.to == 0:
                last = end.cells if self.copies else ()
            else:
                items += () if end is None else (end,)
                hub.items.append([Wait(worker, ())])
            parts[worker] = self._part(worker, draft, items, last)
        parts[0] = self._part(0, hub, list(chain.from_iterable(hub.items)), ())
        return parts

    def _part(self, worker: int, draft: _Draft, items: Items, last: tuple[Cell, ...]) -> Plan:
        if self.copies:
            cleared = tuple({self.triggers[index].cell: None for index in draft.events} | draft.cells)
        else:
            cleared = self.plan.cleared if worker == 0 else ()
        return self.plan._replace(worker=worker, marked=tuple(draft.events), items=tuple(items), last=last,
                                  captures=tuple(draft.captures), cleared=cleared)  # fmt: skip
