"""The order of each column, for few crossings: sweeps from side to side that sort a column by its neighbours' places.

(The barycentre method of Sugiyama, Tagawa and Toda 1981.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reactorlib.view.diagram.layout.network import Pin, Side, Vertex
from reactorlib.view.diagram.layout.wires import Wire

SWEEPS: tuple[Side, ...] = ("left", "right") * 4 + ("left",)

Columns = list[list[Vertex]]


def ordered(vertices: Iterable[Vertex], wires: Sequence[Wire], count: int) -> Columns:
    """The vertices by column, from top to bottom. Ports keep the order of their declaration."""
    columns: Columns = [[] for _ in range(count)]
    for vertex in vertices:
        columns[vertex.column].append(vertex)
    beside: dict[tuple[Vertex, Side], list[Pin]] = defaultdict(list)  # neighbours on a side
    for _, one, other in wires:
        beside[one.vertex, "right"].append(other)
        beside[other.vertex, "left"].append(one)
    place: dict[Vertex, int] = {}

    def height(pin: Pin) -> float:
        """In units of vertices; within one, by its pins."""
        return place[pin.vertex] + (pin.offset / (pin.vertex.height + 1) if pin.vertex.height else 0.5)

    def settle(column: list[Vertex], side: Side | None) -> None:
        wishes: dict[Vertex, float] = {}
        for number, vertex in enumerate(column):
            heights = [height(pin) for pin in beside.get((vertex, side), ())] if side else []
            wishes[vertex] = math.fsum(heights) / len(heights) if heights else number
        column.sort(key=lambda vertex: (vertex.row, wishes[vertex]))
        place.update((vertex, number) for number, vertex in enumerate(column))

    for column in columns:
        settle(column, None)
    for side in SWEEPS:
        for column in columns if side == "left" else reversed(columns):
            if column and not column[0].is_port:
                settle(column, side)
    return columns
