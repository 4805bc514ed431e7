"""Layout of boxes, symbols and edges, from the innermost box outwards. It is deterministic.

Within a box it is a layered drawing (Sugiyama): columns by dataflow, an order in each with few crossings, heights that
make wires straight.
"""

from __future__ import annotations

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.box_columns import Columns
from reactorlib.view.diagram.layout.box_rows import ordered, place
from reactorlib.view.diagram.layout.network import Laid, Pin, vertices_of
from reactorlib.view.diagram.layout.route import Router
from reactorlib.view.diagram.model import Box


def lay_out(box: Box) -> Laid:
    """Place everything within a box, and in the boxes within it. Places are in px from its upper left corner."""
    inner = {child.id: lay_out(child) for child in box.boxes}
    columns = Columns(vertices_of(box, inner), box.edges)
    vertices, wires, lanes = columns.vertices, columns.wires, columns.lanes
    in_order = ordered(vertices, wires, columns.count)
    place(in_order, wires, lanes)
    router = Router(in_order, wires, lanes)
    width = router.stand(metrics.title_width(box), metrics.PAD)
    labels = [lane.label for lane in lanes]
    items = [vertex for vertex in vertices if vertex.kind != "link"] + [label for label in labels if label.item]
    bottom = max([metrics.HEAD - 2, *(vertex.y + vertex.height for vertex in (*vertices, *labels))])
    only_ports = all(vertex.is_port for vertex in vertices) and not labels
    inputs = {vertex.item: Pin(vertex, "right", vertex.item).y for vertex in vertices if vertex.kind == "input"}
    outputs = {vertex.item: Pin(vertex, "left", vertex.item).y for vertex in vertices if vertex.kind == "output"}
    height = round(bottom + (6.0 if only_ports else 12.0), 1)
    return Laid(box, width, height, inputs, outputs, tuple(items), tuple(router.routes()), inner)


__all__ = ["Laid", "lay_out", "metrics"]
