"""A drawing as a list of shapes with a style each: what SVG and PNG are written from. Knows no reactors."""

from __future__ import annotations

from typing import Literal, NamedTuple

from reactorlib.view.diagram.layout.route import Command, Point

MORE = 6.0  # px between a text and what follows it in another style


class Rect(NamedTuple):
    """A rectangle with round corners; `tip` is shown under a pointer."""

    x: float
    y: float
    width: float
    height: float
    radius: float
    style: str
    tip: str = ""


class Polygon(NamedTuple):
    """A filled outline."""

    points: tuple[Point, ...]
    style: str
    tip: str = ""


class Circle(NamedTuple):
    """A circle around (x, y)."""

    x: float
    y: float
    radius: float
    style: str


class Path(NamedTuple):
    """An open line."""

    commands: tuple[Command, ...]
    style: str


class Text(NamedTuple):
    """A line of text from `x` on (or around it), with its baseline at `y`; `more` follows it in its own style."""

    x: float
    y: float
    text: str
    size: float
    style: str
    bold: bool = False
    anchor: Literal["start", "middle", "end"] = "start"
    more: str = ""
    more_size: float = 0.0
    more_style: str = ""


Shape = Rect | Polygon | Circle | Path | Text


class Scene(NamedTuple):
    """Shapes from back to front, and the canvas that holds them all."""

    width: float
    height: float
    title: str
    shapes: tuple[Shape, ...]
