"""Pieces of an edge that meet become one line, so that it has no seams and its dashes are even."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from reactorlib.view.diagram.model import Edge

Point = tuple[float, float]
Command = tuple[Literal["M", "L", "C"], tuple[Point, ...]]


@dataclass(frozen=True, slots=True)
class Route:
    """A piece of an edge as a path: move, lines, cubic curves; `arrives`: it ends at a symbol."""

    edge: Edge
    path: tuple[Command, ...]
    arrives: bool

    @property
    def start(self) -> Point:
        return self.path[0][1][0]

    @property
    def end(self) -> Point:
        return self.path[-1][1][-1]


def joined(routes: Iterable[Route]) -> list[Route]:
    """The same lines in fewer routes: joined wherever exactly two of one edge meet, and neither arrives there."""
    by_edge: dict[int, list[Route]] = defaultdict(list)
    for route in routes:
        by_edge[id(route.edge)].append(route)
    return [route for same in by_edge.values() for route in _joined(same)]


def _joined(routes: list[Route]) -> list[Route]:
    meeting: dict[Point, list[int]] = defaultdict(list)
    for number, route in enumerate(routes):
        meeting[route.start].append(number)
        meeting[route.end].append(number)
    fixed = {route.end for route in routes if route.arrives}
    pieces: dict[int, Route] = dict(enumerate(routes))
    place = {number: number for number in pieces}  # where each route has gone

    def found(number: int) -> int:
        while place[number] != number:
            number = place[number]
        return number

    for point, numbers in meeting.items():
        if len(numbers) != 2 or point in fixed:
            continue
        one, two = found(numbers[0]), found(numbers[1])
        if one != two:
            pieces[one] = _concatenated(pieces[one], pieces.pop(two), point)
            place[two] = one
    return list(pieces.values())


def _concatenated(one: Route, two: Route, point: Point) -> Route:
    """Two routes that meet at `point` as one; whatever arrives stays at the end."""
    if one.arrives:
        one, two = two, one
    if one.end != point:
        one = _reversed(one)
    if two.start != point:
        two = _reversed(two)
    return Route(one.edge, one.path + two.path[1:], two.arrives)


def _reversed(route: Route) -> Route:
    points = [point for _, some in route.path for point in some][::-1]
    path: list[Command] = [("M", (points[0],))]
    at = 1
    for letter, some in reversed(route.path[1:]):
        path.append((letter, tuple(points[at : at + len(some)])))
        at += len(some)
    return Route(route.edge, tuple(path), arrives=False)
