"""SVG of a diagram: one self-contained file, the same bytes each time, with colours for light and dark pages.

It is drawn as in the reactor literature: a reaction is a chevron with its number, a bank is a stack of cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from reactorlib.view.diagram.layout import Laid, lay_out, metrics
from reactorlib.view.diagram.layout.metrics import SMALL, STACK, STUB, TEXT, TITLE, text_width
from reactorlib.view.diagram.layout.network import Command, Point, Route, Vertex
from reactorlib.view.diagram.model import Box, Diagram, Symbol
from reactorlib.view.diagram.style import DARK, FONT, LIGHT, Style

MARGIN = 8.0

# Characters that XML 1.0 cannot hold, however escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_text(diagram: Diagram) -> str:
    """The text of an SVG file. Fonts are named, not embedded: words keep within their place in common sans-serifs."""
    laid = lay_out(diagram.root)
    width, height = laid.width + 2 * MARGIN, laid.height + 2 * MARGIN
    return _picture(width, height, diagram.description, _placed(_box(laid, 0), MARGIN, MARGIN))


def svg_of_box(box: Box) -> str:
    """One box alone, as it looks within another."""
    laid, room = lay_out(box), STUB + 1
    height = laid.height + STACK * metrics.cards(box) + 2
    return _picture(laid.width + 2 * room, height, box.title, _placed(_box(laid, 1), room, 1.0))


def svg_of_symbol(symbol: Symbol) -> str:
    """One symbol alone."""
    width, height = metrics.symbol_size(symbol)
    return _picture(width + 2, height + 2, symbol.title, _placed(_symbol(symbol, width, height), 1.0, 1.0))


def svg_of_line(role: str) -> str:
    """One line alone."""
    return _picture(56.0, 14.0, role, [_path(role, (("M", ((3.0, 7.0),)), ("L", ((53.0, 7.0),))))])


def _picture(width: float, height: float, title: str, shapes: Iterator[str] | list[str]) -> str:
    body = "\n".join(shapes)
    roles = [role for role in LIGHT if f'class="{role}"' in body]
    light, dark = ("\n".join(f".reactorlib-diagram .{role} {{ {_rule(look, role)} }}" for role in roles)
                   for look in (LIGHT, DARK))  # fmt: skip
    size = f'width="{_px(width)}" height="{_px(height)}" viewBox="0 0 {_px(width)} {_px(height)}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="reactorlib-diagram" role="img" {size} '
        f"font-family={quoteattr(FONT)}>\n<title>{_escaped(title)}</title>\n"
        f"<style>\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>\n{body}\n</svg>\n"
    )


def _rule(look: Mapping[str, Style], role: str) -> str:
    style = look[role]
    parts = [f"fill: {style.fill or 'none'}"]
    if style.line:
        parts += [f"stroke: {style.line}", f"stroke-width: {_px(style.width)}"]
    if style.dash:
        parts.append(f"stroke-dasharray: {' '.join(map(_px, style.dash))}")
    elif style.line and not style.fill:
        parts.append("stroke-linecap: round")
    return "; ".join(parts)


# Boxes


def _box(laid: Laid, depth: int) -> Iterator[str]:
    box = laid.box
    look, radius = box.role(depth), 12.0 if box.kind == "mode" else 6.0
    for card in range(metrics.cards(box), 0, -1):
        inset = STACK * card
        yield _rect(look, inset, inset, laid.width - 2 * inset, laid.height, radius)
    yield _rect(look, 0.0, 0.0, laid.width, laid.height, radius, box.tip)
    yield from _heading(box)
    for route in laid.routes:
        yield from _route(route)
    symbols = {symbol.id: symbol for symbol in box.symbols}
    names = {port.id: port.name for port in (*box.inputs, *box.outputs)}
    for item in laid.items:
        if item.kind == "symbol":
            yield from _placed(_symbol(symbols[item.item], item.width, item.height), item.x, item.y)
        elif item.kind == "box":
            yield from _placed(_box(laid.inner[item.item], depth + 1), item.x + STUB, item.y)
        else:
            yield from _mark(item, names)
    yield from _ports(laid)


def _heading(box: Box) -> Iterator[str]:
    subtitle = (box.subtitle, TEXT, "quiet") if box.subtitle else None
    yield _text("text", 10.0, 17.0, box.title, TITLE, bold=True, more=subtitle)
    left = 10 + text_width(box.title, TITLE, bold=True) + 8
    if box.subtitle:
        left += text_width(box.subtitle, TEXT) + 8
    for note in box.notes:
        wide = text_width(note, SMALL) + 10
        yield _rect("signal", left, 6.0, wide, 15.0, 7.0)
        yield _text("text", left + 5, 17.0, note, SMALL)
        left += wide + 8


def _mark(item: Vertex, names: Mapping[str, str]) -> Iterator[str]:
    """The name of a port, the label of an edge, or the dot of a bus."""
    cyclic = item.edge is not None and item.edge.cyclic
    if item.kind == "bus":
        yield _circle("warn" if cyclic else "port", item.x, item.y, 3.0)
    elif item.kind == "label":
        middle = item.x + item.width / 2
        yield _text("warn" if cyclic else "label", middle, item.y + 11, item.item, SMALL, anchor="middle")
    elif names[item.item] and item.kind == "input":
        yield _text("quiet", item.x + 8, item.y + 8, names[item.item], SMALL)
    elif names[item.item]:
        yield _text("quiet", item.x + item.width - 8, item.y + 8, names[item.item], SMALL, anchor="end")


def _ports(laid: Laid) -> Iterator[str]:
    """The triangles on the border of a box, which point the way of the values."""
    inputs = ((port, laid.inputs[port.id], 0.0) for port in laid.box.inputs)
    outputs = ((port, laid.outputs[port.id], laid.width + 1) for port in laid.box.outputs)
    for port, y, x in (*inputs, *outputs):
        corners = ((x - STUB, y - 4.5), (x - STUB, y + 4.5), (x + STUB - 1, y))
        yield _polygon("crossing" if port.crossing else "port", corners, port.tip)


def _route(route: Route) -> Iterator[str]:
    role = route.edge.role
    yield _path(role, route.path)
    if route.arrives and route.edge.kind in ("trigger", "use", "order"):
        x, y = route.path[-1][1][-1]
        yield _polygon(f"head-{role}", ((x, y), (x - 5, y - 3), (x - 5, y + 3)))


# Symbols


def _symbol(symbol: Symbol, width: float, height: float) -> Iterator[str]:
    middle, notch, timed = height / 2, metrics.NOTCH, symbol.role == "time"
    left = metrics.ICON + 7 if timed else 8.0
    if symbol.kind == "reaction":
        left = notch + 4
        corners = ((0.0, 0.0), (width - notch, 0.0), (width, middle), (width - notch, height), (0.0, height),
                   (notch, middle))  # fmt: skip
        yield _polygon(symbol.role, corners, symbol.tip)
    else:
        yield _rect(symbol.role, 0.0, 0.0, width, height, 4.0 if timed else middle, symbol.tip)
    if timed:
        yield from _icon(symbol, 12.0, middle)
    if symbol.number:
        yield _text("text", left, 15.0, symbol.number, TEXT, bold=True, more=(symbol.title, TEXT, "text"))
    else:
        yield _text("text", left, 15.0, symbol.title, TEXT)
    for line, detail in enumerate(symbol.details, 1):
        yield _text("quiet", left, 15 + metrics.SMALL_LINE * line, detail, SMALL)


def _icon(symbol: Symbol, x: float, y: float) -> Iterator[str]:
    """A clock for a timer, a triangle with L or P for an action."""
    if symbol.kind == "timer":
        yield _circle("icon", x, y, 6.0)
        yield _path("icon", (("M", ((x, y - 4),)), ("L", ((x, y),)), ("L", ((x + 3, y),))))
    else:
        yield _polygon("icon", ((x, y - 8), (x + 8, y + 6), (x - 8, y + 6)))
        letter = "P" if symbol.kind == "physical action" else "L"
        yield _text("icon-text", x, y + 4, letter, 8.0, bold=True, anchor="middle")


# Elements of SVG


def _placed(shapes: Iterator[str], x: float, y: float) -> Iterator[str]:
    yield f'<g transform="translate({_px(x)} {_px(y)})">'
    yield from shapes
    yield "</g>"


def _rect(role: str, x: float, y: float, width: float, height: float, radius: float, tip: str = "") -> str:
    size = f'width="{_px(width)}" height="{_px(height)}" rx="{_px(radius)}"'
    return _closed("rect", f'class="{role}" x="{_px(x)}" y="{_px(y)}" {size}', tip)


def _polygon(role: str, corners: tuple[Point, ...], tip: str = "") -> str:
    points = " ".join(f"{_px(x)},{_px(y)}" for x, y in corners)
    return _closed("polygon", f'class="{role}" points="{points}"', tip)


def _closed(name: str, attributes: str, tip: str) -> str:
    return f"<{name} {attributes}><title>{_escaped(tip)}</title></{name}>" if tip else f"<{name} {attributes}/>"


def _circle(role: str, x: float, y: float, radius: float) -> str:
    return f'<circle class="{role}" cx="{_px(x)}" cy="{_px(y)}" r="{_px(radius)}"/>'


def _path(role: str, commands: tuple[Command, ...]) -> str:
    data = "".join(letter + " ".join(f"{_px(x)},{_px(y)}" for x, y in points) for letter, points in commands)
    return f'<path class="{role}" d="{data}"/>'


def _text(role: str, x: float, y: float, text: str, size: float, *, bold: bool = False, anchor: str = "",
          more: tuple[str, float, str] | None = None) -> str:  # fmt: skip
    """A line of text on the baseline `y`. `more` follows it: text, size, role."""
    look = (' font-weight="bold"' if bold else "") + (f' text-anchor="{anchor}"' if anchor else "")
    span = ""
    if more:
        after, smaller, other = more
        other_look = f'class="{other}" font-size="{_px(smaller)}" font-weight="normal"'
        span = f'<tspan dx="6" {other_look}>{_escaped(after)}</tspan>'
    start = f'<text class="{role}" x="{_px(x)}" y="{_px(y)}" font-size="{_px(size)}"{look}>'
    return f"{start}{_escaped(text)}{span}</text>"


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
