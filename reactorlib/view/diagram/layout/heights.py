"""The height of each vertex in its column: as straight to its neighbours as order and spacing allow.

Each column in turn is an isotonic regression in the L1 norm, by pooling adjacent violators. A median, unlike a mean,
makes most wires exactly straight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from reactorlib.view.diagram.layout.metrics import HEAD
from reactorlib.view.diagram.layout.network import Side, Vertex
from reactorlib.view.diagram.layout.order import Columns
from reactorlib.view.diagram.layout.wires import Lane, Wire

ROUNDS = 8
STRAIGHT = 8.0  # the weight of a wire that only passes between two columns; that of any other is 1
LANE, ROW = 12.0, 22.0  # the room above a lane, and between rows
THIN = ("bus", "link")

Wishes = list[tuple[float, float]]  # heights, and how much each matters
# The wires on each side of a vertex: the neighbour, how far below it the vertex is best, how much that matters.
Beside = dict[tuple[Vertex, Side], list[tuple[Vertex, float, float]]]


def place(columns: Columns, wires: Iterable[Wire], lanes: Sequence[Lane]) -> None:
    """Set `y` of every vertex and lane. Lanes are below their row, the shortest first."""
    beside: Beside = defaultdict(list)
    for _, one, other in wires:
        weight = STRAIGHT if one.vertex.kind in THIN and other.vertex.kind in THIN else 1.0
        lower = one.offset - other.offset
        beside[one.vertex, "right"].append((other.vertex, -lower, weight))
        beside[other.vertex, "left"].append((one.vertex, lower, weight))
    top = HEAD + 2
    for row in sorted({vertex.row for column in columns for vertex in column}):
        in_row = [[vertex for vertex in column if vertex.row == row] for column in columns]
        _settle_row(in_row, beside)
        highest = min(vertex.y for column in in_row for vertex in column)
        for vertex in (vertex for column in in_row for vertex in column):
            vertex.y = round(vertex.y - highest + top, 1)
        bottoms = [max((vertex.y + vertex.height for vertex in column), default=top) for column in in_row]
        for lane in sorted((lane for lane in lanes if lane.row == row), key=lambda lane: len(lane.columns)):
            half = lane.label.height / 2
            lane.y = round(max(bottoms[column] for column in lane.columns) + LANE + half, 1)
            for column in lane.columns:
                bottoms[column] = lane.y + half
        top = max(bottoms) + ROW


def spacing(above: Vertex, below: Vertex) -> float:
    """The room between two neighbours in a column."""
    if above.is_port:
        return 2.0
    if above.kind in THIN and below.kind in THIN:
        return 10.0
    return 18.0 if "box" in (above.kind, below.kind) else 12.0


def _settle_row(columns: Columns, beside: Beside) -> None:
    for column in columns:
        for vertex in column[:1]:
            vertex.y = 0.0
        for upper, lower in pairwise(column):
            lower.y = upper.y + upper.height + spacing(upper, lower)
    for turn in range(2 * ROUNDS):  # first by the neighbours on the side that the sweep comes from, then by all
        rightward = turn % 2 == 0
        sides: tuple[Side, ...] = ("left", "right") if turn >= ROUNDS else ("left",) if rightward else ("right",)
        for column in columns if rightward else reversed(columns):
            _settle(column, sides, beside)


def _settle(column: Sequence[Vertex], sides: Sequence[Side], beside: Beside) -> None:
    """Move the vertices of a column to where their neighbours are, in order and with their spacing kept."""
    shift = 0.0  # with it, "in order" is: no vertex above the one before it
    pools: list[tuple[float, Wishes, list[tuple[Vertex, float]]]] = []
    for number, vertex in enumerate(column):
        if number:
            shift += column[number - 1].height + spacing(column[number - 1], vertex)
        known = [(other.y + lower, weight) for side in sides for other, lower, weight in beside.get((vertex, side), ())]
        wishes = sorted((at - shift, weight) for at, weight in known or [(vertex.y, 0.001)])
        members = [(vertex, shift)]
        while pools and pools[-1][0] > _median(wishes):
            _, earlier, others = pools.pop()
            wishes, members = sorted(earlier + wishes), others + members
        pools.append((_median(wishes), wishes, members))
    for middle, _, members in pools:
        for vertex, shifted in members:
            vertex.y = middle + shifted


def _median(wishes: Wishes) -> float:
    """The weighted median of sorted wishes; halfway where two are as good."""
    left = sum(weight for _, weight in wishes) / 2
    for number, (at, weight) in enumerate(wishes):
        left -= weight
        if abs(left) < 1e-9 and number + 1 < len(wishes):
            return (at + wishes[number + 1][0]) / 2
        if left < 0:
            return at
    return wishes[-1][0]
