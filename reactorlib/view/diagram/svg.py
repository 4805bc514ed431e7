"""SVG of a diagram: one self-contained file, the same bytes each time, with colours for light and dark pages.

It is drawn as in the reactor literature: a reaction is a chevron with its number, a bank is a stack of cards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from reactorlib.view.diagram.layout import Laid, lay_out, metrics
from reactorlib.view.diagram.layout.metrics import SMALL, STACK, STUB, TEXT, TITLE, text_width
from reactorlib.view.diagram.layout.network import Command, Point, Route, Vertex
from reactorlib.view.diagram.model import LETTERS, Box, Diagram, Symbol
from reactorlib.view.diagram.style import DARK, FONT, LIGHT, Style

MARGIN = 8.0

# Characters that XML 1.0 cannot hold, however escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_text(diagram: Diagram) -> str:
    """The text of an SVG file. Fonts are named, not embedded: words keep within their place in common sans-serifs."""
    laid = lay_out(diagram.root)
    width, height = _px(laid.width + 2 * MARGIN), _px(laid.height + 2 * MARGIN)
    body = "\n".join(_placed(_box(laid, 0), MARGIN, MARGIN))
    roles = [role for role in LIGHT if f'class="{role}"' in body]
    light, dark = ("\n".join(f".reactorlib-diagram .{role} {{ {_rule(look[role])} }}" for role in roles)
                   for look in (LIGHT, DARK))  # fmt: skip
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" class="reactorlib-diagram" role="img" '
        f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family={quoteattr(FONT)}>\n'
        f"<title>{_escaped(diagram.description)}</title>\n"
        f"<style>\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>\n{body}\n</svg>\n"
    )


def _rule(style: Style) -> str:
    parts = [f"fill: {style.fill or 'none'}"]
    if style.line:
        parts += [f"stroke: {style.line}", f"stroke-width: {_px(style.width)}"]
    if style.dash:
        parts.append(f"stroke-dasharray: {' '.join(map(_px, style.dash))}")
    elif style.line and not style.fill:
        parts.append("stroke-linecap: round")
    return "; ".join(parts)


def _box(laid: Laid, depth: int) -> Iterator[str]:
    box = laid.box
    look, radius = box.role(depth), 12.0 if box.kind == "mode" else 6.0
    for inset in (STACK * card for card in range(metrics.cards(box), 0, -1)):
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
            yield _mark(item, names)
    yield from _ports(laid)


def _heading(box: Box) -> Iterator[str]:
    yield _text("text", 10.0, 17.0, box.title, TITLE, bold=True, more=(box.subtitle, "quiet"))
    left = 10 + text_width(box.title, TITLE, bold=True) + 8
    if box.subtitle:
        left += text_width(box.subtitle, TEXT) + 8
    for note in box.notes:
        wide = text_width(note, SMALL) + 10
        yield _rect("signal", left, 6.0, wide, 15.0, 7.0)
        yield _text("text", left + 5, 17.0, note, SMALL)
        left += wide + 8


def _mark(item: Vertex, names: Mapping[str, str]) -> str:
    """The name of a port, the label of an edge, or the dot of a bus."""
    cyclic = item.edge is not None and item.edge.cyclic
    if item.kind == "bus":
        return _element("circle", "warn" if cyclic else "port", cx=item.x, cy=item.y, r=3.0)
    if item.kind == "label":
        middle = item.x + item.width / 2
        return _text("warn" if cyclic else "label", middle, item.y + 11, item.item, SMALL, anchor="middle")
    left = item.kind == "input"
    x = item.x + 8 if left else item.x + item.width - 8
    return _text("quiet", x, item.y + 8, names[item.item], SMALL, anchor="" if left else "end")


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
    if route.arrives and f"head-{role}" in LIGHT:
        x, y = route.path[-1][1][-1]
        yield _polygon(f"head-{role}", ((x, y), (x - 5, y - 3), (x - 5, y + 3)))


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
    first = (symbol.number, (symbol.title, "text")) if symbol.number else (symbol.title, None)
    yield _text("text", left, 15.0, first[0], TEXT, bold=bool(symbol.number), more=first[1])
    for line, detail in enumerate(symbol.details, 1):
        yield _text("quiet", left, 15 + metrics.SMALL_LINE * line, detail, SMALL)


def _icon(symbol: Symbol, x: float, y: float) -> Iterator[str]:
    """A clock for a timer, a triangle with L or P for an action."""
    if symbol.kind == "timer":
        yield _element("circle", "icon", cx=x, cy=y, r=6.0)
        yield _path("icon", (("M", ((x, y - 4),)), ("L", ((x, y),)), ("L", ((x + 3, y),))))
    else:
        yield _polygon("icon", ((x, y - 8), (x + 8, y + 6), (x - 8, y + 6)))
        yield _text("icon-text", x, y + 4, LETTERS[symbol.kind], 8.0, bold=True, anchor="middle")


def _placed(shapes: Iterable[str], x: float, y: float) -> Iterator[str]:
    yield f'<g transform="translate({_px(x)} {_px(y)})">'
    yield from shapes
    yield "</g>"


def _rect(role: str, x: float, y: float, width: float, height: float, radius: float, tip: str = "") -> str:
    return _element("rect", role, _tip(tip), x=x, y=y, width=width, height=height, rx=radius)


def _polygon(role: str, corners: Iterable[Point], tip: str = "") -> str:
    return _element("polygon", role, _tip(tip), points=_points(corners))


def _path(role: str, commands: Iterable[Command]) -> str:
    return _element("path", role, d="".join(letter + _points(points) for letter, points in commands))


def _text(role: str, x: float, y: float, text: str, size: float, *, bold: bool = False, anchor: str = "",
          more: tuple[str, str] | None = None) -> str:  # fmt: skip
    """A line of text on the baseline `y`. `more` follows it: a text and its role."""
    look = {"font-weight": "bold"} if bold else {}
    look |= {"text-anchor": anchor} if anchor else {}
    after: dict[str, float | str] = {"dx": 6.0, "font-size": TEXT, "font-weight": "normal"}
    span = _element("tspan", more[1], _escaped(more[0]), **after) if more and more[0] else ""
    return _element("text", role, _escaped(text) + span, x=x, y=y, **{"font-size": size}, **look) if text else ""


def _element(name: str, role: str, content: str = "", **attributes: float | str) -> str:
    known = "".join(f' {key}="{at if isinstance(at, str) else _px(at)}"' for key, at in attributes.items())
    return f'<{name} class="{role}"{known}' + (f">{content}</{name}>" if content else "/>")


def _tip(text: str) -> str:
    """The words under the pointer."""
    return f"<title>{_escaped(text)}</title>" if text else ""


def _points(points: Iterable[Point]) -> str:
    return " ".join(f"{_px(x)},{_px(y)}" for x, y in points)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _escaped(text: str) -> str:
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
