"""What is laid out within one box: vertices that take room in columns, edges between their ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.model import Box, Edge

VertexKind = Literal["input", "output", "symbol", "box", "label", "bus", "link", "lane"]
Side = Literal["left", "right"]
THIN: tuple[VertexKind, ...] = ("bus", "link", "lane")  # an edge passing through a column


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
    edge: Edge | None = None  # of a label, bus, link or lane
    column: int = 0
    row: float = 0.0  # columns that were wrapped lie in several rows
    x: float = 0.0
    y: float = 0.0

    def offset(self, side: Side, end: str) -> float:
        """Where an end lies on a side, from the top."""
        return (self.left if side == "left" else self.right).get(end, self.height / 2)


@dataclass(frozen=True, slots=True)
class Flow:
    """An edge, or a piece of one, between vertices; ends by id. `label`: what is still to be written on it."""

    edge: Edge
    sources: tuple[tuple[Vertex, str], ...]
    targets: tuple[tuple[Vertex, str], ...]
    label: str = ""


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
        self._sources: dict[str, Vertex] = {}
        self._targets: dict[str, Vertex] = {}
        for port in box.inputs:
            width = metrics.port_width(port)
            inset = (0.0, width - metrics.STUB)
            self._add(Vertex("input", port.id, width, metrics.PORT_LINE, {}, {port.id: 11.0}, inset))
        for symbol in box.symbols:
            width, height = metrics.symbol_size(symbol)
            middle = {symbol.id: height / 2}
            inset = (metrics.NOTCH if symbol.kind == "reaction" else 0.0, 0.0)
            self._add(Vertex("symbol", symbol.id, width, height, dict(middle), dict(middle), inset))
        for child in box.boxes:
            self._add_box(child, inner[child.id])
        for port in box.outputs:
            width = metrics.port_width(port)
            inset = (width - metrics.STUB, 0.0)
            self._add(Vertex("output", port.id, width, metrics.PORT_LINE, {port.id: 11.0}, {}, inset))
        self.flows = [flow for edge in box.edges if (flow := self._flow(edge)) is not None]

    def _add(self, vertex: Vertex) -> None:
        self.vertices.append(vertex)
        self._targets.update(dict.fromkeys(vertex.left, vertex))
        self._sources.update(dict.fromkeys(vertex.right, vertex))

    def _add_box(self, box: Box, sized: Sized) -> None:
        width, height = sized.width + 2 * metrics.STUB, sized.height + metrics.stack_height(box)
        self._add(Vertex("box", box.id, width, height, dict(sized.inputs), dict(sized.outputs)))

    def _flow(self, edge: Edge) -> Flow | None:
        """The ends of an edge that can be drawn: one that goes the wrong way, a fault of the program, can not."""
        sources = tuple((self._sources[end], end) for end in edge.sources if end in self._sources)
        targets = tuple((self._targets[end], end) for end in edge.targets if end in self._targets)
        return Flow(edge, sources, targets, edge.label) if sources and targets else None
