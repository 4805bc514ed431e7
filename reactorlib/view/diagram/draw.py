"""From places to shapes: cards, chevrons, triangles and words, as the reactor literature draws them."""

from __future__ import annotations

from collections.abc import Iterator

from reactorlib.view.diagram.layout import Item, Laid, lay_out, metrics
from reactorlib.view.diagram.layout.route import Command, Point, Route
from reactorlib.view.diagram.model import Box, Diagram, Edge, Port, Symbol
from reactorlib.view.diagram.scene import Circle, Path, Polygon, Rect, Scene, Shape, Text
from reactorlib.view.diagram.text import text_width

MARGIN = 8.0
ARROW = 5.0


def scene_of(diagram: Diagram) -> Scene:
    """The drawing of a diagram."""
    laid = lay_out(diagram.root)
    shapes = tuple(_box(laid, MARGIN, MARGIN, depth=0))
    bottom = laid.height + 2 * MARGIN
    return Scene(laid.width + 2 * MARGIN, bottom, diagram.description, shapes)


def scene_of_box(box: Box) -> Scene:
    """One box alone, as it looks within another."""
    laid = lay_out(box)
    room = metrics.STUB + 1
    shapes = tuple(_box(laid, room, 1.0, depth=1))
    return Scene(laid.width + 2 * room, laid.height + metrics.stack_height(box) + 2, box.title, shapes)


def scene_of_symbol(symbol: Symbol) -> Scene:
    """One symbol alone."""
    width, height = metrics.symbol_size(symbol)
    item = Item("symbol", symbol.id, 0.0, 0.0, width, height)
    return Scene(width + 2, height + 2, symbol.title, tuple(_symbol(symbol, item, 1.0, 1.0)))


def _box(laid: Laid, x: float, y: float, depth: int) -> Iterator[Shape]:
    yield from _card(laid, x, y, depth)
    yield from _heading(laid.box, x, y)
    for route in laid.routes:
        yield Path(tuple(_moved(command, x, y) for command in route.path), _line(route.edge))
        if route.arrives and route.edge.kind in ("trigger", "use", "order"):
            yield _arrow(route, x, y)
    symbols = {symbol.id: symbol for symbol in laid.box.symbols}
    ports = {port.id: port for port in (*laid.box.inputs, *laid.box.outputs)}
    for item in laid.items:
        left, top = x + item.x, y + item.y
        if item.kind == "symbol":
            yield from _symbol(symbols[item.id], item, left, top)
        elif item.kind == "box":
            yield from _box(laid.inner[item.id], left + metrics.STUB, top, depth + 1)
        elif item.kind in ("input", "output"):
            yield from _port_name(ports[item.id], item, left, top)
        elif item.kind == "bus":
            yield Circle(left, top, 3.0, _dot(item))
        else:
            yield _label(item, left, top)
    yield from _ports(laid, x, y)


# Boxes


def _card(laid: Laid, x: float, y: float, depth: int) -> Iterator[Shape]:
    box = laid.box
    look, radius = box.role(depth), 12.0 if box.kind == "mode" else 6.0
    cards = 0 if box.width is None else min(box.width - 1, 2)
    for card in range(cards, 0, -1):
        inset = metrics.STACK * card
        yield Rect(x + inset, y + inset, laid.width - 2 * inset, laid.height, radius, look)
    yield Rect(x, y, laid.width, laid.height, radius, look, box.tip)


def _heading(box: Box, x: float, y: float) -> Iterator[Shape]:
    left, base = x + 10, y + 17
    yield Text(left, base, box.title, metrics.TITLE, "text", bold=True,
               more=box.subtitle, more_size=metrics.TEXT, more_style="quiet")  # fmt: skip
    left += text_width(box.title, metrics.TITLE, bold=True) + 8
    if box.subtitle:
        left += text_width(box.subtitle, metrics.TEXT) + 8
    for note in box.notes:
        wide = text_width(note, metrics.SMALL) + 10
        yield Rect(left, base - 11, wide, 15.0, 7.0, "signal")
        yield Text(left + 5, base, note, metrics.SMALL, "text")
        left += wide + 8


# Ports


def _ports(laid: Laid, x: float, y: float) -> Iterator[Shape]:
    """The triangles on the border of a box, pointing the way that values go."""
    for ports, heights, border in (
        (laid.box.inputs, laid.inputs, x), (laid.box.outputs, laid.outputs, x + laid.width),
    ):  # fmt: skip
        for port in ports:
            middle = y + heights[port.id]
            points = ((border - metrics.STUB, middle - 4.5), (border - metrics.STUB, middle + 4.5),
                      (border + metrics.STUB - 1, middle))  # fmt: skip
            if heights is laid.outputs:
                points = tuple((px + 1, py) for px, py in points)  # type: ignore[assignment]
            yield Polygon(points, "crossing" if port.crossing else "port", port.tip)


def _port_name(port: Port, item: Item, left: float, top: float) -> Iterator[Shape]:
    if port.name and item.kind == "input":
        yield Text(left + 8, top + 8, port.name, metrics.SMALL, "quiet")
    elif port.name:
        yield Text(left + item.width - 8, top + 8, port.name, metrics.SMALL, "quiet", anchor="end")


# Symbols


def _symbol(symbol: Symbol, item: Item, left: float, top: float) -> Iterator[Shape]:
    if symbol.kind == "reaction":
        yield from _chevron(symbol, item, left, top)
        return
    timed = symbol.role == "time"
    yield Rect(left, top, item.width, item.height, 4.0 if timed else item.height / 2, symbol.role, symbol.tip)
    text = left + 8
    if timed:
        yield from _icon(symbol, left + 5, top + item.height / 2)
        text = left + metrics.ICON + 7
    yield from _lines(symbol, text, top)


def _chevron(symbol: Symbol, item: Item, left: float, top: float) -> Iterator[Shape]:
    right, bottom, middle = left + item.width, top + item.height, top + item.height / 2
    notch = metrics.NOTCH
    outline = ((left, top), (right - notch, top), (right, middle), (right - notch, bottom), (left, bottom),
               (left + notch, middle))  # fmt: skip
    yield Polygon(outline, symbol.role, symbol.tip)
    yield from _lines(symbol, left + notch + 4, top)


def _lines(symbol: Symbol, left: float, top: float) -> Iterator[Shape]:
    base = top + 15
    if symbol.number:
        yield Text(left, base, symbol.number, metrics.TEXT, "text", bold=True,
                   more=symbol.title, more_size=metrics.TEXT, more_style="text")  # fmt: skip
    else:
        yield Text(left, base, symbol.title, metrics.TEXT, "text")
    for line in symbol.details:
        base += metrics.SMALL_LINE
        yield Text(left, base, line, metrics.SMALL, "quiet")


def _icon(symbol: Symbol, left: float, middle: float) -> Iterator[Shape]:
    """A clock for a timer, a triangle with L or P for an action."""
    centre = left + 7
    if symbol.kind == "timer":
        yield Circle(centre, middle, 6.0, "icon")
        yield Path((("M", ((centre, middle - 4),)), ("L", ((centre, middle),)),
                    ("L", ((centre + 3, middle),))), "icon")  # fmt: skip
        return
    corners = ((centre, middle - 8), (centre + 8, middle + 6), (centre - 8, middle + 6))
    yield Polygon(corners, "icon")
    letter = "P" if symbol.kind == "physical action" else "L"
    yield Text(centre, middle + 4, letter, 8.0, "icon-text", bold=True, anchor="middle")


# Edges


def _line(edge: Edge) -> str:
    if edge.cyclic:
        return "cyclic-order" if edge.kind == "order" else "cyclic"
    return edge.kind


def _dot(item: Item) -> str:
    return "warn" if item.edge is not None and item.edge.cyclic else "port"


def _label(item: Item, left: float, top: float) -> Shape:
    look = "warn" if item.edge is not None and item.edge.cyclic else "label"
    return Text(left + item.width / 2, top + 11, item.id, metrics.SMALL, look, anchor="middle")


def _arrow(route: Route, x: float, y: float) -> Shape:
    """A head at the end of a route, which comes in from the left."""
    tip_x, tip_y = route.path[-1][1][-1]
    points = ((tip_x, tip_y), (tip_x - ARROW, tip_y - 3), (tip_x - ARROW, tip_y + 3))
    return Polygon(tuple((px + x, py + y) for px, py in points), f"head-{_line(route.edge)}")


def _moved(command: Command, x: float, y: float) -> Command:
    letter, points = command
    moved: tuple[Point, ...] = tuple((px + x, py + y) for px, py in points)
    return letter, moved
