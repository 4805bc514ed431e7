"""A drawing as rectangles: enough to see that nothing overlaps and nothing is cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import dist
from xml.etree import ElementTree as ET

from reactorlib.view.diagram.layout import Laid, metrics
from reactorlib.view.diagram.layout.metrics import text_width
from reactorlib.view.diagram.layout.network import Point, Route, Vertex
from reactorlib.view.diagram.model import Edge

STEPS = 24
NUMBER = re.compile(r"-?[\d.]+")


@dataclass(frozen=True)
class Area:
    """A rectangle with a name."""

    what: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        wide = min(self.right, other.right) - max(self.left, other.left)
        return wide > 0.05 and min(self.bottom, other.bottom) - max(self.top, other.top) > 0.05

    def within(self, other: Area) -> bool:
        beyond = (other.left - self.left, other.top - self.top, self.right - other.right, self.bottom - other.bottom)
        return max(beyond) <= 0.05

    def holds(self, x: float, y: float, margin: float) -> bool:
        return self.left + margin < x < self.right - margin and self.top + margin < y < self.bottom - margin


def area_of(item: Vertex) -> Area:
    return Area(item.item, item.x, item.y, item.x + item.width, item.y + item.height)


def flaws_of(laid: Laid) -> Iterator[str]:
    """Everything in a box, and in all within, that would make a reader of a picture stumble."""
    for flaw in (*collisions(laid), *wires_through(laid), *loose_ends(laid), *side_by_side(laid)):
        yield f"{laid.box.id}: {flaw}"
    for inner in laid.inner.values():
        yield from flaws_of(inner)


def collisions(laid: Laid) -> Iterator[str]:
    """Items that overlap or leave their box."""
    found = [area_of(item) for item in laid.items if item.kind != "bus"]
    yield from (f"{a.what} overlaps {b.what}" for a, b in combinations(found, 2) if a.overlaps(b))
    inside = Area(laid.box.id, 0.0, metrics.HEAD, laid.width, laid.height)
    yield from (f"{area.what} leaves it" for area in found if not area.within(inside))
    if metrics.title_width(laid.box) > laid.width + 0.05:
        yield "its title is cut"


def wires_through(laid: Laid) -> Iterator[str]:
    """Wires that run through a symbol, a box or another edge's label."""
    for route in laid.routes:
        points = samples(route)
        for item in laid.items:
            if item.kind not in ("symbol", "box", "label") or item.edge is route.edge:
                continue
            if any(area_of(item).holds(x, y, metrics.NOTCH + 0.5) for x, y in points):
                yield f"{ends(route.edge)} runs through {item.item}"


def loose_ends(laid: Laid) -> Iterator[str]:
    """Wires that end where nothing is: no symbol, port, label or bus, and no other wire (edges share stubs)."""
    for number, route in enumerate(laid.routes):
        others = [other for place, other in enumerate(laid.routes) if place != number]
        for end in (route.path[0][1][0], route.path[-1][1][-1]):
            met = any(area_of(item).holds(*end, -1.001) for item in laid.items)
            if not met and not any(near(other, end) for other in others):
                yield f"{ends(route.edge)} ends at {end}"


def side_by_side(laid: Laid) -> Iterator[str]:
    """Edges that run back and are drawn on top of each other, on an upright line."""
    uprights = [
        (route.edge, x, *sorted((start[1][-1][1], y)))
        for route in laid.routes
        for start, (letter, ((x, y), *_)) in pairwise(route.path)
        if letter == "L" and x == start[1][-1][0]
    ]
    for (one, x, top, bottom), (other, at, high, low) in combinations(uprights, 2):
        if one is not other and abs(x - at) < 1 and min(bottom, low) - max(top, high) > 1:
            yield f"{ends(one)} on {ends(other)}"


def near(route: Route, point: Point) -> bool:
    """Whether a point is on a path."""
    return any(
        dist(one, point) + dist(point, other) < dist(one, other) + 0.1 for one, other in pairwise(samples(route))
    )


def ends(edge: Edge) -> str:
    return f"{'+'.join(edge.sources)} -> {'+'.join(edge.targets)}"


def samples(route: Route) -> list[Point]:
    """Points along the lines and cubic curves of a path."""
    found: list[Point] = []
    for (_, before), (letter, points) in pairwise(route.path):
        start = before[-1]
        controls = (start, start, points[0], points[0]) if letter == "L" else (start, *points)
        for t in (step / STEPS for step in range(STEPS + 1)):
            weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
            x, y = (sum(w * p[axis] for w, p in zip(weights, controls, strict=True)) for axis in (0, 1))
            found.append((x, y))
    return found


# The file


def drawn(svg: str) -> tuple[Area, list[Area], list[Area]]:
    """The canvas of an SVG, the area of each line of text, and that of each shape."""
    root = ET.fromstring(svg)
    words: list[Area] = []
    shapes: list[Area] = []
    visit(root, 0.0, 0.0, words, shapes)
    return Area("canvas", 0.0, 0.0, float(root.get("width", 0)), float(root.get("height", 0))), words, shapes


def visit(parent: ET.Element, x: float, y: float, words: list[Area], shapes: list[Area]) -> None:
    for element in parent:
        tag = element.tag.partition("}")[2]
        if tag == "g":
            dx, dy = map(float, NUMBER.findall(element.get("transform", "")))
            visit(element, x + dx, y + dy, words, shapes)
        elif tag == "text":
            words += lines(element, x, y)
        elif tag not in ("title", "style"):
            shapes.append(extent(tag, element, x, y))


def lines(element: ET.Element, x: float, y: float) -> Iterator[Area]:
    """The room that a text needs by its estimated width, and that of the one that follows it."""
    size = float(element.get("font-size", 0))
    width = text_width(element.text or "", size, element.get("font-weight") == "bold")
    left = x + float(element.get("x", 0)) - {"middle": width / 2, "end": width}.get(element.get("text-anchor", ""), 0.0)
    base = y + float(element.get("y", 0))
    yield Area(element.text or "", left, base - 0.72 * size, left + width, base)
    for span in element:
        after = left + width + float(span.get("dx", 0))
        more = text_width(span.text or "", float(span.get("font-size", 0)))
        yield Area(span.text or "", after, base - 0.72 * size, after + more, base)


def extent(tag: str, element: ET.Element, x: float, y: float) -> Area:
    """The rectangle around a shape."""
    what = element.get("class", "")
    known = {name: float(value) for name, value in element.items() if NUMBER.fullmatch(value)}
    if tag == "rect":
        left, top = x + known["x"], y + known["y"]
        return Area(what, left, top, left + known["width"], top + known["height"])
    if tag == "circle":
        r = known["r"]
        return Area(what, x + known["cx"] - r, y + known["cy"] - r, x + known["cx"] + r, y + known["cy"] + r)
    numbers = [float(number) for number in NUMBER.findall(element.get("points") or element.get("d") or "")]
    xs, ys = numbers[::2], numbers[1::2]
    return Area(what, x + min(xs), y + min(ys), x + max(xs), y + max(ys))
