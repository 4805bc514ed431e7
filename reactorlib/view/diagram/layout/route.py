"""Where columns stand and how wires run through the gaps between them. Wires stay in their gaps: they cross no box."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Literal

from reactorlib.view.diagram.layout.chains import Pin, Wire
from reactorlib.view.diagram.layout.join import Command, Point, Route, joined
from reactorlib.view.diagram.layout.network import Vertex
from reactorlib.view.diagram.layout.order import Columns
from reactorlib.view.diagram.model import Edge

NARROW, STEEP, WIDE = 17.0, 0.17, 90.0  # a gap: at least, per px that a wire climbs in it, at most because of that
TURN, NEXT_TURN, TURNS = 11.0, 6.0, 90.0  # a turn reaches so far into its gap, the next one further, all at most
RADIUS = 9.0


class Gaps:
    """The gaps between columns: how wide they are, and how far each turn reaches into its own."""

    def __init__(self, wires: Iterable[Wire], columns: int) -> None:
        self.reach: dict[tuple[int, str, int], float] = {}  # gap, side, lane
        self.width = [0.0] * (columns + 1)  # of gap c at c + 1
        climbs: dict[int, float] = defaultdict(float)
        turns: dict[tuple[int, str], dict[int, float]] = defaultdict(dict)
        for wire in wires:
            climb = abs(_y(wire, 1) - _y(wire, 2))
            if wire.turns:
                reached = turns[wire.gap, wire.one.side]
                reached[id(wire.lane)] = max(reached.get(id(wire.lane), 0.0), climb)
            else:
                climbs[wire.gap] = max(climbs[wire.gap], climb)
        for gap in range(columns - 1):
            self.width[gap + 1] = NARROW + round(min(WIDE, STEEP * climbs[gap]))
        for (gap, side), reached in turns.items():
            step = min(NEXT_TURN, round(TURNS / len(reached), 1))
            for number, lane in enumerate(sorted(reached, key=reached.__getitem__)):
                self.reach[gap, side, lane] = TURN + step * number
        for gap in range(-1, columns):
            room = [max((r for (g, s, _), r in self.reach.items() if (g, s) == (gap, side)), default=0.0)
                    for side in ("left", "right")]  # fmt: skip
            self.width[gap + 1] = max(
                self.width[gap + 1], sum(room) + (8.0 if all(room) else 2.0 if any(room) else 0.0)
            )


def stand(columns: Columns, gaps: Gaps, least: float, margin: float) -> tuple[list[Point], float]:
    """Set `x` of every vertex. Returns where each column begins and ends, and the width of the whole.

    Ports stand at the borders of the box, all else at least `margin` away; `least` is the width of its title.
    """
    bare = [bool(column) and column[0].kind in ("input", "output") for column in columns]
    left = 0.0 if bare and bare[0] else margin
    right = 0.0 if bare and bare[-1] else margin
    widths = [max((vertex.width for vertex in column), default=0.0) for column in columns]
    total = 0.0
    for width in (left, right, *gaps.width, *widths):
        total += width
    inner = max(1, len(columns) - 1)
    spare = 2.0 * inner * math.ceil(max(0.0, least - total) / (2 * inner))  # in whole px wherever it goes
    spans: list[Point] = []
    x = left + gaps.width[0] + (spare / 2 if len(columns) == 1 and not bare[0] else 0.0)
    for number, column in enumerate(columns):
        if len(columns) == 1 and bare[0] and column[0].kind == "output":
            x += spare
        spans.append((round(x, 1), round(x + widths[number], 1)))
        for vertex in column:
            vertex.x = round(x + (widths[number] - vertex.width) * _alignment(vertex), 1)
        x += widths[number] + gaps.width[number + 1] + (spare / inner if number < len(columns) - 1 else 0.0)
    return spans, round(total + spare, 1)


def _alignment(vertex: Vertex) -> float:
    """0 at the left of the column, 1 at its right."""
    if vertex.kind in ("input", "output"):
        return float(vertex.kind == "output")
    return 0.5


def routed(wires: Iterable[Wire], gaps: Gaps, spans: Sequence[Point]) -> list[Route]:
    """The paths of all wires. What several wires share, a stub at a port or the trunk of turns, is drawn once."""
    stubs: dict[tuple[Command, ...], Route] = {}
    routes: list[Route] = []
    turns: dict[tuple[int, str, int], list[Wire]] = defaultdict(list)
    for wire in wires:
        near, far = (spans[pin.vertex.column][pin.side == "right"] for pin in (wire.one, wire.two))
        start, end = _y(wire, 1), _y(wire, 2)
        _stub(stubs, wire.edge, (_x(wire.one), start), (near, start), arrives=False)
        arrives = wire.two.vertex.kind == "symbol"
        ended = _stub(stubs, wire.edge, (far, end), (_x(wire.two), end), arrives)
        if wire.turns:
            turns[wire.gap, wire.one.side, id(wire.lane)].append(wire)
        elif abs(start - end) < 0.05:
            routes.append(_path(wire.edge, "L", ((near, start), (far, end)), arrives and not ended))
        else:
            middle = round((near + far) / 2, 1)
            points = ((near, start), (middle, start), (middle, end), (far, end))
            routes.append(_path(wire.edge, "C", points, arrives and not ended))
    for (gap, side, lane), same in turns.items():
        x = spans[gap if side == "right" else gap + 1][side == "right"]
        routes += _turned(same, x, gaps.reach[gap, side, lane] * (1 if side == "right" else -1))
    return joined(routes + list(stubs.values()))


def _path(edge: Edge, letter: Literal["L", "C"], points: tuple[Point, ...], arrives: bool) -> Route:
    return Route(edge, (("M", points[:1]), (letter, points[1:])), arrives)


def _stub(stubs: dict[tuple[Command, ...], Route], edge: Edge, begin: Point, end: Point, arrives: bool) -> bool:
    """The straight piece between an end and the border of its column; of several, the strongest is kept."""
    if abs(begin[0] - end[0]) < 0.05:
        return False
    route = _path(edge, "L", (begin, end), arrives)
    kept = stubs.get(route.path)
    if kept is None or _strength(edge) < _strength(kept.edge):
        stubs[route.path] = route
    return True


def _strength(edge: Edge) -> tuple[bool, int]:
    return not edge.cyclic, (
        "connection",
        "delayed",
        "physical",
        "transition",
        "trigger",
        "order",
        "effect",
        "use",
    ).index(edge.kind)


def _turned(wires: Sequence[Wire], x: float, reach: float) -> list[Route]:
    """Turns between one lane and what enters or leaves it there: brackets to the farthest, branches to the others."""
    routes: list[Route] = []
    entering = wires[0].two.vertex.kind == "lane"
    lane = _y(wires[0], 2 if entering else 1)
    ends = {_y(wire, 1 if entering else 2) for wire in wires}
    for upward in (True, False):
        beyond = sorted(end for end in ends if end != lane and (end < lane) is upward)
        farthest = beyond[0 if upward else -1] if beyond else None
        for end in beyond:
            path = _bracket(x, lane, end, reach)
            routes.append(Route(wires[0].edge, path if end == farthest else _branch(path), arrives=False))
    return routes


def _branch(bracket: tuple[Command, ...]) -> tuple[Command, ...]:
    """A bracket without what it shares with a longer one: from the trunk to its end."""
    return (("M", bracket[3][1]), *bracket[4:])


def _y(wire: Wire, which: int) -> float:
    pin = wire.one if which == 1 else wire.two
    return round(pin.vertex.y + pin.offset, 1)


def _x(pin: Pin) -> float:
    """Where the wires of a pin begin."""
    left, right = pin.vertex.inset
    return round(pin.vertex.x + (pin.vertex.width - right if pin.side == "right" else left), 1)


def _bracket(x: float, start: float, end: float, reach: float) -> tuple[Command, ...]:
    """From (x, start) out to x + reach, along, and back to (x, end), with round corners."""
    radius = round(min(RADIUS, abs(reach), abs(end - start) / 2), 1)
    down = radius if end > start else -radius
    far = round(x + reach, 1)
    inner = round(far - (radius if reach > 0 else -radius), 1)
    return (
        ("M", ((x, start),)),
        ("L", ((inner, start),)),
        ("C", ((far, start), (far, start), (far, round(start + down, 1)))),
        ("L", ((far, round(end - down, 1)),)),
        ("C", ((far, end), (far, end), (inner, end))),
        ("L", ((x, end),)),
    )
