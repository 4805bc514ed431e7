"""Columns: the direction of each flow, and the distance of each vertex from the left.

A flow that would close a cycle runs back, from right to left. Flows are taken in the order of `_BACK`, so that values
move to the right within one tag, and run back when they arrive at a later one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from graphlib import TopologicalSorter

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Network, Vertex
from reactorlib.view.diagram.model import LATER

WIDEST = 1200.0  # px: a wider drawing continues in another row, where nothing forbids it
GAP = 30.0  # px: the usual width of a gap between columns

# Vertices by what must be to their left.
Before = dict[Vertex, list[Vertex]]


def assign(network: Network) -> int:
    """Give each vertex its column and row, labels and buses included. Returns the number of columns."""
    before: Before = {vertex: [] for vertex in network.vertices}
    for flow in sorted(network.flows, key=_reluctance):
        _direct(network, flow, before)
    _spread(before)
    _wrap(network.vertices)
    for flow in network.flows:
        if flow.via is not None and not _is_between(flow, flow.via):
            network.vertices.remove(flow.via)
            flow.via = None
    number = {column: place for place, column in enumerate(sorted({vertex.column for vertex in network.vertices}))}
    for vertex in network.vertices:
        vertex.column = number[vertex.column]
    return len(number)


def _reluctance(flow: Flow) -> int:
    """Flows with a higher number are the first to run back."""
    return 2 if flow.edge.kind in LATER else 1 if flow.edge.kind in ("effect", "order") else 0


def _direct(network: Network, flow: Flow, before: Before) -> None:
    """Let a flow run ahead, as far as that closes no cycle."""
    if not flow.is_whole:
        for source in flow.sources:
            ends = [target.vertex for target in flow.targets]
            for end in set(ends) - _left_of(source.vertex, before):
                before[end].append(source.vertex)
        return
    left = set().union(*(_left_of(source.vertex, before) for source in flow.sources))
    if left.isdisjoint(target.vertex for target in flow.targets):
        label = flow.edge.label
        flow.via = Vertex("label" if label else "bus", label, *metrics.label_size(label), edge=flow.edge)
        network.vertices.append(flow.via)
        before[flow.via] = [source.vertex for source in flow.sources]
        for target in flow.targets:
            before[target.vertex].append(flow.via)


def _left_of(vertex: Vertex, before: Before) -> set[Vertex]:
    """A vertex and all that must be to its left."""
    found, waiting = {vertex}, [vertex]
    while waiting:
        new = set(before[waiting.pop()]) - found
        found |= new
        waiting += new
    return found


def _spread(before: Before) -> None:
    """Put each vertex as far left as its sources allow, but close to its targets."""
    after: dict[Vertex, list[Vertex]] = defaultdict(list)
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


def _wrap(vertices: list[Vertex]) -> None:
    """Continue a very wide drawing in rows below, about equally wide. Flows between rows then run in lanes."""
    widths: dict[int, float] = defaultdict(float)
    for vertex in vertices:
        widths[vertex.column] = max(widths[vertex.column], vertex.width + GAP)
    total = math.fsum(widths.values())
    if total <= WIDEST or any(vertex.is_port for vertex in vertices):
        return
    share = total / math.ceil(total / WIDEST)
    places: dict[int, tuple[int, int]] = {}
    row, first, used = 0, 0, 0.0
    for column, width in sorted(widths.items()):
        if used and used + width / 2 > share:
            row, first, used = row + 1, column, 0.0
        places[column] = row, column - first
        used += width
    for vertex in vertices:
        vertex.row, vertex.column = places[vertex.column]


def _is_between(flow: Flow, via: Vertex) -> bool:
    """Whether `via` is still between the ends of its flow after wrapping."""
    ahead = all(source.vertex.precedes(via) for source in flow.sources)
    return ahead and all(via.precedes(target.vertex) for target in flow.targets)
