"""Who stands above whom in each column: barycentres from side to side, then swaps, with the fewest crossings kept."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence

from reactorlib.view.diagram.layout.network import Pin, Side, Vertex
from reactorlib.view.diagram.layout.wires import Wire

SWEEPS = 10

Columns = list[list[Vertex]]


def ordered(vertices: Iterable[Vertex], wires: Sequence[Wire], columns: int) -> Columns:
    """The vertices by column, from top to bottom."""
    ordering = _Ordering(vertices, wires, columns)
    best, fewest = ordering.snapshot(), ordering.crossings()
    for sweep in range(SWEEPS):
        if not fewest:
            break
        ordering.sweep("left" if sweep % 2 == 0 else "right")
        crossings = ordering.crossings()
        if crossings < fewest:
            best, fewest = ordering.snapshot(), crossings
    return best


class _Ordering:
    def __init__(self, vertices: Iterable[Vertex], wires: Sequence[Wire], columns: int) -> None:
        self._columns: Columns = [[] for _ in range(columns)]
        for vertex in vertices:
            self._columns[vertex.column].append(vertex)
        self._position: dict[int, int] = {}
        self._gaps: dict[int, list[Wire]] = defaultdict(list)
        self._beside: dict[tuple[int, Side], list[Pin]] = defaultdict(list)  # neighbours on a side
        for one, other in wires:
            self._gaps[one.vertex.column].append((one, other))
            self._beside[id(one.vertex), "right"].append(other)
            self._beside[id(other.vertex), "left"].append(one)
        for column in self._columns:
            column.sort(key=lambda vertex: vertex.row)
            self._number(column)

    def snapshot(self) -> Columns:
        return [list(column) for column in self._columns]

    def _number(self, column: Sequence[Vertex]) -> None:
        for place, vertex in enumerate(column):
            self._position[id(vertex)] = place

    def _at(self, pin: Pin) -> float:
        """The height of a pin in units of vertices, ports of one box keep their order; lanes are below all."""
        vertex = pin.vertex
        return self._position.get(id(vertex), math.inf) + (pin.offset / (vertex.height + 1) if vertex.height else 0.5)

    def sweep(self, side: Side) -> None:
        """Sort each column by its neighbours on a side, coming from there; then swap what crosses less so."""
        movable = [column for column in self._columns if column and not column[0].is_port]
        for column in movable if side == "left" else reversed(movable):
            wish = {id(vertex): self._wish(vertex, side) for vertex in column}
            column.sort(key=lambda vertex: (vertex.row, wish[id(vertex)]))
            self._number(column)
        for column in movable:
            self._swap(column)

    def _wish(self, vertex: Vertex, side: Side) -> float:
        heights = [self._at(pin) for pin in self._beside.get((id(vertex), side), ())]
        known = [height for height in heights if height < math.inf]
        return math.fsum(known) / len(known) if known else self._position[id(vertex)]

    def _swap(self, column: list[Vertex]) -> None:
        """Exchange neighbours wherever their wires cross less then."""
        for place in range(len(column) - 1):
            upper, lower = column[place : place + 2]
            if upper.row == lower.row and self._crossed(lower, upper) < self._crossed(upper, lower):
                column[place : place + 2] = lower, upper
                self._position[id(lower)], self._position[id(upper)] = place, place + 1

    def _crossed(self, upper: Vertex, lower: Vertex) -> int:
        """How many wires of the one cross wires of the other, if it stands above."""
        sides: tuple[Side, ...] = ("left", "right")
        return sum(
            self._at(one) > self._at(other)
            for side in sides
            for one in self._beside.get((id(upper), side), ())
            for other in self._beside.get((id(lower), side), ())
        )

    def crossings(self) -> int:
        return sum(_inversions([(self._at(one), self._at(other)) for one, other in gap]) for gap in self._gaps.values())


def _inversions(pairs: list[tuple[float, float]]) -> int:
    """How many pairs of wires across a gap cross; wires with an end in common don't."""
    seen: list[float] = []
    crossings = 0
    for _, height in sorted(pairs):
        crossings += len(seen) - bisect_right(seen, height)
        insort(seen, height)
    return crossings
