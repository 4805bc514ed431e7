"""Wires: every flow as lines to the right, from gap to gap, and a lane below its row for what cannot run so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Network, Pin, Side, Vertex
from reactorlib.view.diagram.model import Edge

OPPOSITE: dict[Side, Side] = {"left": "right", "right": "left"}
Wire = tuple[Pin, Pin]  # a piece of a line in one gap, from left to right


class Line(NamedTuple):
    """What runs from the first pin to the last, to the right: by two pins for each gap that it crosses."""

    edge: Edge
    pins: tuple[Pin, ...]

    @property
    def wires(self) -> list[Wire]:
        return list(zip(self.pins[::2], self.pins[1::2], strict=True))


@dataclass(slots=True, eq=False)
class Lane:
    """What runs along below a row: sources turn into it right of their columns, targets out of it left of theirs."""

    edge: Edge
    sources: Sequence[Pin]
    targets: Sequence[Pin]
    column: int = 0  # in which its label stands
    y: float = 0.0

    @property
    def pins(self) -> list[Pin]:
        return [*self.sources, *self.targets]

    @property
    def turns(self) -> list[Wire]:
        """As wires to the next column, to vertices that are no part of the network: below all that are."""
        out = [(pin, Pin(Vertex("link", "", 0.0, 0.0, column=pin.vertex.column + 1), "left")) for pin in self.sources]
        into = [(Pin(Vertex("link", "", 0.0, 0.0, column=pin.vertex.column - 1), "right"), pin) for pin in self.targets]
        return out + into

    @property
    def columns(self) -> range:
        """Those that it passes, or may pass."""
        ends = [pin.vertex.column for pin in self.pins]
        return range(min(ends), max(ends) + 1)

    @property
    def row(self) -> int:
        return min(pin.vertex.row for pin in self.pins)

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of its label."""
        return metrics.label_size(self.edge.label) if self.edge.label else (0.0, 0.0)


class Wires:
    """The lines and lanes of a box. Where a line passes through a column, it adds a vertex to the network."""

    def __init__(self, network: Network) -> None:
        self.vertices = network.vertices
        self.lines: list[Line] = []
        self.lanes: list[Lane] = []
        for flow in network.flows:
            self._add(flow)

    def _add(self, flow: Flow) -> None:
        sources, targets = flow.sources, flow.targets
        if flow.via is not None:
            self._fan(flow.edge, Pin(flow.via, "left"), sources)
            self._fan(flow.edge, Pin(flow.via, "right"), targets)
        elif flow.whole:
            self._lane(flow, sources, targets)
        elif len(targets) > 1:
            near = [pin for pin in targets if sources[0].vertex.precedes(pin.vertex)]
            self._fan(flow.edge, sources[0], near)
            self._lane(flow, sources, [pin for pin in targets if pin not in near])
        else:
            near = [pin for pin in sources if pin.vertex.precedes(targets[0].vertex)]
            self._fan(flow.edge, targets[0], near)
            self._lane(flow, [pin for pin in sources if pin not in near], targets)

    def _fan(self, edge: Edge, hub: Pin, ends: Sequence[Pin]) -> None:
        """One trunk to the farthest end, and a branch from it to each other: to the side of the hub's pin."""
        side, other = hub.side, OPPOSITE[hub.side]
        step = 1 if side == "right" else -1
        trunk = [hub]
        by_distance = sorted(ends, key=lambda pin: step * pin.vertex.column)
        for number, pin in enumerate(by_distance, 1):
            column = trunk[-1].vertex.column + step
            while column != pin.vertex.column:
                link = Vertex("link", "", 0.0, 0.0, edge=edge, column=column, row=hub.vertex.row)
                self.vertices.append(link)
                trunk += [Pin(link, other), Pin(link, side)]
                column += step
            pins = [*(trunk if number == len(ends) else trunk[-1:]), pin]
            self.lines.append(Line(edge, tuple(pins if side == "right" else pins[::-1])))

    def _lane(self, flow: Flow, sources: Sequence[Pin], targets: Sequence[Pin]) -> None:
        if sources and targets:
            self.lanes.append(Lane(flow.edge, sources, targets))
