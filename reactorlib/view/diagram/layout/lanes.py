"""Lanes, along which flows run back: straight where the columns leave a way, beside what else stands there."""

from __future__ import annotations

from collections.abc import Iterator

from reactorlib.view.diagram.layout.chains import Pin
from reactorlib.view.diagram.layout.network import THIN, Vertex
from reactorlib.view.diagram.layout.order import Columns

Beside = dict[tuple[int, str], list[tuple[Pin, Pin]]]  # the wires on each side of a vertex: its pin, the other pin


def straighten(columns: Columns, beside: Beside) -> None:
    """Give every lane one height in all its columns, as near to its ends as it can lie there; else leave it."""
    for lane in sorted(lanes(columns, beside), key=_height):
        low, high = float("-inf"), float("inf")
        for vertex in lane:
            least, most = _room(columns[vertex.column], vertex)
            low, high = max(low, least), min(high, most)
        if low <= high:
            ends = sorted(there.vertex.y + there.offset for v in lane for _, there in beside.get((id(v), "mate"), ()))
            height = min(max(ends[len(ends) // 2], low), high)
            for vertex in lane:
                vertex.y = height - vertex.height / 2


def lanes(columns: Columns, beside: Beside) -> Iterator[list[Vertex]]:
    """Each lane as its vertices, from left to right."""
    for column in columns:
        for vertex in column:
            if vertex.kind == "lane" and not beside.get((id(vertex), "left")):
                lane = [vertex]
                while following := beside.get((id(lane[-1]), "right")):
                    lane.append(following[0][1].vertex)
                yield lane


def _height(lane: list[Vertex]) -> float:
    total = 0.0
    for vertex in lane:
        total += vertex.y
    return total / len(lane)


def _room(column: list[Vertex], vertex: Vertex) -> tuple[float, float]:
    """Between which heights the middle of a lane may lie: below what is above it, above what is fixed below."""
    place = column.index(vertex)
    half = vertex.height / 2
    least = 0.0 if not place else _bottom(column[place - 1]) + spacing(column[place - 1], vertex)
    most = -half
    for above, below in zip(column[place:], column[place + 1 :], strict=False):
        most -= spacing(above, below)
        if below.kind != "lane":
            return least + half, below.y + most
        most -= below.height  # a lane as well: it makes room in its turn
    return least + half, float("inf")


def _bottom(vertex: Vertex) -> float:
    return vertex.y + vertex.height


def spacing(above: Vertex, below: Vertex) -> float:
    """The room between two neighbours in a column."""
    if above.row != below.row:
        return 22.0
    if above.kind in ("input", "output"):
        return 2.0
    if above.kind in THIN and below.kind in THIN:
        return 10.0
    if "box" in (above.kind, below.kind):
        return 18.0
    return 12.0
