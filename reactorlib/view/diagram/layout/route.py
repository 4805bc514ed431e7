"""Where columns stand and how wires run through the gaps between them. Wires stay in their gaps: they cross no box."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal, NamedTuple

from reactorlib.view.diagram.layout.network import Pin
from reactorlib.view.diagram.layout.order import Columns
from reactorlib.view.diagram.layout.wires import Lane, Line
from reactorlib.view.diagram.model import Edge

NARROW, STEEP, WIDE = 17.0, 0.17, 90.0  # a gap: at least, per px that a wire climbs in it, at most because of that
TURN, NEXT_TURN, TURNS = 11.0, 6.0, 90.0  # a turn reaches so far into its gap, the next one further, all at most
RADIUS = 9.0
STRONGEST = ("connection", "delayed", "physical", "transition", "trigger", "order", "effect", "use")

Point = tuple[float, float]
Command = tuple[Literal["M", "L", "C"], tuple[Point, ...]]


class Route(NamedTuple):
    """A piece of an edge as a path: move, lines, cubic curves; `arrives`: it ends at a symbol."""

    edge: Edge
    path: tuple[Command, ...]
    arrives: bool = False


class Router:
    """Columns and gaps side by side, and the paths of all lines and lanes among them."""

    def __init__(self, columns: Columns, lines: Sequence[Line], lanes: Sequence[Lane]) -> None:
        self._columns = columns
        self._lines = lines
        self._lanes = lanes
        self._reach: dict[tuple[int, Pin], float] = {}  # of a lane and what turns into it
        self._spans: list[Point] = []  # where each column begins and ends
        self._used = Counter(pin for line in lines for pin in (line.pins[0], line.pins[-1]))
        self._used.update(pin for lane in lanes for pin in lane.pins)
        self._gaps = self._widths_of_gaps()

    def _widths_of_gaps(self) -> list[float]:
        """How wide each gap is, that of gap c at c + 1; and how far each turn reaches into its own."""
        widths = [0.0] * (len(self._columns) + 1)
        for line in self._lines:
            for one, other in line.wires:
                steep = NARROW + round(min(WIDE, STEEP * abs(one.y - other.y)))
                widths[one.vertex.column + 1] = max(widths[one.vertex.column + 1], steep)
        turns: dict[tuple[int, str], dict[int, list[Pin]]] = defaultdict(lambda: defaultdict(list))
        for number, lane in enumerate(self._lanes):
            for pin in lane.pins:
                turns[pin.vertex.column + (pin.side == "right"), pin.side][number].append(pin)
        room: dict[int, list[float]] = defaultdict(list)
        for (gap, _), by_lane in turns.items():
            step = min(NEXT_TURN, round(TURNS / len(by_lane), 1))
            nearest = sorted(by_lane, key=lambda n: max(abs(pin.y - self._lanes[n].y) for pin in by_lane[n]))
            for place, number in enumerate(nearest):
                self._reach.update(((number, pin), TURN + step * place) for pin in by_lane[number])
            room[gap].append(TURN + step * (len(by_lane) - 1))
        for gap, rooms in room.items():
            widths[gap] = max(widths[gap], sum(rooms) + (8.0 if len(rooms) > 1 else 2.0))
        return widths

    def stand(self, least: float, margin: float) -> float:
        """Set `x` of every vertex. Returns the width of the whole.

        Ports stand at the borders of the box, all else at least `margin` away; `least` is the width of its title.
        """
        bare = [bool(column) and column[0].is_port for column in self._columns]
        left = 0.0 if bare and bare[0] else margin
        right = 0.0 if bare and bare[-1] else margin
        widths = [max((vertex.width for vertex in column), default=0.0) for column in self._columns]
        for lane in self._lanes:
            lane.column = max(lane.columns, key=lambda column: (widths[column], column))
            widths[lane.column] = max(widths[lane.column], lane.size[0])
        total = math.fsum((left, right, *self._gaps, *widths))
        inner = max(1, len(self._columns) - 1)
        spare = 2.0 * inner * math.ceil(max(0.0, least - total) / (2 * inner))  # in whole px wherever it goes
        x = left + self._gaps[0] + (spare / 2 if len(self._columns) == 1 and not bare[0] else 0.0)
        for number, column in enumerate(self._columns):
            if len(self._columns) == 1 and bare[0] and column[0].kind == "output":
                x += spare
            self._spans.append((round(x, 1), round(x + widths[number], 1)))
            for vertex in column:
                share = float(vertex.kind == "output") if vertex.is_port else 0.5
                vertex.x = round(x + (widths[number] - vertex.width) * share, 1)
            x += widths[number] + self._gaps[number + 1] + (spare / inner if number < len(self._columns) - 1 else 0.0)
        return round(total + spare, 1)

    def label_of(self, lane: Lane) -> Point:
        """The upper left corner of a lane's label."""
        width, height = lane.size
        return round(sum(self._spans[lane.column]) / 2 - width / 2, 1), round(lane.y - height / 2, 1)

    def routes(self) -> list[Route]:
        """All paths, the strongest last. What several share, a stub at a port, is drawn once."""
        found = [route for line in self._lines for route in self._line(line)]
        found += [route for number in range(len(self._lanes)) for route in self._lane(number)]
        found.sort(key=lambda route: (route.edge.cyclic, -STRONGEST.index(route.edge.kind)))
        return list({(route.path, route.arrives): route for route in found}.values())

    def _line(self, line: Line) -> Iterator[Route]:
        first, last = line.pins[0], line.pins[-1]
        yield from self._stub(line.edge, first)
        yield from self._stub(line.edge, last)
        path: list[Command] = [("M", ((self._begin(first), first.y),))]
        for one, other in line.wires:
            near, far = self._border(one), self._border(other)
            path.append(("L", ((near, one.y),)))
            if abs(one.y - other.y) < 0.05:
                path.append(("L", ((far, other.y),)))
            else:
                middle = round((near + far) / 2, 1)
                path.append(("C", ((middle, one.y), (middle, other.y), (far, other.y))))
        path.append(("L", ((self._begin(last), last.y),)))
        yield Route(line.edge, tuple(path))

    def _border(self, pin: Pin) -> float:
        """The border of the column of a pin, on its side."""
        return self._spans[pin.vertex.column][pin.side == "right"]

    def _begin(self, pin: Pin) -> float:
        """Where the line of a pin begins: at its vertex, or where its stub and the trunk of a link end."""
        return self._border(pin) if pin.vertex.kind == "link" or self._has_stub(pin) else pin.x

    def _has_stub(self, pin: Pin) -> bool:
        arrives = pin.vertex.kind == "symbol" and pin.side == "left"
        return (self._used[pin] > 1 or arrives) and abs(self._border(pin) - pin.x) > 0.05

    def _stub(self, edge: Edge, pin: Pin) -> Iterator[Route]:
        """The straight piece between a pin and the border of its column, where it is a route of its own."""
        if self._has_stub(pin) and pin.vertex.kind != "link":
            ends = sorted((pin.x, self._border(pin)), reverse=pin.side == "right" and pin.x > self._border(pin))
            arrives = pin.vertex.kind == "symbol" and pin.side == "left"
            yield Route(edge, (("M", ((ends[0], pin.y),)), ("L", ((ends[1], pin.y),))), arrives)

    def _lane(self, number: int) -> Iterator[Route]:
        """From the trunk of what turns into it farthest on the left to that on the right; then all other turns."""
        lane = self._lanes[number]
        trunks: dict[tuple[float, bool], list[Pin]] = defaultdict(list)
        for pin in lane.pins:
            yield from self._stub(lane.edge, pin)
            trunks[self._far(number, pin), pin.y > lane.y].append(pin)
        turns: list[list[Point]] = []
        for (far, _), pins in sorted(trunks.items()):
            pins.sort(key=lambda pin: abs(pin.y - lane.y), reverse=True)
            turns.append([(self._begin(pins[0]), pins[0].y), (far, pins[0].y), (far, lane.y)])
            for pin in pins[1:]:  # branches of the trunk that the first one is
                near = _towards((far, pin.y), (far, lane.y))
                yield Route(lane.edge, tuple(_rounded([(self._begin(pin), pin.y), (far, pin.y), near])))
        yield from (Route(lane.edge, tuple(_rounded(turn))) for turn in turns[1:-1])
        first, last = turns[0], turns[-1][::-1]
        if lane.edge.label:
            left, _ = self.label_of(lane)
            yield Route(lane.edge, tuple(_rounded([*first, (left, lane.y)])))
            yield Route(lane.edge, tuple(_rounded([(round(left + lane.size[0], 1), lane.y), *last])))
        else:
            yield Route(lane.edge, tuple(_rounded([*first, *last])))

    def _far(self, number: int, pin: Pin) -> float:
        reach = self._reach[number, pin]
        return round(self._border(pin) + (reach if pin.side == "right" else -reach), 1)


def _rounded(corners: Sequence[Point]) -> Iterator[Command]:
    """A path along upright and level lines, with round corners."""
    yield "M", (corners[0],)
    for (before, corner), (_, after) in pairwise(pairwise(corners)):
        into, out = _towards(corner, before), _towards(corner, after)
        yield "L", (into,)
        yield "C", (corner, corner, out)
    yield "L", (corners[-1],)


def _towards(corner: Point, other: Point) -> Point:
    """As far from a corner as its rounding begins, at most half of the way."""
    distance = math.dist(corner, other)
    share = min(RADIUS, distance / 2) / distance if distance else 0.0
    return tuple(round(a + (b - a) * share, 1) for a, b in zip(corner, other, strict=True))  # type: ignore[return-value]
