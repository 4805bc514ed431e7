"""The content of one box as a network: vertices that take room in columns, and flows between their pins."""

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
    row: int = 0
    x: float = 0.0
    y: float = 0.0

    @property
    def is_port(self) -> bool:
        """Whether it belongs on the border of the box, where the order of declaration counts."""
        return self.kind in ("input", "output")

    def precedes(self, other: Vertex) -> bool:
        """Whether a wire can run to the right from this vertex to the other."""
        return self.row == other.row and self.column < other.column


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


@dataclass(slots=True, eq=False)
class Flow:
    """An edge between pins. `via`: the vertex of its label, or where many sources meet on the way to many targets."""

    edge: Edge
    sources: list[Pin]
    targets: list[Pin]
    via: Vertex | None = None

    @property
    def is_whole(self) -> bool:
        """Whether all its ends must be joined in one place."""
        return bool(self.edge.label) or self.edge.is_bus


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


class Network:
    """The vertices and flows of a box, before they have columns."""

    def __init__(self, box: Box, inner: Mapping[str, Laid]) -> None:
        self.vertices: list[Vertex] = []
        for port in box.inputs:
            wide = metrics.port_width(port)
            inset = (0.0, wide - metrics.STUB)
            self.vertices.append(Vertex("input", port.id, wide, metrics.PORT_LINE, {}, {port.id: 11.0}, inset))
        for symbol in box.symbols:
            middle = {symbol.id: metrics.symbol_size(symbol)[1] / 2}
            inset = (metrics.NOTCH if symbol.kind == "reaction" else 0.0, 0.0)
            self.vertices.append(Vertex("symbol", symbol.id, *metrics.symbol_size(symbol), middle, middle, inset))
        for child in box.boxes:
            laid = inner[child.id]
            wide, high = laid.width + 2 * metrics.STUB, laid.height + metrics.STACK * metrics.cards(child)
            self.vertices.append(Vertex("box", child.id, wide, high, laid.inputs, laid.outputs))
        for port in box.outputs:
            wide = metrics.port_width(port)
            inset = (wide - metrics.STUB, 0.0)
            self.vertices.append(Vertex("output", port.id, wide, metrics.PORT_LINE, {port.id: 11.0}, {}, inset))
        starts = {end: Pin(vertex, "right", end) for vertex in self.vertices for end in vertex.right}
        stops = {end: Pin(vertex, "left", end) for vertex in self.vertices for end in vertex.left}
        flows = (
            Flow(edge, [starts[e] for e in edge.sources if e in starts], [stops[e] for e in edge.targets if e in stops])
            for edge in box.edges
        )
        # An edge that goes the wrong way, a fault of the program, has no ends here.
        self.flows = [flow for flow in flows if flow.sources and flow.targets]
