"""The parts of a layout: vertices in columns, pins on their sides, wires from pin to pin, and the finished box."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.model import Box, Edge

Side = Literal["left", "right"]
Point = tuple[float, float]
Command = tuple[Literal["M", "L", "C"], tuple[Point, ...]]


@dataclass(slots=True, eq=False)
class Vertex:
    """Something with a place in a column. `left` and `right`: the ends on its sides, with their y offset."""

    kind: Literal["input", "output", "symbol", "box", "label", "bus", "link"]
    item: str  # the id of what it stands for; the text of a label
    width: float = 0.0
    height: float = 0.0
    left: Mapping[str, float] = field(default_factory=dict)
    right: Mapping[str, float] = field(default_factory=dict)
    inset: tuple[float, float] = (0.0, 0.0)  # how far wires reach into its left and right
    edge: Edge | None = None  # of a label, bus or link
    column: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def is_port(self) -> bool:
        """Whether it belongs on the border of the box, where the order of declaration counts."""
        return self.kind in ("input", "output")


class Pin(NamedTuple):
    """An end on one side of a vertex: where a wire begins."""

    vertex: Vertex
    side: Side
    end: str = ""

    @property
    def offset(self) -> float:
        """How far below the top of its vertex."""
        ends = self.vertex.left if self.side == "left" else self.vertex.right
        return ends.get(self.end, self.vertex.height / 2)

    @property
    def x(self) -> float:
        left, right = self.vertex.inset
        return round(self.vertex.x + (self.vertex.width - right if self.side == "right" else left), 1)

    @property
    def y(self) -> float:
        return round(self.vertex.y + self.offset, 1)


class Wire(NamedTuple):
    """A piece of an edge in one gap between columns, from left to right."""

    edge: Edge
    start: Pin
    end: Pin


@dataclass(slots=True, eq=False)
class Lane:
    """An edge that runs back, on a line below all columns. Pins on the right turn into it, those on the left out."""

    edge: Edge
    pins: list[Pin]
    label: Vertex
    y: float = 0.0

    @property
    def columns(self) -> range:
        """The columns that it passes, or may pass."""
        ends = [pin.vertex.column for pin in self.pins]
        return range(min(ends), max(ends) + 1)


class Route(NamedTuple):
    """A piece of an edge as a path of moves, lines and cubic curves. `arrives`: it ends at a symbol."""

    edge: Edge
    path: tuple[Command, ...]
    arrives: bool = False


class Laid(NamedTuple):
    """A box after its layout. `inputs` and `outputs`: the heights of its ports, by id."""

    box: Box
    width: float
    height: float
    inputs: dict[str, float]
    outputs: dict[str, float]
    items: tuple[Vertex, ...]
    routes: tuple[Route, ...]
    inner: dict[str, Laid]


def vertices_of(box: Box, inner: Mapping[str, Laid]) -> list[Vertex]:
    """The vertices of the ports, symbols and boxes within a box, without places."""
    found: list[Vertex] = []
    for port in box.inputs:
        wide = metrics.port_width(port)
        found.append(Vertex("input", port.id, wide, metrics.PORT_LINE, {}, {port.id: 11.0}, (0.0, wide - metrics.STUB)))
    for symbol in box.symbols:
        wide, high = metrics.symbol_size(symbol)
        inset = (metrics.NOTCH if symbol.kind == "reaction" else 0.0, 0.0)
        found.append(Vertex("symbol", symbol.id, wide, high, {symbol.id: high / 2}, {symbol.id: high / 2}, inset))
    for child in box.boxes:
        laid = inner[child.id]
        wide, high = laid.width + 2 * metrics.STUB, laid.height + metrics.STACK * metrics.cards(child)
        found.append(Vertex("box", child.id, wide, high, laid.inputs, laid.outputs))
    for port in box.outputs:
        wide, ends = metrics.port_width(port), {port.id: 11.0}
        found.append(Vertex("output", port.id, wide, metrics.PORT_LINE, ends, {}, (wide - metrics.STUB, 0.0)))
    return found
