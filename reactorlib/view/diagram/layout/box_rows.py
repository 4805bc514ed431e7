"""The order of each column, for few crossings, and the heights in it, for straight wires.

Order: sweeps from side to side sort a column by its neighbours' places (Sugiyama, Tagawa and Toda 1981). Heights: each
column is an isotonic regression in the L1 norm, whose medians, unlike means, make most wires exactly straight.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from reactorlib.view.diagram.layout.metrics import HEAD
from reactorlib.view.diagram.layout.network import Lane, Pin, Side, Vertex, Wire

SWEEPS: tuple[Side, ...] = ("left", "right") * 4 + ("left",)
ROUNDS = 8
STRAIGHT = 8  # the weight of a wire that only passes between two columns; that of any other is 1
LANE = 12.0  # the room above a lane
THIN = ("bus", "link")

# The wires on each side of a vertex: the neighbour, how far below it the vertex is best, how much that matters.
Neighbours = dict[tuple[Vertex, Side], list[tuple[Vertex, float, int]]]


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

    def wish(vertex: Vertex, side: Side) -> float:
        """The mean place of its neighbours on a side, in units of vertices; within one, by its pins."""
        heights = [
            place[pin.vertex] + (pin.offset / (pin.vertex.height + 1) if pin.vertex.height else 0.5)
            for pin in beside.get((vertex, side), ())
        ]
        return math.fsum(heights) / len(heights) if heights else place[vertex]

    for side in SWEEPS:
        for column in columns if side == "left" else reversed(columns):
            if not column[0].is_port:
                column.sort(key=lambda vertex: wish(vertex, side))
                place.update((vertex, number) for number, vertex in enumerate(column))
    return columns


def place(columns: Sequence[Sequence[Vertex]], wires: Iterable[Wire], lanes: Sequence[Lane]) -> None:
    """Set `y` of every vertex and lane. The shortest lanes are the highest."""
    beside: Neighbours = defaultdict(list)
    for _, one, other in wires:
        weight = STRAIGHT if one.vertex.kind in THIN and other.vertex.kind in THIN else 1
        lower = one.offset - other.offset
        beside[one.vertex, "right"].append((other.vertex, -lower, weight))
        beside[other.vertex, "left"].append((one.vertex, lower, weight))
    for turn in range(2 * ROUNDS):  # first by the neighbours on the side that the sweep comes from, then by all
        rightward = turn % 2 == 0
        sides: tuple[Side, ...] = ("left", "right") if turn >= ROUNDS else ("left",) if rightward else ("right",)
        for column in columns if rightward else reversed(columns):
            _settle(column, sides, beside)
    highest = min((vertex.y for column in columns for vertex in column), default=0.0)
    for vertex in (vertex for column in columns for vertex in column):
        vertex.y = round(vertex.y - highest + HEAD + 2, 1)
    bottoms = [max(vertex.y + vertex.height for vertex in column) for column in columns]
    for lane in sorted(lanes, key=lambda lane: len(lane.columns)):
        half = lane.label.height / 2
        lane.y = round(max(bottoms[number] for number in lane.columns) + LANE + half, 1)
        for number in lane.columns:
            bottoms[number] = lane.y + half


def spacing(above: Vertex, below: Vertex) -> float:
    """The room between two neighbours in a column."""
    if above.is_port:
        return 2.0
    if above.kind in THIN and below.kind in THIN:
        return 10.0
    return 18.0 if "box" in (above.kind, below.kind) else 12.0


def _settle(column: Sequence[Vertex], sides: Sequence[Side], beside: Neighbours) -> None:
    """Move the vertices of a column to where their neighbours are, in order and with their spacing kept."""
    shift = 0.0  # with it, "in order" is: no vertex above the one before it
    pools: list[tuple[float, list[float], list[tuple[Vertex, float]]]] = []  # those that end up side by side
    for number, vertex in enumerate(column):
        if number:
            shift += column[number - 1].height + spacing(column[number - 1], vertex)
        wishes = [
            other.y + lower - shift
            for side in sides
            for other, lower, weight in beside.get((vertex, side), ())
            for _ in range(weight)
        ]
        at, members = median(wishes) if wishes else vertex.y - shift, [(vertex, shift)]
        while pools and pools[-1][0] > at:
            earlier_at, earlier, others = pools.pop()
            wishes, members = earlier + wishes, others + members
            at = median(wishes) if wishes else earlier_at
        pools.append((at, wishes, members))
    for at, _, members in pools:
        for vertex, shifted in members:
            vertex.y = at + shifted
