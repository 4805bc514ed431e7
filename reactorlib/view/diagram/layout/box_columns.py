"""Columns: the direction of each edge, and the distance of each vertex from the left.

An edge that would close a cycle runs back, from right to left. Edges are taken in the order of `_reluctance`. So
values move to the right within one tag, and run back if they arrive at a later one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from graphlib import TopologicalSorter

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Lane, Pin, Vertex, Wire
from reactorlib.view.diagram.model import LATER, Edge


class Columns:
    """Gives each vertex its column. Adds vertices: for labels, for buses, and where an edge passes through a column."""

    def __init__(self, vertices: Sequence[Vertex], edges: Sequence[Edge]) -> None:
        self._before: dict[Vertex, list[Vertex]] = {vertex: [] for vertex in vertices}  # vertices to the left of each
        self._fans: list[tuple[Edge, Pin, list[Pin]]] = []  # a hub, and ends to one side of it
        self._sources = {end: Pin(vertex, "right", end) for vertex in vertices for end in vertex.right}
        self._targets = {end: Pin(vertex, "left", end) for vertex in vertices for end in vertex.left}
        self.wires: list[Wire] = []
        self.lanes: list[Lane] = []
        for edge in sorted(edges, key=_reluctance):
            self._direct(edge)
        self._spread()
        used = {column: place for place, column in enumerate(sorted({vertex.column for vertex in self._before}))}
        for vertex in self._before:
            vertex.column = used[vertex.column]
        self.vertices = list(self._before)
        self.count = len(used)
        for fan in self._fans:
            self._wire(*fan)

    def _direct(self, edge: Edge) -> None:
        """Let an edge run ahead, as far as that closes no cycle. A fault of the program may leave it without ends."""
        sources = [self._sources[end] for end in edge.sources if end in self._sources]
        targets = [self._targets[end] for end in edge.targets if end in self._targets]
        if not sources or not targets:
            return
        if edge.label or edge.is_bus:  # all ends are joined in one place
            if any(self._closes_cycle(source, target) for source in sources for target in targets):
                self._lane(edge, [*sources, *targets])
                return
            via = Vertex("label" if edge.label else "bus", edge.label, *metrics.label_size(edge.label), edge=edge)
            self._before[via] = []
            self._fan(edge, Pin(via, "left"), sources)
            self._fan(edge, Pin(via, "right"), targets)
            return
        hub, ends = (sources[0], targets) if len(targets) > 1 else (targets[0], sources)
        back = [pin for pin in ends if self._closes_cycle(*((hub, pin) if hub.side == "right" else (pin, hub)))]
        self._fan(edge, hub, [pin for pin in ends if pin not in back])
        self._lane(edge, [hub, *back] if hub.side == "right" else [*back, hub])

    def _closes_cycle(self, source: Pin, target: Pin) -> bool:
        """Whether the target must be to the left of the source."""
        found, waiting = {source.vertex}, [source.vertex]
        while waiting and target.vertex not in found:
            new = [vertex for vertex in self._before[waiting.pop()] if vertex not in found]
            found.update(new)
            waiting += new
        return target.vertex in found

    def _fan(self, edge: Edge, hub: Pin, ends: list[Pin]) -> None:
        self._fans.append((edge, hub, ends))
        for end in ends:
            one, other = (hub, end) if hub.side == "right" else (end, hub)
            self._before[other.vertex].append(one.vertex)

    def _lane(self, edge: Edge, pins: list[Pin]) -> None:
        if {pin.side for pin in pins} == {"left", "right"}:
            self.lanes.append(Lane(edge, pins, Vertex("label", edge.label, *metrics.label_size(edge.label), edge=edge)))

    def _spread(self) -> None:
        """Put each vertex as far left as its sources allow, but close to its targets."""
        before, after = self._before, defaultdict[Vertex, list[Vertex]](list)
        for vertex, sources in before.items():
            for source in sources:
                after[source].append(vertex)
        first = int(any(vertex.kind == "input" for vertex in before))
        order = list(TopologicalSorter(before).static_order())
        for vertex in order:
            least = 0 if vertex.kind == "input" else first
            vertex.column = max((source.column + 1 for source in before[vertex]), default=least)
        last = max((vertex.column + (vertex.kind != "output") for vertex in before), default=0)
        for vertex in reversed(order):
            if vertex.kind == "output":
                vertex.column = last
            elif vertex.kind != "input" and len(before[vertex]) < len(after[vertex]):
                vertex.column = max(vertex.column, min(target.column for target in after[vertex]) - 1)

    def _wire(self, edge: Edge, hub: Pin, ends: Sequence[Pin]) -> None:
        """Add wires from a hub to each end. In a column on the way, all pass through one vertex."""
        step = 1 if hub.side == "right" else -1
        trunk = {hub.vertex.column: hub}
        for end in ends:
            for column in range(hub.vertex.column + step, end.vertex.column, step):
                if column not in trunk:
                    link = Vertex("link", "", edge=edge, column=column)
                    self.vertices.append(link)
                    self._join(edge, trunk[column - step], Pin(link, "left" if hub.side == "right" else "right"))
                    trunk[column] = Pin(link, hub.side)
            self._join(edge, trunk[end.vertex.column - step], end)

    def _join(self, edge: Edge, near: Pin, far: Pin) -> None:
        self.wires.append(Wire(edge, near, far) if near.side == "right" else Wire(edge, far, near))


def _reluctance(edge: Edge) -> int:
    """Edges with a higher number are the first to run back."""
    return 2 if edge.kind in LATER else 1 if edge.kind in ("effect", "order") else 0
