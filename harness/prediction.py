"""The scaling of a program, as a calculation: its graph is static, and a traced run has the cost of each reaction.

The prediction for n workers simulates the tags of the traced run on the partition of n workers. With free messages it
bounds the speed-up of any measurement. With the cost of messages, and on as many processors as there are, it predicts
the measurement.

The parts are those that an executor of worker processes runs: its partition, its split of a plan, its messages. A
worker continues until it must wait, on the processor that is free first. Of several that could continue, the one that
has waited longest does. Nothing is run.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import groupby
from typing import NamedTuple

from reactorlib.elaboration.records import Cell, Elaborated, Node
from reactorlib.executors.protocol import CARRYING
from reactorlib.schedule.partition import partition
from reactorlib.schedule.plan import NodeCall, Plan, Send, Wait, plan_of
from reactorlib.schedule.split import Splitter
from reactorlib.worker.recorder import Span

WORKERS = (1, 2, 4, 8, 16, 32, 64)

Items = list[NodeCall | Send | Wait]
# The path of each port that a reaction set, and the bytes of its value.
Written = Sequence[tuple[str, int]]


class MessageCost(NamedTuple):
    """The cost of a message between two workers, in ns (LogGP: Alexandrov et al. 1995).

    Its sender's processor takes `send_ns`, and `byte_ns` for each byte. Its receiver's processor takes `receive_ns`.
    Between the two it takes `latency_ns`.
    """

    send_ns: float
    receive_ns: float
    latency_ns: float
    byte_ns: float


FREE = MessageCost(0.0, 0.0, 0.0, 0.0)


def predict(
    program: Elaborated,
    spans: Iterable[Span],
    workers: Sequence[int] = WORKERS,
    *,
    cost: MessageCost = FREE,
    written: Sequence[Written] = (),
    cores: int | None = None,
) -> dict[int, float]:
    """The speed-up over one worker by number of workers, from a traced run (`RunResult.spans`, of any executor).

    `cost` is that of a message between two workers. `written` has for each span the bytes that its reaction set;
    without it none are paid for. Values that a reaction schedules for an action count as no bytes, as a trace does not
    have them. On `cores` processors the workers take turns (default: each has its own).
    """
    simulations = {count: _Simulation(program, count, cost, cores) for count in workers}
    totals = dict.fromkeys(simulations, 0.0)
    work, sizes = 0, iter(written)
    for _, same in groupby(spans, key=lambda span: span.tag):
        took: dict[Node, int] = {}
        cells: dict[Cell, int] = {}  # the bytes of each that was set
        for span in same:
            took[span.reaction] = span.ended_ns - span.began_ns
            if pairs := next(sizes, ()):
                paths = {program.cell_path(cell): cell for cell in program.reactions[span.reaction].writes}
                cells.update((paths[path], size) for path, size in pairs)
        work += sum(took.values())
        for count, simulation in simulations.items():
            totals[count] += simulation.time_ns(took, cells)
    return {n: work / totals[n] if totals[n] else 1.0 for n in workers}


class _Simulation:
    """The tags of one program without modes on a number of workers and processors (None: one for each worker)."""

    def __init__(self, program: Elaborated, workers: int, cost: MessageCost, cores: int | None) -> None:
        self._program, self._cost, self._cores = program, cost, cores or workers
        self._splitter = Splitter(program, partition(program, workers), copies=True)
        heard = defaultdict[Cell, set[Node]](set)  # the reactions that hear of a cell, also by way of its copies
        for reaction in program.reactions:
            for cell in program.graph.origins(reaction.triggers):
                heard[cell].add(reaction.index)
        self._heard = [heard[trigger.cell] for trigger in program.triggers]
        # Of the reactions that ran at a tag: the plan, and the steps and messages of each worker.
        self._tags: dict[frozenset[Node], tuple[Plan, dict[int, Items]]] = {}
        self._delayed: dict[Cell, int] = {}  # bytes of what delayed connections hold, by the cell that will have it

    def time_ns(self, took: Mapping[Node, int], written: Mapping[Cell, int]) -> float:
        """The time of the next tag, from the time of each reaction that ran and the bytes of each cell that one set."""
        ran = frozenset(took)
        if ran not in self._tags:
            # A trace has no triggers. Without modes those were present whose reactions all ran.
            plan = plan_of(self._program, {index for index, heard in enumerate(self._heard) if heard and heard <= ran})
            self._tags[ran] = plan, _parts(self._splitter.split(plan), self._program)
        plan, parts = self._tags[ran]
        return _simulated(parts, took, self._sizes(plan, written), self._cost, self._cores)

    def _sizes(self, plan: Plan, written: Mapping[Cell, int]) -> dict[Cell, int]:
        """The bytes of all cells of this tag. Those of delayed connections are kept for a later tag."""
        graph, triggers = self._program.graph, self._program.triggers
        sizes = dict(written)
        for index in plan.events:
            if (cell := triggers[index].cell) in self._delayed:
                sizes[cell] = self._delayed.pop(cell)
        for node, _ in plan.calls:
            if node >= graph.count and (forward := graph.forward(node)).source in sizes:
                sizes[forward.target] = sizes[forward.source]
        for index in plan.captures:
            if (source := triggers[index].source) in sizes:
                self._delayed[triggers[index].cell] = sizes[source]
        return sizes


def _parts(split: Mapping[int, Plan], program: Elaborated) -> dict[int, Items]:
    """The steps and messages of each worker at a tag, including those by which its part begins and ends."""
    triggers = program.triggers
    parts: dict[int, Items] = {0: []}
    sent: set[tuple[Cell, ...]] = set()
    for worker, part in split.items():
        if worker:
            carried = tuple(triggers[index].cell for index in part.marked if triggers[index].kind in CARRYING)
            # The same values for several workers are encoded once.
            parts[0].append(Send(worker, () if carried in sent else carried))
            sent.add(carried)
            # Captured values go to worker 0, which keeps the event queue.
            sources = (triggers[index].source for index in part.captures)
            captured = (source for source in sources if source is not None)
            parts[worker] = [Wait(0, ()), *part.items, Send(0, (*part.last, *captured))]
    parts[0] += split[0].items
    return parts


def _simulated(
    parts: Mapping[int, Items], took: Mapping[Node, int], sizes: Mapping[Cell, int], cost: MessageCost, cores: int
) -> float:
    """The time in ns at which the last worker is done."""
    under_way: dict[tuple[int, int], deque[float]] = defaultdict(deque)  # arrivals of messages: from, to
    position = dict.fromkeys(parts, 0)
    waiting: dict[int, tuple[int, float]] = {}  # for which worker, since when
    ready = [(0.0, worker) for worker in parts]
    free = [0.0] * cores  # the time at which each processor is free
    heapify(ready)
    while ready:
        since, worker = heappop(ready)
        now = max(since, heappop(free))
        for item in parts[worker][position[worker] :]:
            if isinstance(item, NodeCall):
                now += took.get(item.node, 0)
            elif isinstance(item, Send):
                now += cost.send_ns + cost.byte_ns * sum(sizes.get(cell, 0) for cell in item.cells)
                under_way[worker, item.to].append(now + cost.latency_ns)
                if waiting.get(item.to, (None,))[0] == worker:
                    _, from_then = waiting.pop(item.to)
                    heappush(ready, (max(from_then, now + cost.latency_ns), item.to))
            else:
                arriving = under_way[item.of, worker]
                if not arriving:
                    waiting[worker] = item.of, now
                    break
                if arriving[0] > now:
                    heappush(ready, (arriving[0], worker))
                    break
                arriving.popleft()
                now += cost.receive_ns
            position[worker] += 1
        heappush(free, now)
    return max(free)
