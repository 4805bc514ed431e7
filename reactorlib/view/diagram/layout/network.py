"""What is laid out within one box: vertices that take room in columns, flows between their ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.model import Box, Edge

VertexKind = Literal["input", "output", "symbol", "box", "label", "bus", "link"]
Side = Literal["left", "right"]


@dataclass(slots=True, eq=False)
class Vertex:
    """Something with a place in a column. `left` and `right`: the ends on its sides, with their y offset."""

    kind: VertexKind
    item: str
    width: float
    height: float
    left: dict[str, float] = field(default_factory=dict)
    right: dict[str, float] = field(default_factory=dict)
    inset: tuple[float, float] = (0.0, 0.0)  # how far wires reach into it on its left and right
    edge: Edge | None = None  # of a label, bus or link
    column: int = 0
    row: int = 0  # columns that were wrapped lie in several rows
    x: float = 0.0
    y: float = 0.0

    @property
    def is_port(self) -> bool:
        """Ports stand on the border of the box, in the order in which they are declared."""
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
        """How far below the top of the vertex."""
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
    def whole(self) -> bool:
        """Whether all its ends must be joined in one place."""
        return bool(self.edge.label) or (len(self.sources) > 1 and len(self.targets) > 1)


class Sized(Protocol):
    """A box that has been laid out already."""

    @property
    def width(self) -> float: ...
    @property
    def height(self) -> float: ...
    @property
    def inputs(self) -> Mapping[str, float]: ...
    @property
    def outputs(self) -> Mapping[str, float]: ...


class Network:
    """The vertices and flows of a box, before they have columns."""

    def __init__(self, box: Box, inner: Mapping[str, Sized]) -> None:
        self.vertices: list[Vertex] = []
        self._sources: dict[str, Pin] = {}
        self._targets: dict[str, Pin] = {}
        for port in box.inputs:
            width = metrics.port_width(port)
            inset = (0.0, width - metrics.STUB)
            self._add(Vertex("input", port.id, width, metrics.PORT_LINE, {}, {port.id: 11.0}, inset))
        for symbol in box.symbols:
            width, height = metrics.symbol_size(symbol)
            middle = {symbol.id: height / 2}
            inset = (metrics.NOTCH if symbol.kind == "reaction" else 0.0, 0.0)
            self._add(Vertex("symbol", symbol.id, width, height, middle, middle, inset))
        for child in box.boxes:
            sized = inner[child.id]
            width, height = sized.width + 2 * metrics.STUB, sized.height + metrics.stack_height(child)
            self._add(Vertex("box", child.id, width, height, dict(sized.inputs), dict(sized.outputs)))
        for port in box.outputs:
            width = metrics.port_width(port)
            inset = (width - metrics.STUB, 0.0)
            self._add(Vertex("output", port.id, width, metrics.PORT_LINE, {port.id: 11.0}, {}, inset))
        self.flows = [flow for edge in box.edges if (flow := self._flow(edge)) is not None]

    def _add(self, vertex: Vertex) -> None:
        self.vertices.append(vertex)
        self._targets.update((end, Pin(vertex, "left", end)) for end in vertex.left)
        self._sources.update((end, Pin(vertex, "right", end)) for end in vertex.right)

    def _flow(self, edge: Edge) -> Flow | None:
        """The ends of an edge that can be drawn: one that goes the wrong way, a fault of the program, can not."""
        sources = [self._sources[end] for end in edge.sources if end in self._sources]
        targets = [self._targets[end] for end in edge.targets if end in self._targets]
        return Flow(edge, sources, targets) if sources and targets else None
