"""The places of columns, and the paths of wires in the gaps between them. A wire in a gap crosses no box."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise

from reactorlib.view.diagram.layout.network import Command, Lane, Pin, Point, Route, Side, Vertex, Wire
from reactorlib.view.diagram.model import Edge

NARROW, STEEP, WIDE = 17.0, 0.17, 90.0  # the least width of a gap, its growth per px of climb, the most by climbing
TURN, NEXT_TURN, TURNS = 11.0, 6.0, 90.0  # the reach of a turn into its gap, the distance of the next, the most of all
RADIUS = 9.0
STRONGEST = ("connection", "delayed", "physical", "transition", "trigger", "order", "effect", "use")


class Router:
    """Sets `x` of every vertex. The columns are side by side from `margin` on, at least `least` wide in all."""

    def __init__(self, columns: Sequence[Sequence[Vertex]], wires: Sequence[Wire], lanes: Sequence[Lane]) -> None:
        self._columns = columns
        self._wires = wires
        self._lanes = lanes
        self._reach: dict[tuple[Lane, Pin], float] = {}  # how far a turn of a lane reaches into a gap
        self._spans: list[Point] = []  # where each column begins and ends
        self._gaps = [0.0] * (len(columns) + 1)  # widths: that of gap c at c + 1
        for _, one, other in wires:
            gap = one.vertex.column + 1
            self._gaps[gap] = max(self._gaps[gap], NARROW + round(min(WIDE, STEEP * abs(one.y - other.y))))
        self._make_room_for_turns()

    def _make_room_for_turns(self) -> None:
        """Let each lane reach into a gap by its own distance, the nearest lane least."""
        turns: dict[tuple[int, Side], dict[Lane, list[Pin]]] = defaultdict(lambda: defaultdict(list))
        for lane in self._lanes:
            for pin in lane.pins:
                turns[pin.vertex.column + (pin.side == "right"), pin.side][lane].append(pin)
        room: dict[int, list[float]] = defaultdict(list)
        for (gap, _), pins_of in turns.items():
            step = min(NEXT_TURN, round(TURNS / len(pins_of), 1))
            nearest = sorted(pins_of, key=lambda lane: max(abs(pin.y - lane.y) for pin in pins_of[lane]))
            for place, lane in enumerate(nearest):
                self._reach.update(((lane, pin), TURN + step * place) for pin in pins_of[lane])
            room[gap].append(TURN + step * (len(pins_of) - 1))
        for gap, sides in room.items():
            self._gaps[gap] = max(self._gaps[gap], sum(sides) + (8.0 if len(sides) > 1 else 2.0))

    def stand(self, least: float, margin: float) -> float:
        """Set `x` of every vertex and label. Returns the width of the whole, which is at least `least`.

        Ports are at the borders of the box, all else at least `margin` away.
        """
        columns, count = self._columns, len(self._columns)
        bare = [column[0].is_port for column in columns]
        sides = (0.0 if bare and bare[0] else margin), (0.0 if bare and bare[-1] else margin)
        widths = [max(vertex.width for vertex in column) for column in columns]
        for lane in self._lanes:
            lane.label.column = max(lane.columns, key=lambda column: (widths[column], column))
            widths[lane.label.column] = max(widths[lane.label.column], lane.label.width)
        total = math.fsum((*sides, *self._gaps, *widths))
        inner = max(1, count - 1)
        spare = 2.0 * inner * math.ceil(max(0.0, least - total) / (2 * inner))  # in whole px wherever it goes
        x = sides[0] + self._gaps[0]
        if count == 1 and columns[0][0].kind != "input":  # outputs on the right, all else in the middle
            x += spare if bare[0] else spare / 2
        for number, column in enumerate(columns):
            self._spans.append((round(x, 1), round(x + widths[number], 1)))
            for vertex in column:
                share = float(vertex.kind == "output") if vertex.is_port else 0.5
                vertex.x = round(x + (widths[number] - vertex.width) * share, 1)
            x += widths[number] + self._gaps[number + 1] + spare / inner
        for lane in self._lanes:
            label = lane.label
            label.x = round(sum(self._spans[label.column]) / 2 - label.width / 2, 1)
            label.y = round(lane.y - label.height / 2, 1)
        return round(total + spare, 1)

    def routes(self) -> list[Route]:
        """All paths, the strongest last. A piece that several edges share is drawn once."""
        found = [route for wire in self._wires for route in self._wire(*wire)]
        found += [route for lane in self._lanes for route in self._lane(lane)]
        found.sort(key=lambda route: (route.edge.cyclic, -STRONGEST.index(route.edge.kind)))
        return list({(route.path, route.arrives): route for route in found}.values())

    def _wire(self, edge: Edge, one: Pin, other: Pin) -> Iterator[Route]:
        yield from self._stub(edge, one)
        near, far = (self._border(one), one.y), (self._border(other), other.y)
        middle = round((near[0] + far[0]) / 2, 1)
        straight = abs(one.y - other.y) < 0.05
        bend: Command = ("L", (far,)) if straight else ("C", ((middle, one.y), (middle, other.y), far))
        yield Route(edge, (("M", (near,)), bend))
        yield from self._stub(edge, other)

    def _stub(self, edge: Edge, pin: Pin) -> Iterator[Route]:
        """The piece between a pin and the border of its column."""
        ends = (self._border(pin), pin.y), (pin.x, pin.y)
        if abs(ends[0][0] - ends[1][0]) > 0.05:
            start, end = ends if pin.side == "left" else ends[::-1]
            arrives = pin.vertex.kind == "symbol" and pin.side == "left"
            yield Route(edge, (("M", (start,)), ("L", (end,))), arrives)

    def _border(self, pin: Pin) -> float:
        """The border of the column of a pin, on its side."""
        return self._spans[pin.vertex.column][pin.side == "right"]

    def _lane(self, lane: Lane) -> Iterator[Route]:
        """For each turn a trunk to the label, or to the middle, which it shares with others at the same place."""
        label = lane.label
        trunks: dict[tuple[float, bool], list[Pin]] = defaultdict(list)
        for pin in sorted(lane.pins, key=lambda pin: -abs(pin.y - lane.y)):
            yield from self._stub(lane.edge, pin)
            reach = self._reach[lane, pin] * (1 if pin.side == "right" else -1)
            trunks[round(self._border(pin) + reach, 1), pin.y > lane.y].append(pin)
        middle = label.x + label.width / 2 if label.item else (min(trunks)[0] + max(trunks)[0]) / 2
        for (x, _), pins in trunks.items():
            end = round(middle + label.width / (2 if x > middle else -2), 1)
            for pin in pins:
                way = [(x, lane.y), (end, lane.y)] if pin is pins[0] else [_towards((x, pin.y), (x, lane.y))]
                yield Route(lane.edge, tuple(_rounded([(self._border(pin), pin.y), (x, pin.y), *way])))


def _rounded(corners: Sequence[Point]) -> Iterator[Command]:
    """A path along upright and level lines, with round corners."""
    yield "M", (corners[0],)
    for (before, corner), (_, after) in pairwise(pairwise(corners)):
        yield "L", (_towards(corner, before),)
        yield "C", (corner, corner, _towards(corner, after))
    yield "L", (corners[-1],)


def _towards(corner: Point, other: Point) -> Point:
    """The point before a corner where its rounding begins, at most half of the way."""
    distance = math.dist(corner, other)
    share = min(RADIUS, distance / 2) / distance if distance else 0.0
    return tuple(round(a + (b - a) * share, 1) for a, b in zip(corner, other, strict=True))  # type: ignore[return-value]
