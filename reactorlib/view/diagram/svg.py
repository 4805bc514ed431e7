"""SVG of a scene: one self-contained file, the same bytes each time, with colours for light and dark pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from xml.sax.saxutils import escape, quoteattr

from reactorlib.view.diagram.scene import MORE, Circle, Path, Polygon, Rect, Scene, Shape, Text
from reactorlib.view.diagram.style import DARK, FONT, LIGHT, Style

# Characters that XML 1.0 cannot hold, however escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def svg_text(scene: Scene) -> str:
    """The text of an SVG file. Fonts are named, not embedded: text keeps within its place in common sans-serifs."""
    width, height = _number(scene.width), _number(scene.height)
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    start = '<svg xmlns="http://www.w3.org/2000/svg" class="reactorlib-diagram" role="img"'
    lines = [
        f"{start} {size} font-family={quoteattr(FONT)}>",
        f"<title>{_text(scene.title)}</title>",
        f"<style>{_styles(scene)}</style>",
    ]
    lines += [_shape(shape) for shape in scene.shapes]
    lines.append("</svg>")
    return "\n".join(lines) + "\n"


def _styles(scene: Scene) -> str:
    """The rules for the roles that occur; first those for light pages, which readers without media queries use."""
    roles = dict.fromkeys(shape.style for shape in scene.shapes)
    roles |= dict.fromkeys(shape.more_style for shape in scene.shapes if isinstance(shape, Text) and shape.more)
    light, dark = (_rules(roles, look) for look in (LIGHT, DARK))
    return f"\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"


def _rules(roles: Iterable[str], look: Mapping[str, Style]) -> str:
    return "\n".join(f".reactorlib-diagram .{role} {{ {_declarations(role, look)} }}" for role in roles)


def _declarations(role: str, look: Mapping[str, Style]) -> str:
    if role.startswith("head-"):
        return f"fill: {look[role.removeprefix('head-')].line}"
    style = look[role]
    parts = [f"fill: {style.fill or 'none'}"]
    if style.line:
        parts += [f"stroke: {style.line}", f"stroke-width: {_number(style.width)}"]
    if style.line and not style.fill and not style.dash:
        parts.append("stroke-linecap: round")
    if style.dash:
        parts.append(f"stroke-dasharray: {' '.join(map(_number, style.dash))}")
    return "; ".join(parts)


def _shape(shape: Shape) -> str:
    if isinstance(shape, Rect):
        place = f'x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.width)}"'
        return _closed("rect", f'{place} height="{_number(shape.height)}" rx="{_number(shape.radius)}"', shape)
    if isinstance(shape, Polygon):
        points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
        return _closed("polygon", f'points="{points}"', shape)
    if isinstance(shape, Circle):
        place = f'cx="{_number(shape.x)}" cy="{_number(shape.y)}"'
        return f'<circle class="{shape.style}" {place} r="{_number(shape.radius)}"/>'
    if isinstance(shape, Path):
        data = "".join(
            letter + " ".join(f"{_number(x)},{_number(y)}" for x, y in points) for letter, points in shape.commands
        )
        return f'<path class="{shape.style}" d="{data}"/>'
    return _words(shape)


def _closed(name: str, attributes: str, shape: Rect | Polygon) -> str:
    start = f'<{name} class="{shape.style}" {attributes}'
    return f"{start}><title>{_text(shape.tip)}</title></{name}>" if shape.tip else f"{start}/>"


def _words(shape: Text) -> str:
    attributes = f'class="{shape.style}" x="{_number(shape.x)}" y="{_number(shape.y)}"'
    attributes += f' font-size="{_number(shape.size)}"'
    if shape.bold:
        attributes += ' font-weight="bold"'
    if shape.anchor != "start":
        attributes += f' text-anchor="{shape.anchor}"'
    more = ""
    if shape.more:
        look = f'class="{shape.more_style}" font-size="{_number(shape.more_size)}"'
        more = f'<tspan dx="{_number(MORE)}" {look} font-weight="normal">{_text(shape.more)}</tspan>'
    return f"<text {attributes}>{_text(shape.text)}{more}</text>"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text))
