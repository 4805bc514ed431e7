"""The order of each column, for few crossings: sweeps from side to side that sort a column by its neighbours' places.

(The barycentre method of Sugiyama, Tagawa and Toda 1981.)
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reactorlib.view.diagram.layout.network import Pin, Side, Vertex, Wire

SWEEPS: tuple[Side, ...] = ("left", "right") * 4 + ("left",)


def ordered(vertices: Iterable[Vertex], wires: Sequence[Wire], count: int) -> list[list[Vertex]]:
    """The vertices by column, from top to bottom. Ports keep the order of their declaration."""
    columns: list[list[Vertex]] = [[] for _ in range(count)]
    for vertex in vertices:
        columns[vertex.column].append(vertex)
    place = {vertex: number for column in columns for number, vertex in enumerate(column)}
    beside: dict[tuple[Vertex, Side], list[Pin]] = defaultdict(list)  # neighbours on a side
    for _, one, other in wires:
        beside[one.vertex, "right"].append(other)
        beside[other.vertex, "left"].append(one)

    def height(pin: Pin) -> float:
        """In units of vertices; within one, by its pins."""
        return place[pin.vertex] + (pin.offset / (pin.vertex.height + 1) if pin.vertex.height else 0.5)

    for side in SWEEPS:
        for column in columns if side == "left" else reversed(columns):
            if column[0].is_port:
                continue
            wishes: dict[Vertex, float] = {}
            for vertex in column:
                heights = [height(pin) for pin in beside.get((vertex, side), ())]
                wishes[vertex] = math.fsum(heights) / len(heights) if heights else place[vertex]
            column.sort(key=wishes.__getitem__)
            place.update((vertex, number) for number, vertex in enumerate(column))
    return columns
