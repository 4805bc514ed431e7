"""How far a program can scale, as a calculation: its graph is static, a traced run says what each reaction costs.

Work is the time of all reactions, span the time of the longest chain of dependent ones, tag by tag. The prediction for
n workers plays each tag on the partition that n workers would use. At no cost of messages it is an upper bound for
what n workers can measure (Brent 1974: time on n workers >= max(work / n, span)); with what messages cost, and on as
many processors as there are, it is what they should measure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from reactorlib.elaboration.program import Cell, Elaborated
from reactorlib.view.playing import FREE, MessageCost, Player
from reactorlib.view.timeline.causes import Causes, critical_path
from reactorlib.worker.trace import Span

WORKERS = (1, 2, 4, 8, 16, 32, 64)

# What a reaction set: the path of each port, and the bytes of its value.
Written = Sequence[tuple[str, int]]


class Prediction(NamedTuple):
    """Work and span in ns, and the predicted speed-up over one worker by number of workers."""

    work_ns: int
    span_ns: int
    speed_up: dict[int, float]


def predict(
    program: Elaborated,
    spans: Iterable[Span],
    workers: Sequence[int] = WORKERS,
    *,
    cost: MessageCost = FREE,
    written: Sequence[Written] = (),
    cores: int | None = None,
) -> Prediction:
    """What a traced run (`RunResult.spans`, of any executor) says about other numbers of workers.

    `cost`: of a message between two of them; `written`: for each span the bytes that its reaction set, else none are
    paid for. What a reaction schedules for an action counts as no bytes: a trace does not tell. `cores`: on how many
    processors the workers take turns (default: each has its own).

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
    known = list(spans)
    players = {count: Player(program, count, cost, cores) for count in workers}
    totals = dict.fromkeys(players, 0.0)
    work = longest = begun = 0
    for at_tag, causes in Causes(program).by_tag(known):
        longest += sum(at_tag[i].ended_ns - at_tag[i].began_ns for i in critical_path(at_tag, causes))
        took = {span.reaction: span.ended_ns - span.began_ns for span in at_tag}
        work += sum(took.values())
        cells = _cells(program, at_tag, written[begun : begun + len(at_tag)])
        begun += len(at_tag)
        for count, player in players.items():
            totals[count] += player.play(took, cells)
    return Prediction(work, longest, {n: work / totals[n] if totals[n] else 1.0 for n in workers})


def _cells(program: Elaborated, at_tag: Sequence[Span], written: Sequence[Written]) -> Mapping[Cell, int]:
    """The bytes of each cell that was set at a tag."""
    found: dict[Cell, int] = {}
    for span, pairs in zip(at_tag, written, strict=False):
        cells = {program.cell_path(cell): cell for cell in program.reactions[span.reaction].writes} if pairs else {}
        found.update((cells[path], size) for path, size in pairs)
    return found
