"""Wires: each flow as lines to the right, from gap to gap, and as a lane below its row where it runs back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Network, Pin, Side, Vertex
from reactorlib.view.diagram.model import Edge

OPPOSITE: dict[Side, Side] = {"left": "right", "right": "left"}


class Wire(NamedTuple):
    """A piece of an edge in one gap, from left to right."""

    edge: Edge
    start: Pin
    end: Pin


@dataclass(slots=True, eq=False)
class Lane:
    """A line below a row. Sources turn into it right of their columns, targets out of it left of theirs."""

    edge: Edge
    sources: Sequence[Pin]
    targets: Sequence[Pin]
    label: Vertex
    y: float = 0.0

    @property
    def pins(self) -> list[Pin]:
        return [*self.sources, *self.targets]

    @property
    def columns(self) -> range:
        """The columns that it passes, or may pass."""
        ends = [pin.vertex.column for pin in self.pins]
        return range(min(ends), max(ends) + 1)

    @property
    def row(self) -> int:
        return min(pin.vertex.row for pin in self.pins)


class Wires:
    """The wires and lanes of a box. Where an edge passes through a column, it adds a vertex to the network."""

    def __init__(self, network: Network) -> None:
        self._vertices = network.vertices
        self.wires: list[Wire] = []
        self.lanes: list[Lane] = []
        for flow in network.flows:
            self._add(flow)

    def _add(self, flow: Flow) -> None:
        edge, sources, targets = flow.edge, flow.sources, flow.targets
        if flow.via is not None:
            self._fan(edge, Pin(flow.via, "left"), sources)
            self._fan(edge, Pin(flow.via, "right"), targets)
        elif flow.is_whole:
            self._lane(flow, sources, targets)
        elif len(targets) > 1:
            near = [pin for pin in targets if sources[0].vertex.precedes(pin.vertex)]
            self._fan(edge, sources[0], near)
            self._lane(flow, sources, [pin for pin in targets if pin not in near])
        else:
            near = [pin for pin in sources if pin.vertex.precedes(targets[0].vertex)]
            self._fan(edge, targets[0], near)
            self._lane(flow, [pin for pin in sources if pin not in near], targets)

    def _fan(self, edge: Edge, hub: Pin, ends: Sequence[Pin]) -> None:
        """Add wires from the hub to each end. In a column on the way, all pass through one vertex."""
        step = 1 if hub.side == "right" else -1
        trunk = {hub.vertex.column: hub}
        for end in ends:
            for column in range(hub.vertex.column + step, end.vertex.column, step):
                if column not in trunk:
                    link = Vertex("link", "", edge=edge, column=column, row=hub.vertex.row)
                    self._vertices.append(link)
                    self._wire(edge, trunk[column - step], Pin(link, OPPOSITE[hub.side]))
                    trunk[column] = Pin(link, hub.side)
            self._wire(edge, trunk[end.vertex.column - step], end)

    def _wire(self, edge: Edge, near: Pin, far: Pin) -> None:
        self.wires.append(Wire(edge, near, far) if near.side == "right" else Wire(edge, far, near))

    def _lane(self, flow: Flow, sources: Sequence[Pin], targets: Sequence[Pin]) -> None:
        if sources and targets:
            width, height = metrics.label_size(flow.edge.label)
            label = Vertex("label", flow.edge.label, width, height, edge=flow.edge)
            self.lanes.append(Lane(flow.edge, sources, targets, label))
