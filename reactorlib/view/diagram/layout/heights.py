"""How high each vertex lies in its column: as straight to its neighbours as order and spacing allow.

Each column in turn is the solution of an isotonic regression in the L1 norm (pool adjacent violators with
weighted medians): the median, unlike the mean, makes most wires exactly straight.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from reactorlib.view.diagram.layout.chains import Pin, Wire
from reactorlib.view.diagram.layout.lanes import Beside, spacing, straighten
from reactorlib.view.diagram.layout.network import THIN, Vertex
from reactorlib.view.diagram.layout.order import Columns

ROUNDS = 8
STRAIGHT = 8.0  # the weight of a wire that only passes between two columns; 1 is that of any other
# Lanes give way: first they hardly count, then all else stays where it is and they find their way around it.
LIGHT_LANE, LIGHT_NEAR = 0.05, 0.01
NEAR = 0.2
FIXED = 10_000.0

Wishes = list[tuple[float, float]]  # where to be, and how much it matters


def place(columns: Columns, wires: Iterable[Wire]) -> None:
    """Set `y` of every vertex; the topmost lies at 0."""
    beside: Beside = defaultdict(list)
    for wire in wires:
        for here, there in ((wire.one, wire.two), (wire.two, wire.one)):
            side = "mate" if wire.turns else here.side
            if side != "mate" or here.vertex.kind == "lane":
                beside[id(here.vertex), side].append((here, there))
    for column in columns:
        y = 0.0
        for vertex, following in zip(column, [*column[1:], None], strict=True):
            vertex.y = y
            y += vertex.height + (spacing(vertex, following) if following else 0.0)
    for turn in range(2 * ROUNDS):
        both = turn >= ROUNDS
        _sweep(columns, beside, turn % 2 == 0, ("left", "right") if both else (), fixed=False)
    for _ in range(2):
        for turn in range(4):
            _sweep(columns, beside, turn % 2 == 0, (), fixed=True)
        straighten(columns, beside)
        _close_up(columns, beside)
    top = min((vertex.y for column in columns for vertex in column), default=0.0)
    for column in columns:
        for vertex in column:
            vertex.y = round(vertex.y - top, 1)


def _sweep(columns: Columns, beside: Beside, rightward: bool, sides: Sequence[str], fixed: bool) -> None:
    """Settle each column by its neighbours on `sides`; by default on the side that the sweep comes from."""
    for column in columns if rightward else reversed(columns):
        looked_at = sides or (("left",) if rightward else ("right",))
        settle(column, [_wishes(vertex, looked_at, beside, fixed) for vertex in column])


def _close_up(columns: Columns, beside: Beside) -> None:
    """Move what is wired together up as one, as far as what stands above it allows."""
    group_of = _groups(columns, beside)
    top = min((vertex.y for column in columns for vertex in column), default=0.0)
    above = {id(vertex): over for column in columns for over, vertex in pairwise(column)}
    members: dict[int, list[Vertex]] = defaultdict(list)
    for column in columns:
        for vertex in column:
            members[group_of[id(vertex)]].append(vertex)

    def slack(vertex: Vertex) -> float:
        over = above.get(id(vertex))
        if over is None:
            return vertex.y - top
        if group_of[id(over)] == group_of[id(vertex)]:
            return float("inf")
        return vertex.y - over.y - over.height - spacing(over, vertex)

    highest_first = sorted(members.values(), key=lambda group: min(vertex.y for vertex in group))
    for _ in highest_first:
        moved = False
        for group in highest_first:
            free = min(slack(vertex) for vertex in group)
            if 0.5 < free < float("inf"):
                moved = True
                for vertex in group:
                    vertex.y -= free
        if not moved:
            return


def _groups(columns: Columns, beside: Beside) -> dict[int, int]:
    """The number of the group that each vertex is wired into; turns into lanes don't join."""
    group_of: dict[int, int] = {}
    for number, start in enumerate(vertex for column in columns for vertex in column):
        if id(start) in group_of:
            continue
        group_of[id(start)] = number
        waiting = [start]
        for vertex in waiting:
            for side in ("left", "right"):
                for _, there in beside.get((id(vertex), side), ()):
                    if id(there.vertex) not in group_of:
                        group_of[id(there.vertex)] = number
                        waiting.append(there.vertex)
    return group_of


def _wishes(vertex: Vertex, sides: Sequence[str], beside: Beside, fixed: bool) -> Wishes:
    if fixed and vertex.kind != "lane":
        return [(vertex.y, FIXED)]
    found: Wishes = []
    for side in (*sides, "mate"):
        for here, there in beside.get((id(vertex), side), ()):
            found.append((there.vertex.y + there.offset - here.offset, _weight(here, there, fixed)))
    return found or [(vertex.y, 0.001)]


def _weight(here: Pin, there: Pin, fixed: bool) -> float:
    if here.vertex.kind == "lane":
        near = there.vertex.kind != "lane"
        return (NEAR if near else STRAIGHT) if fixed else (LIGHT_NEAR if near else LIGHT_LANE)
    return STRAIGHT if here.vertex.kind in THIN and there.vertex.kind in THIN else 1.0


def settle(column: Sequence[Vertex], wishes: Sequence[Wishes]) -> None:
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
