"""How far a program can scale, as a calculation: its graph is static, a traced run says what each reaction costs.

Work is the time of all reactions, span the time of the longest chain of dependent ones, tag by tag. The
prediction for n workers plays each tag on the partition that n workers would use, at no cost of communication:
an upper bound for what n workers can measure. (Brent 1974: time on n workers >= max(work / n, span).)
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from reactorlib.elaboration.program import Elaborated
from reactorlib.schedule.partition import partition
from reactorlib.view.timeline.causes import Causes, critical_path
from reactorlib.worker.trace import Span

WORKERS = (1, 2, 4, 8, 16, 32, 64)


@dataclass(frozen=True, slots=True)
class Prediction:
    """Work and span in ns, and the predicted speed-up over one worker by number of workers."""

    work_ns: int
    span_ns: int
    speed_up: dict[int, float]


def predict(program: Elaborated, spans: Iterable[Span], workers: Sequence[int] = WORKERS) -> Prediction:
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
    placements = {count: partition(program, count).of_node for count in workers}
    placements[1] = (0,) * len(program.reactions)
    totals = dict.fromkeys(placements, 0)
    longest = 0
    for at_tag, causes in Causes(program).by_tag(list(spans)):
        longest += sum(at_tag[i].ended_ns - at_tag[i].began_ns for i in critical_path(at_tag, causes))
        for count, of_node in placements.items():
            totals[count] += _makespan(at_tag, causes, of_node)
    return Prediction(totals[1], longest, {n: totals[1] / totals[n] if totals[n] else 1.0 for n in workers})


def _makespan(spans: Sequence[Span], causes: Sequence[Sequence[int]], of_node: Sequence[int]) -> int:
    """The time of a tag: each reaction begins when its worker is free and what it waits for is done."""
    ends: list[int] = []
    free: dict[int, int] = defaultdict(int)
    for span, awaited in zip(spans, causes, strict=True):
        worker = of_node[span.reaction]
        begin = max(free[worker], *(ends[position] for position in awaited), 0)
        free[worker] = begin + span.ended_ns - span.began_ns
        ends.append(free[worker])
    return max(free.values(), default=0)
