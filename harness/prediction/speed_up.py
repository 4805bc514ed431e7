"""The scaling of a program, as a calculation: its graph is static, and a traced run has the cost of each reaction.

The prediction for n workers simulates each tag on the partition of n workers. With free messages it bounds the speed-up
of any measurement. With the cost of messages, and on as many processors as there are, it predicts the measurement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from harness.prediction.simulation import FREE, MessageCost, Simulation
from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.worker.trace import Span

WORKERS = (1, 2, 4, 8, 16, 32, 64)

# The path of each port that a reaction set, and the bytes of its value.
Written = Sequence[tuple[str, int]]


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
    simulations = {count: Simulation(program, count, cost, cores) for count in workers}
    totals = dict.fromkeys(simulations, 0.0)
    work = begun = 0
    for _, same in groupby(spans, key=lambda span: span.tag):
        at_tag = list(same)
        took = {span.reaction: span.ended_ns - span.began_ns for span in at_tag}
        work += sum(took.values())
        cells = _cells(program, at_tag, written[begun : begun + len(at_tag)])
        begun += len(at_tag)
        for count, simulation in simulations.items():
            totals[count] += simulation.time_ns(took, cells)
    return {n: work / totals[n] if totals[n] else 1.0 for n in workers}


def _cells(program: Elaborated, at_tag: Sequence[Span], written: Sequence[Written]) -> Mapping[Cell, int]:
    """The bytes of each cell that was set at a tag."""
    found: dict[Cell, int] = {}
    for span, pairs in zip(at_tag, written, strict=False):
        cells = {program.cell_path(cell): cell for cell in program.reactions[span.reaction].writes} if pairs else {}
        found.update((cells[path], size) for path, size in pairs)
    return found
