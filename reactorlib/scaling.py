"""How far a program can scale, as a calculation: its graph is static, a traced run says what each reaction costs.

Work is the time of all reactions, span the time of the longest chain of dependent ones, tag by tag. The
prediction for n workers plays each tag on the partition that n workers would use, at no cost of communication:
an upper bound for what n workers can measure. (Brent 1974: time on n workers >= max(work / n, span).)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from reactorlib.partition import partition
from reactorlib.plan import Reach
from reactorlib.program import Cell, Program
from reactorlib.trace import Span

WORKERS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Work and span in ns, and the predicted speed-up over one worker by number of workers."""

    work_ns: int
    span_ns: int
    speed_up: dict[int, float]

    @property
    def parallelism(self) -> float:
        """Work over span: the speed-up that no number of workers exceeds."""
        return self.work_ns / self.span_ns if self.span_ns else 1.0


def predict(program: Program, spans: Iterable[Span], workers: Sequence[int] = WORKERS) -> Prediction:
    """What a traced run (`RunResult.spans`, of any executor) says about other numbers of workers.

    >>> from reactorlib import Bank, Input, Output, Reactor, Span, Tag, connect, elaborate, reaction, startup
    >>> class Source(Reactor):
    ...     out = Output()
    ...     @reaction(startup, effects=out)
    ...     def begin(self, out): out.set(1)
    >>> class Sink(Reactor):
    ...     inp = Input()
    ...     @reaction(inp)
    ...     def work(self, inp): ...
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.source, self.sinks = Source(), Bank(Sink, 4)
    ...         connect(self.source.out, self.sinks.inp)
    >>> program = elaborate(Main)
    >>> spans = [Span(reaction, Tag(0, 0), 0, 100, 0) for reaction in range(5)]  # as if each took 100 ns
    >>> prediction = predict(program, spans, [1, 2, 64])
    >>> prediction.work_ns, prediction.span_ns, prediction.speed_up
    (500, 200, {1: 1.0, 2: 1.6666666666666667, 64: 2.5})
    """
    graph = _Graph(program)
    placements = {count: partition(program, count).of_node for count in workers}
    placements[0] = tuple(range(len(program.reactions)))  # a worker for each reaction: the span
    placements[1] = (0,) * len(program.reactions)
    totals = dict.fromkeys(placements, 0)
    for _, group in groupby(spans, key=lambda span: span.tag):
        ran = [(span.reaction, span.ended_ns - span.began_ns) for span in group]
        for count, of_node in placements.items():
            totals[count] += graph.makespan(ran, of_node)
    return Prediction(totals[1], totals[0], {n: totals[1] / totals[n] if totals[n] else 1.0 for n in workers})


class _Graph:
    """Which reactions wait for which at one tag."""

    def __init__(self, program: Program) -> None:
        self.rank = program.order.rank
        self.instance_of = [id(reaction.instance) for reaction in program.reactions]
        self.reads: list[tuple[Cell, ...]] = [reaction.reads for reaction in program.reactions]
        self.writes: list[tuple[Cell, ...]] = [reaction.writes for reaction in program.reactions]
        reach = Reach(program)
        self.copied = {f.target: f.source for f in program.forwards}
        self.read_at_all = set(reach.heard_by) | {cell for cells in self.reads for cell in cells}

    def makespan(self, ran: Sequence[tuple[int, int]], of_node: Sequence[int]) -> int:
        """The time of a tag: each reaction begins when its worker is free and what it reads is there."""
        ready: dict[Cell, int] = {}
        free: dict[int, int] = defaultdict(int)
        owner_free: dict[int, int] = defaultdict(int)
        for reaction, cost in sorted(ran, key=lambda item: self.rank[item[0]]):
            worker, owner = of_node[reaction], self.instance_of[reaction]
            inputs = (ready.get(self.copied.get(cell, cell), 0) for cell in self.reads[reaction])
            end = max(free[worker], owner_free[owner], *inputs, 0) + cost
            free[worker] = owner_free[owner] = end
            for cell in self.writes[reaction]:
                if cell in self.read_at_all:
                    ready[cell] = end
        return max(free.values(), default=0)
