"""What a drawing looks like, as rectangles: enough to say that nothing overlaps and nothing is cut."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from reactorlib.view.diagram.layout import Item, Laid, metrics
from reactorlib.view.diagram.layout.route import Route
from reactorlib.view.diagram.model import Edge
from reactorlib.view.diagram.scene import MORE, Circle, Path, Polygon, Rect, Scene, Shape, Text
from reactorlib.view.diagram.text import text_width


@dataclass(frozen=True)
class Area:
    """A rectangle, and what it is."""

    what: str
    left: float
    top: float
    right: float
    bottom: float

    def overlaps(self, other: Area) -> bool:
        return (
            min(self.right, other.right) - max(self.left, other.left) > 0.05
            and min(self.bottom, other.bottom) - max(self.top, other.top) > 0.05
        )

    def within(self, other: Area) -> bool:
        slack = 0.05
        return (
            self.left >= other.left - slack
            and self.top >= other.top - slack
            and self.right <= other.right + slack
            and self.bottom <= other.bottom + slack
        )

    def holds(self, x: float, y: float, margin: float) -> bool:
        return self.left + margin < x < self.right - margin and self.top + margin < y < self.bottom - margin


def areas(laid: Laid) -> list[Area]:
    """What takes room directly within a box."""
    return [
        Area(item.id, item.x, item.y, item.x + item.width, item.y + item.height)
        for item in laid.items
        if item.kind != "bus"
    ]


def collisions(laid: Laid) -> Iterator[str]:
    """What overlaps or leaves its box, in this box and in all within."""
    found = areas(laid)
    yield from (f"{laid.box.id}: {a.what} overlaps {b.what}" for a, b in combinations(found, 2) if a.overlaps(b))
    inside = Area(laid.box.id, 0.0, metrics.HEAD, laid.width, laid.height)
    yield from (f"{laid.box.id}: {area.what} leaves it" for area in found if not area.within(inside))
    if metrics.title_width(laid.box) > laid.width + 0.05:
        yield f"{laid.box.id}: its title is cut"
    for inner in laid.inner.values():
        yield from collisions(inner)


def wires_through(laid: Laid) -> Iterator[str]:
    """Wires that run through a symbol, a box or somebody else's label."""
    for route in laid.routes:
        points = [
            point
            for start, command in zip(route.path, route.path[1:], strict=False)
            for point in samples(start[1][-1], command)
        ]
        for item in laid.items:
            if item.kind not in ("symbol", "box", "label") or item.edge is route.edge:
                continue
            area = Area(item.id, item.x, item.y, item.x + item.width, item.y + item.height)
            if any(area.holds(x, y, metrics.NOTCH + 0.5) for x, y in points):
                yield f"{laid.box.id}: {ends(route.edge)} runs through {item.id}"
    for inner in laid.inner.values():
        yield from wires_through(inner)


def loose_ends(laid: Laid) -> Iterator[str]:
    """Wires that end where nothing is: no symbol, port, label or bus, and no other wire (edges share stubs)."""
    for number, route in enumerate(laid.routes):
        others = [other for place, other in enumerate(laid.routes) if place != number]
        for x, y in (route.path[0][1][0], route.path[-1][1][-1]):
            met = any(touches(item, x, y) for item in laid.items)
            if not met and not any(near(r, x, y) for r in others):
                yield f"{laid.box.id}: {ends(route.edge)} ends at ({x}, {y})"
    for inner in laid.inner.values():
        yield from loose_ends(inner)


def touches(item: Item, x: float, y: float) -> bool:
    margin = 1.0
    return (
        item.x - margin <= x <= item.x + item.width + margin and item.y - margin <= y <= item.y + item.height + margin
    )


def near(route: Route, x: float, y: float) -> bool:
    """Whether a point lies on a path, of which the lines are level or upright."""
    at = start = route.path[0][1][0]
    for letter, points in route.path[1:]:
        end = points[-1]
        if letter == "L":
            (left, right), (top, bottom) = sorted((at[0], end[0])), sorted((at[1], end[1]))
            if left - 0.1 <= x <= right + 0.1 and top - 0.1 <= y <= bottom + 0.1:
                return True
        if abs(end[0] - x) < 0.15 and abs(end[1] - y) < 0.15:
            return True
        at = end
    return abs(start[0] - x) < 0.15 and abs(start[1] - y) < 0.15


def ends(edge: Edge) -> str:
    return f"{'+'.join(edge.sources)} -> {'+'.join(edge.targets)}"


def samples(
    start: tuple[float, float], command: tuple[str, tuple[tuple[float, float], ...]]
) -> Iterator[tuple[float, float]]:
    """Points along a line or a cubic curve."""
    letter, points = command
    steps = 24
    for step in range(steps + 1):
        t = step / steps
        if letter == "L":
            controls = (start, start, points[0], points[0])
        else:
            controls = (start, *points)
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        yield (
            sum(w * p[0] for w, p in zip(weights, controls, strict=True)),
            sum(w * p[1] for w, p in zip(weights, controls, strict=True)),
        )


def words(scene: Scene) -> list[Area]:
    """The room that each line of text needs, by its estimated width."""
    return [word for shape in scene.shapes if isinstance(shape, Text) for word in parts(shape)]


def parts(text: Text) -> Iterator[Area]:
    width = text_width(text.text, text.size, text.bold)
    left = text.x - {"start": 0.0, "middle": width / 2, "end": width}[text.anchor]
    top, bottom = text.y - 0.72 * text.size, text.y
    yield Area(text.text, left, top, left + width, bottom)
    if text.more:
        after = left + width + MORE
        yield Area(text.more, after, top, after + text_width(text.more, text.more_size), bottom)


def extent(shape: Shape) -> Area:
    """The rectangle around a shape."""
    if isinstance(shape, Rect):
        return Area(shape.style, shape.x, shape.y, shape.x + shape.width, shape.y + shape.height)
    if isinstance(shape, Circle):
        r = shape.radius
        return Area(shape.style, shape.x - r, shape.y - r, shape.x + r, shape.y + r)
    if isinstance(shape, Text):
        found = list(parts(shape))
        return Area(shape.text, found[0].left, found[0].top, found[-1].right, found[0].bottom)
    points = shape.points if isinstance(shape, Polygon) else path_points(shape)
    xs, ys = [x for x, _ in points], [y for _, y in points]
    return Area(shape.style, min(xs), min(ys), max(xs), max(ys))


def path_points(path: Path) -> list[tuple[float, float]]:
    return [point for _, some in path.commands for point in some]
