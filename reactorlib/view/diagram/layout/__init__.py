"""Layout: from boxes, symbols and edges to places, from the innermost box outwards. Standard library only.

Within a box it is a layered drawing (Sugiyama): columns by dataflow, an order in each that crosses few wires,
heights that make wires straight. All steps are deterministic, on every supported version of Python.
"""

from __future__ import annotations

from dataclasses import dataclass

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.chains import Chains
from reactorlib.view.diagram.layout.columns import assign, close_columns, directed, rejoined, wrap
from reactorlib.view.diagram.layout.heights import place
from reactorlib.view.diagram.layout.join import Route
from reactorlib.view.diagram.layout.network import Network, Vertex, VertexKind
from reactorlib.view.diagram.layout.order import ordered
from reactorlib.view.diagram.layout.route import Gaps, routed, stand
from reactorlib.view.diagram.model import Box, Edge


@dataclass(frozen=True, slots=True)
class Item:
    """Something with a place in a box: its upper left corner, in px from that of the box."""

    kind: VertexKind
    id: str  # of a label its text
    x: float
    y: float
    width: float
    height: float
    edge: Edge | None = None  # of a label or bus


@dataclass(frozen=True, slots=True)
class Laid:
    """A box with everything in it in place. `inputs` and `outputs`: the heights of its ports, by id."""

    box: Box
    width: float
    height: float
    inputs: dict[str, float]
    outputs: dict[str, float]
    items: tuple[Item, ...]
    routes: tuple[Route, ...]
    inner: dict[str, Laid]


def lay_out(box: Box) -> Laid:
    """Place everything within a box, and in the boxes within it."""
    inner = {child.id: lay_out(child) for child in box.boxes}
    network = Network(box, inner)
    forward, back = directed(network)
    wrap(network, assign(network, forward))
    flows = rejoined(network, (*forward, *back))
    columns = close_columns(network)
    chains = Chains(columns, network.vertices)
    for flow in flows:
        chains.add(flow)
    in_order = ordered(chains.vertices, chains.wires, columns)
    place(in_order, chains.wires)
    gaps = Gaps(chains.wires, columns)
    spans, width = stand(in_order, gaps, metrics.title_width(box), metrics.PAD)
    for vertex in chains.vertices:
        vertex.y = round(vertex.y + metrics.HEAD + 2, 1)
    bottom = max((vertex.y + vertex.height for vertex in chains.vertices), default=metrics.HEAD)
    only_ports = all(vertex.kind in ("input", "output") for vertex in chains.vertices)
    return Laid(
        box=box,
        width=width,
        height=round(bottom + (6.0 if only_ports else 12.0), 1),
        inputs={v.item: _port_height(v) for v in network.vertices if v.kind == "input"},
        outputs={v.item: _port_height(v) for v in network.vertices if v.kind == "output"},
        items=tuple(Item(v.kind, v.item, v.x, v.y, v.width, v.height, v.edge) for v in chains.vertices if _is_shown(v)),
        routes=tuple(routed(chains.wires, gaps, spans)),
        inner=inner,
    )


def _port_height(vertex: Vertex) -> float:
    return round(vertex.y + vertex.offset("right" if vertex.kind == "input" else "left", vertex.item), 1)


def _is_shown(vertex: Vertex) -> bool:
    return vertex.kind != "link" and not (vertex.kind == "lane" and not vertex.item)
