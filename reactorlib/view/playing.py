"""Plays tags of a traced run on so many workers: what each would do and say to others, in the time that it would take.

The parts are those that an executor of worker processes runs: its partition, its cut of a plan, its messages. A worker
goes on until it must wait, on the processor that is free first; workers that could go on are served in the order in
which they could. Runs nothing.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from reactorlib.elaboration.program import Cell, Elaborated, Node
from reactorlib.executors.protocol import CARRYING
from reactorlib.schedule.partition import partition
from reactorlib.schedule.plan import Part, Plan, Send, Split, Step, Wait, plan_of
from reactorlib.schedule.split import Splitter

Items = list[Step | Send | Wait]


class MessageCost(NamedTuple):
    """What a message between two workers takes, in ns: `send_ns` and, for each byte, `byte_ns` of its sender's
    processor, `receive_ns` of its receiver's, and `latency_ns` between the two. (LogGP: Alexandrov et al. 1995.)
    """

    send_ns: float
    receive_ns: float
    latency_ns: float
    byte_ns: float


FREE = MessageCost(0.0, 0.0, 0.0, 0.0)


class Reached(NamedTuple):
    """What a set of reactions that ran at a tag says about the tag: its plan, and what each worker does."""

    plan: Plan
    parts: dict[int, Items]


class Player:
    """The tags of one program on so many workers and processors (default: one for each worker)."""

    def __init__(self, program: Elaborated, workers: int, cost: MessageCost = FREE, cores: int | None = None) -> None:
        self._program = program
        self._splitter = Splitter(program, partition(program, workers), copies=True)
        self._cost = cost
        self._cores = cores or workers
        self._heard = [program.graph.hearers(trigger.cell) for trigger in program.triggers]
        self._reached: dict[frozenset[Node], Reached] = {}
        self._delayed: dict[Cell, int] = {}  # bytes of what delayed connections hold, by the cell that will have it

    def play(self, took: Mapping[Node, int], written: Mapping[Cell, int]) -> float:
        """The time in ns of the next tag: what each reaction that ran took, and the bytes of each cell that one set."""
        ran = frozenset(took)
        reached = self._reached.get(ran)
        if reached is None:
            plan = plan_of(self._program, self._events(ran))
            reached = self._reached[ran] = Reached(plan, _parts(self._splitter.split(plan), self._program))
        sizes = self._sizes(reached.plan, written)
        return _played(reached.parts, took, sizes, self._cost, self._cores)

    def _events(self, ran: frozenset[Node]) -> set[int]:
        """The triggers that were present, which a trace does not tell: those whose reactions all ran. In a mode that
        was inactive none did: then any that a reaction hears which would not run otherwise.
        """
        events = {index for index, heard in enumerate(self._heard) if heard and heard <= ran}
        planned = {step.node for step in plan_of(self._program, events).steps}
        return events | {index for index, heard in enumerate(self._heard) if heard & (ran - planned)}

    def _sizes(self, plan: Plan, written: Mapping[Cell, int]) -> dict[Cell, int]:
        """The bytes of all cells of this tag; remembers those of delayed connections for theirs."""
        graph, triggers = self._program.graph, self._program.triggers
        sizes = dict(written)
        for index in plan.events:
            if (cell := triggers[index].cell) in self._delayed:
                sizes[cell] = self._delayed.pop(cell)
        for node, _ in plan.steps:
            if node >= graph.count and (forward := graph.forward(node)).source in sizes:
                sizes[forward.target] = sizes[forward.source]
        for index in plan.captures:
            source = triggers[index].source
            if source in sizes:
                self._delayed[triggers[index].cell] = sizes[source]
        return sizes


def _parts(split: Split, program: Elaborated) -> dict[int, Items]:
    """What each worker does at a tag, the messages included by which its part begins and ends."""
    triggers = program.triggers
    parts: dict[int, Items] = {0: []}
    told: set[tuple[Cell, ...]] = set()
    for worker, part in split.parts.items():
        if worker:
            carried = tuple(triggers[index].cell for index in part.events if triggers[index].kind in CARRYING)
            # The same values for several workers are encoded once.
            parts[0].append(Send(worker, () if carried in told else carried))
            told.add(carried)
            parts[worker] = [Wait(0, ()), *part.items, Send(0, (*part.last, *_captured(part, program)))]
    parts[0] += split.parts[0].items
    return parts


def _captured(part: Part, program: Elaborated) -> Iterable[Cell]:
    """The cells whose values go to worker 0, which keeps the event queue."""
    sources = (program.triggers[index].source for index in part.captures)
    return (source for source in sources if source is not None)


def _played(
    parts: Mapping[int, Items], took: Mapping[Node, int], sizes: Mapping[Cell, int], cost: MessageCost, cores: int
) -> float:
    on_their_way: dict[tuple[int, int], deque[float]] = defaultdict(deque)  # when messages arrive: from, to
    position = dict.fromkeys(parts, 0)
    waiting: dict[int, tuple[int, float]] = {}  # for which worker, since when
    ready = [(0.0, worker) for worker in parts]
    free = [0.0] * cores  # from when on each processor is
    heapify(ready)
    while ready:
        since, worker = heappop(ready)
        now = max(since, heappop(free))
        for item in parts[worker][position[worker] :]:
            if isinstance(item, Step):
                now += took.get(item.node, 0)
            elif isinstance(item, Send):
                now += cost.send_ns + cost.byte_ns * sum(sizes.get(cell, 0) for cell in item.cells)
                on_their_way[worker, item.to].append(now + cost.latency_ns)
                if waiting.get(item.to, (None,))[0] == worker:
                    _, from_then = waiting.pop(item.to)
                    heappush(ready, (max(from_then, now + cost.latency_ns), item.to))
            else:
                arriving = on_their_way[item.of, worker]
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
