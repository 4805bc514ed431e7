"""The cost of one reaction (or method call), by the shape of communication and by fan-out."""

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats.intervals import Estimate
from plots import dots, lines, notes, rows
from plots.errors import FigureError

_NS_PER_S = 1e9
_METHOD = "The inverse of the throughput: a whole round's time divided by the reactions or method calls in it."


def by_shape(measurements: pd.DataFrame) -> Figure:
    """Time per reaction, a panel per shape; of a shape in several sizes the largest. Raises FigureError."""
    selection = rows.select(measurements, "overhead", "throughput", ["shape", "actors"])
    cells = selection.cells("shape", "actors", "backend")
    largest = {shape: actors for shape, actors, _ in sorted(cells)}
    panels = [
        dots.Panel(
            f"{shape.replace('_', ' ')}, {actors:,}",
            {backend: _cost(rate) for (one, size, backend), rate in cells.items() if (one, size) == (shape, actors)},
        )
        for shape, actors in largest.items()
    ]
    return dots.draw(
        panels,
        "Cost of one reaction, by shape of communication",
        notes.fixed(selection),
        [
            f"{_METHOD} Beside each shape: the number of its members, the largest there is.",
            *notes.below(selection),
        ],
        "time per reaction",
        quantity.duration,
        quantity.duration_tick,
    )


def by_fan_out(measurements: pd.DataFrame) -> Figure:
    """Time per reaction of the shape fan_out by number of clients. Raises FigureError."""
    selection = rows.select(measurements, "overhead", "throughput", ["actors"], where={"shape": "fan_out"})
    if len(selection.distinct("actors")) < 2:
        raise FigureError("rows of overhead hold one size of fan_out; expected several, as from --set actors=2,4,8")
    return lines.single(
        "Cost of one reaction, by fan-out",
        notes.fixed(selection),
        [_METHOD, *notes.below(selection)],
        lines.Panel(selection.curves("actors", _cost)),
        "clients",
        quantity.count,
        "time per reaction",
        quantity.duration_tick,
    )


def _cost(rate: Estimate) -> Estimate:
    return rate.inverse().scaled(_NS_PER_S)
