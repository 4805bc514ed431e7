"""Layout: from boxes, symbols and edges to places, from the innermost box outwards. Standard library only.

Within a box it is a layered drawing (Sugiyama): columns by dataflow, an order in each that crosses few wires,
heights that make wires straight. All steps are deterministic, on every supported version of Python.
"""

from __future__ import annotations

from typing import NamedTuple

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.columns import assign
from reactorlib.view.diagram.layout.heights import place
from reactorlib.view.diagram.layout.network import Network, Pin, VertexKind
from reactorlib.view.diagram.layout.order import ordered
from reactorlib.view.diagram.layout.route import Route, Router
from reactorlib.view.diagram.layout.wires import Wires
from reactorlib.view.diagram.model import Box, Edge


class Item(NamedTuple):
    """Something with a place in a box: its upper left corner, in px from that of the box."""

    kind: VertexKind
    id: str  # of a label its text
    x: float
    y: float
    width: float
    height: float
    edge: Edge | None = None  # of a label or bus


class Laid(NamedTuple):
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
    columns = assign(network)
    drawn = Wires(network)
    wires = [wire for line in drawn.lines for wire in line.wires]
    turns = [turn for lane in drawn.lanes for turn in lane.turns]
    in_order = ordered(network.vertices, wires + turns, columns)
    place(in_order, wires, drawn.lanes)
    router = Router(in_order, drawn.lines, drawn.lanes)
    width = router.stand(metrics.title_width(box), metrics.PAD)
    bottom = metrics.HEAD - 2
    bottom = max([bottom, *(vertex.y + vertex.height for vertex in network.vertices)])
    bottom = max([bottom, *(lane.y + lane.size[1] / 2 for lane in drawn.lanes)])
    only_ports = all(vertex.is_port for vertex in network.vertices) and not drawn.lanes
    items = [Item(v.kind, v.item, v.x, v.y, v.width, v.height, v.edge) for v in network.vertices if v.kind != "link"]
    items += [
        Item("label", lane.edge.label, *router.label_of(lane), *lane.size, lane.edge)
        for lane in drawn.lanes
        if lane.edge.label
    ]
    return Laid(
        box=box,
        width=width,
        height=round(bottom + (6.0 if only_ports else 12.0), 1),
        inputs={v.item: Pin(v, "right", v.item).y for v in network.vertices if v.kind == "input"},
        outputs={v.item: Pin(v, "left", v.item).y for v in network.vertices if v.kind == "output"},
        items=tuple(items),
        routes=tuple(router.routes()),
        inner=inner,
    )
