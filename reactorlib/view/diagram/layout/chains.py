"""Wires: every flow as pieces between neighbouring columns, with vertices where it passes through a column.

A flow to the right is a trunk with branches; one that runs back is a lane along the columns that its ends turn into.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Side, Vertex, VertexKind
from reactorlib.view.diagram.model import Edge

End = tuple[Vertex, str]


@dataclass(frozen=True, slots=True)
class Pin:
    """An end on one side of a vertex."""

    vertex: Vertex
    side: Side
    end: str

    @property
    def offset(self) -> float:
        return self.vertex.offset(self.side, self.end)


@dataclass(frozen=True, slots=True)
class Wire:
    """A piece of an edge within one gap: across it, or, with both pins on the same side, a turn in it."""

    edge: Edge
    one: Pin
    two: Pin

    @property
    def turns(self) -> bool:
        return self.one.side == self.two.side

    @property
    def lane(self) -> Vertex:
        """What it turns into or out of."""
        return self.one.vertex if self.one.vertex.kind == "lane" else self.two.vertex

    @property
    def gap(self) -> int:
        """The gap that it lies in: gap c is to the right of column c."""
        return self.one.vertex.column - (self.one.side == "left")


class Chains:
    """Makes wires of flows, and collects the vertices that they pass through."""

    def __init__(self, columns: int, vertices: Sequence[Vertex]) -> None:
        self.vertices = list(vertices)
        self.wires: list[Wire] = []
        self._width_of = [0.0] * columns
        for vertex in vertices:
            self._width_of[vertex.column] = max(self._width_of[vertex.column], vertex.width)

    def add(self, flow: Flow) -> None:
        """Route a flow by the columns of its ends."""
        sources, targets = flow.sources, flow.targets
        if len(sources) > 1 and len(targets) > 1:
            self._lane(flow, sources, targets)
        elif len(targets) > 1 or len(sources) == 1:
            ahead = [end for end in targets if end[0].column > sources[0][0].column]
            self._fan_out(flow.edge, sources[0], ahead)
            self._lane(flow, sources, [end for end in targets if end not in ahead])
        else:
            ahead = [end for end in sources if end[0].column < targets[0][0].column]
            self._fan_in(flow.edge, ahead, targets[0])
            self._lane(flow, [end for end in sources if end not in ahead], targets)

    def _fan_out(self, edge: Edge, source: End, targets: Sequence[End]) -> None:
        trunk = Pin(source[0], "right", source[1])
        for column in range(source[0].column + 1, 1 + max((v.column for v, _ in targets), default=-1)):
            for vertex, end in targets:
                if vertex.column == column:
                    self.wires.append(Wire(edge, trunk, Pin(vertex, "left", end)))
            rest = [vertex for vertex, _ in targets if vertex.column > column]
            if rest:
                link = self._pass("link", edge, column, _between(source[0], rest[0]))
                self.wires.append(Wire(edge, trunk, Pin(link, "left", "")))
                trunk = Pin(link, "right", "")

    def _fan_in(self, edge: Edge, sources: Sequence[End], target: End) -> None:
        trunk = Pin(target[0], "left", target[1])
        for column in range(
            target[0].column - 1, min((v.column for v, _ in sources), default=target[0].column) - 1, -1
        ):
            for vertex, end in sources:
                if vertex.column == column:
                    self.wires.append(Wire(edge, Pin(vertex, "right", end), trunk))
            rest = [vertex for vertex, _ in sources if vertex.column < column]
            if rest:
                link = self._pass("link", edge, column, _between(target[0], rest[0]))
                self.wires.append(Wire(edge, Pin(link, "right", ""), trunk))
                trunk = Pin(link, "left", "")

    def _lane(self, flow: Flow, sources: Sequence[End], targets: Sequence[End]) -> None:
        """Sources turn into it from the right of their columns, targets out of it at the left of theirs."""
        if not sources or not targets:
            return
        edge = flow.edge
        ends = [vertex for vertex, _ in (*sources, *targets)]
        low, high = min(vertex.column for vertex in ends), max(vertex.column for vertex in ends)
        row = min(vertex.row for vertex in ends)
        row += 0.0 if all(vertex.row == row for vertex in ends) else 0.5
        lane = {column: self._pass("lane", edge, column, row) for column in range(low, high + 1)}
        if flow.label:
            self._label(lane[max(lane, key=lambda column: (self._width_of[column], column))], flow.label)
        for column in range(low, high):
            self.wires.append(Wire(edge, Pin(lane[column], "right", ""), Pin(lane[column + 1], "left", "")))
        for vertex, end in sources:
            self.wires.append(Wire(edge, Pin(vertex, "right", end), Pin(lane[vertex.column], "right", "")))
        for vertex, end in targets:
            self.wires.append(Wire(edge, Pin(lane[vertex.column], "left", ""), Pin(vertex, "left", end)))

    def _pass(self, kind: VertexKind, edge: Edge, column: int, row: float) -> Vertex:
        vertex = Vertex(kind, "", 0.0, 0.0, edge=edge, column=column, row=row)
        self.vertices.append(vertex)
        return vertex

    def _label(self, lane: Vertex, label: str) -> None:
        lane.item = label
        lane.width, lane.height = metrics.label_size(label)


def _between(one: Vertex, two: Vertex) -> float:
    """The row of what runs between two vertices."""
    return one.row if one.row == two.row else min(one.row, two.row) + 0.5
