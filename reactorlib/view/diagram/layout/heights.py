"""How high each vertex lies in its column: as straight to its neighbours as order and spacing allow.

Each column in turn is the solution of an isotonic regression in the L1 norm (pool adjacent violators with
weighted medians): the median, unlike the mean, makes most wires exactly straight. Lanes lie below their row.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from reactorlib.view.diagram.layout.metrics import HEAD, LANE, ROW
from reactorlib.view.diagram.layout.network import Side, Vertex
from reactorlib.view.diagram.layout.order import Columns
from reactorlib.view.diagram.layout.wires import Lane, Wire

ROUNDS = 8
STRAIGHT = 8.0  # the weight of a wire that only passes between two columns; 1 is that of any other
THIN = ("bus", "link")

Wishes = list[tuple[float, float]]  # where to be, and how much it matters
# The wires on each side of a vertex: the vertex there, how far below it this one lies at best, how much that matters.
Beside = dict[tuple[int, Side], list[tuple[Vertex, float, float]]]


def place(columns: Columns, wires: Iterable[Wire], lanes: Sequence[Lane]) -> None:
    """Set `y` of every vertex and lane; the topmost lies just below the heading."""
    beside: Beside = defaultdict(list)
    for one, other in wires:
        weight = STRAIGHT if one.vertex.kind in THIN and other.vertex.kind in THIN else 1.0
        lower = one.offset - other.offset
        beside[id(one.vertex), "right"].append((other.vertex, -lower, weight))
        beside[id(other.vertex), "left"].append((one.vertex, lower, weight))
    top = HEAD + 2
    for row in sorted({vertex.row for column in columns for vertex in column}):
        in_row = [[vertex for vertex in column if vertex.row == row] for column in columns]
        _settle_row([column for column in in_row if column], beside)
        highest = min(vertex.y for column in in_row for vertex in column)
        for column in in_row:
            for vertex in column:
                vertex.y = round(vertex.y - highest + top, 1)
        bottoms = [max((vertex.y + vertex.height for vertex in column), default=top) for column in in_row]
        for lane in sorted((lane for lane in lanes if lane.row == row), key=lambda lane: len(lane.columns)):
            passed, half = lane.columns, lane.size[1] / 2
            lane.y = round(max(bottoms[column] for column in passed) + LANE + half, 1)
            for number in passed:
                bottoms[number] = lane.y + half
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
        y = 0.0
        for vertex, following in zip(column, [*column[1:], None], strict=True):
            vertex.y = y
            y += vertex.height + (spacing(vertex, following) if following else 0.0)
    for turn in range(2 * ROUNDS):  # first by the neighbours on the side that the sweep comes from, then by all
        rightward = turn % 2 == 0
        sides: tuple[Side, ...] = ("left", "right") if turn >= ROUNDS else ("left",) if rightward else ("right",)
        for column in columns if rightward else reversed(columns):
            _settle(column, [_wishes(vertex, sides, beside) for vertex in column])
    _close_up(columns, beside)


def _wishes(vertex: Vertex, sides: Sequence[Side], beside: Beside) -> Wishes:
    found = [(other.y + lower, weight) for side in sides for other, lower, weight in beside.get((id(vertex), side), ())]
    return found or [(vertex.y, 0.001)]


def _settle(column: Sequence[Vertex], wishes: Sequence[Wishes]) -> None:
    """Move the vertices of a column to where they wish, in order and with their spacing kept."""
    shift = 0.0  # so that what remains is: no vertex above the one before it
    pools: list[tuple[Wishes, float, list[tuple[Vertex, float]]]] = []
    before: Vertex | None = None
    for vertex, wish in zip(column, wishes, strict=True):
        if before is not None:
            shift += before.height + spacing(before, vertex)
        before = vertex
        pool = sorted((at - shift, weight) for at, weight in wish)
        members = [(vertex, shift)]
        middle = _median(pool)
        while pools and pools[-1][1] > middle:
            earlier, _, others = pools.pop()
            pool, members = sorted(earlier + pool), others + members
            middle = _median(pool)
        pools.append((pool, middle, members))
    for _, middle, members in pools:
        for vertex, shifted in members:
            vertex.y = middle + shifted


def _median(wishes: Wishes) -> float:
    """The weighted median of sorted wishes; halfway where two are as good."""
    half = 0.0
    for _, weight in wishes:
        half += weight
    half /= 2
    reached = 0.0
    for number, (at, weight) in enumerate(wishes):
        reached += weight
        if abs(reached - half) < 1e-9 and number + 1 < len(wishes):
            return (at + wishes[number + 1][0]) / 2
        if reached > half:
            return at
    return wishes[-1][0]


def _close_up(columns: Columns, beside: Beside) -> None:
    """Move what is wired together up as one, as far as what stands above it allows; the highest first."""
    top = min(vertex.y for column in columns for vertex in column)
    above = {id(lower): upper for column in columns for upper, lower in pairwise(column)}
    for group in sorted(_groups(columns, beside), key=lambda group: min(vertex.y for vertex in group)):
        own, free = {id(vertex) for vertex in group}, math.inf
        for vertex in group:
            upper = above.get(id(vertex))
            if upper is None:
                free = min(free, vertex.y - top)
            elif id(upper) not in own:
                free = min(free, vertex.y - upper.y - upper.height - spacing(upper, vertex))
        for vertex in group:
            vertex.y -= free


def _groups(columns: Columns, beside: Beside) -> Iterator[list[Vertex]]:
    """The vertices by what they are wired into."""
    seen: set[int] = set()
    sides: tuple[Side, ...] = ("left", "right")
    for start in (vertex for column in columns for vertex in column):
        if id(start) in seen:
            continue
        seen.add(id(start))
        group = [start]
        for vertex in group:
            for other, _, _ in (neighbour for side in sides for neighbour in beside.get((id(vertex), side), ())):
                if id(other) not in seen:
                    seen.add(id(other))
                    group.append(other)
        yield group
