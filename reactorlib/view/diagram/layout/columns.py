"""Columns: which way each flow runs, and how far to the right each vertex stands.

A flow that would close a cycle runs back, from right to left: preferably one that takes time, so that within
one tag values move to the right. The order is that of Eades, Lin and Smyth's heuristic for feedback arcs.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import replace

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Network, Vertex
from reactorlib.view.diagram.model import LATER

WIDEST = 1200.0  # px: a drawing that gets wider than this is continued in another row, where nothing forbids it
GAP = 30.0  # px: what a gap between columns takes about


def directed(network: Network) -> tuple[list[Flow], list[Flow]]:
    """Flows to the right, with the vertices for their labels and buses added, and flows that run back."""
    rank = {id(vertex): position for position, vertex in enumerate(_sequence(network))}
    forward: list[Flow] = []
    back: list[Flow] = []
    for flow in network.flows:
        ahead, behind = _parted(flow, rank)
        back += behind
        for part in ahead:
            forward += _through_vertex(network, part)
    return forward, back


def _parted(flow: Flow, rank: dict[int, int]) -> tuple[list[Flow], list[Flow]]:
    """The parts of a flow that run ahead and back; several sources with several targets stay together."""
    first, last = flow.sources, flow.targets
    if len(first) > 1 and len(last) > 1:
        ahead = max(rank[id(v)] for v, _ in first) < min(rank[id(v)] for v, _ in last)
        return ([flow], []) if ahead else ([], [flow])
    source, target = rank[id(first[0][0])], rank[id(last[0][0])]
    parts: list[list[Flow]] = []
    for way in (True, False):
        if len(last) > 1:
            some = replace(flow, targets=tuple(end for end in last if (rank[id(end[0])] > source) is way))
        else:
            some = replace(flow, sources=tuple(end for end in first if (rank[id(end[0])] < target) is way))
        parts.append([some] if some.sources and some.targets else [])
    return parts[0], parts[1]


def _through_vertex(network: Network, flow: Flow) -> list[Flow]:
    """A label takes a place of its own on the way; so does the bus of many sources and many targets."""
    edge = flow.edge
    if flow.label:
        width, height = metrics.label_size(flow.label)
        via = Vertex("label", flow.label, width, height, edge=edge)
    elif len(flow.sources) > 1 and len(flow.targets) > 1:
        via = Vertex("bus", "", 0.0, 0.0, edge=edge)
    else:
        return [flow]
    network.vertices.append(via)
    return [Flow(edge, flow.sources, ((via, ""),)), Flow(edge, ((via, ""),), flow.targets)]


def _sequence(network: Network) -> list[Vertex]:
    """All vertices in an order that few and light flows contradict."""
    count = len(network.vertices)
    index = {id(vertex): position for position, vertex in enumerate(network.vertices)}
    out: list[dict[int, float]] = [defaultdict(float) for _ in range(count + len(network.flows))]
    into: list[dict[int, float]] = [defaultdict(float) for _ in range(count + len(network.flows))]
    for number, flow in enumerate(network.flows):
        weight = 1.0 if flow.edge.kind in LATER else 3.0 if flow.edge.kind in ("effect", "order") else 4.0
        middle = count + number
        for vertex, _ in flow.sources:
            out[index[id(vertex)]][middle] += weight
            into[middle][index[id(vertex)]] += weight
        for vertex, _ in flow.targets:
            out[middle][index[id(vertex)]] += weight
            into[index[id(vertex)]][middle] += weight
    return [network.vertices[i] for i in _peeled(out, into) if i < count]


def _peeled(out: list[dict[int, float]], into: list[dict[int, float]]) -> list[int]:
    """Sources to the front, sinks to the end, and between them what has most going out over coming in."""
    left: list[int] = []
    right: list[int] = []
    alive = dict.fromkeys(range(len(out)))
    ready = deque(i for i in alive if not into[i] or not out[i])

    def remove(at: int) -> None:
        del alive[at]
        for other in out[at]:
            into[other].pop(at, None)
            if not into[other]:
                ready.append(other)
        for other in into[at]:
            out[other].pop(at, None)
            if not out[other]:
                ready.append(other)

    while alive:
        while ready:
            at = ready.popleft()
            if at in alive:
                (left if not into[at] else right).append(at)
                remove(at)
        if alive:
            best = max(alive, key=lambda i: (sum(out[i].values()) - sum(into[i].values()), -i))
            left.append(best)
            remove(best)
    return left + right[::-1]


def assign(network: Network, forward: Iterable[Flow]) -> int:
    """Give each vertex its column: as far left as its sources allow, but close to its targets. Returns how many."""
    after: dict[int, list[Vertex]] = defaultdict(list)
    before: dict[int, int] = defaultdict(int)
    for flow in forward:
        for source, _ in flow.sources:
            for target, _ in flow.targets:
                after[id(source)].append(target)
                before[id(target)] += 1
    has_inputs = any(vertex.kind == "input" for vertex in network.vertices)
    waiting = dict(before)
    order = [vertex for vertex in network.vertices if not before[id(vertex)]]
    for vertex in network.vertices:
        vertex.column = 0 if vertex.kind == "input" else int(has_inputs)
    for vertex in order:
        for target in after[id(vertex)]:
            target.column = max(target.column, vertex.column + 1)
            waiting[id(target)] -= 1
            if not waiting[id(target)]:
                order.append(target)
    last = max((vertex.column + (vertex.kind != "output") for vertex in network.vertices), default=0)
    for vertex in network.vertices:
        if vertex.kind == "output":
            vertex.column = last
    for vertex in reversed(order):
        targets = after[id(vertex)]
        if vertex.kind != "input" and before[id(vertex)] < len(targets):
            vertex.column = max(vertex.column, min(target.column for target in targets) - 1)
    return 1 + max((vertex.column for vertex in network.vertices), default=-1)


def wrap(network: Network, columns: int) -> None:
    """Continue a very wide drawing in rows below; the flows that cross then run back."""
    if any(vertex.kind in ("input", "output") for vertex in network.vertices):
        return
    widths = [0.0] * columns
    for vertex in network.vertices:
        widths[vertex.column] = max(widths[vertex.column], vertex.width + GAP)
    best, narrowest = [(0, column) for column in range(columns)], math.fsum(widths)
    for rows in range(2, columns + 1):
        if narrowest <= WIDEST:
            break
        places = _in_rows(widths, rows)
        width = _width(widths, places)
        if width < narrowest - GAP:
            best, narrowest = places, width
    for vertex in network.vertices:
        vertex.row, vertex.column = best[vertex.column]


def _in_rows(widths: list[float], rows: int) -> list[tuple[int, int]]:
    """The row and the place in it of each column, where rows are about equally wide."""
    places: list[tuple[int, int]] = []
    row = column = 0
    used, share = 0.0, math.fsum(widths) / rows
    for width in widths:
        if column and used + width / 2 > share:
            row, column, used = row + 1, 0, 0.0
        places.append((row, column))
        column, used = column + 1, used + width
    return places


def _width(widths: list[float], places: list[tuple[int, int]]) -> float:
    """How wide the rows are together: each place as wide as the widest column there."""
    widest: dict[int, float] = defaultdict(float)
    for width, (_, column) in zip(widths, places, strict=True):
        widest[column] = max(widest[column], width)
    return math.fsum(widest.values())


def rejoined(network: Network, flows: Iterable[Flow]) -> list[Flow]:
    """Flows that run back since their row was wrapped need no vertex for their label: a lane carries it.

    And flows that ran back may run ahead since then: their labels need one now.
    """
    kept = list(_without_stray_labels(network, list(flows)))
    return [part for flow in kept for part in (_with_label_ahead(network, flow) if flow.label else [flow])]


def _without_stray_labels(network: Network, flows: list[Flow]) -> Iterator[Flow]:
    leaving = {id(flow.sources[0][0]): flow for flow in flows if flow.sources[0][0].kind == "label"}
    dropped: set[int] = set()
    for flow in flows:
        via = flow.targets[0][0]
        if via.kind == "label":
            rest = leaving[id(via)]
            straight = all(v.column < via.column for v, _ in flow.sources) and all(
                v.column > via.column for v, _ in rest.targets
            )
            if not straight:
                dropped |= {id(via), id(rest)}
                yield Flow(flow.edge, flow.sources, rest.targets, via.item)
                continue
        if id(flow) not in dropped:
            yield flow
    network.vertices = [vertex for vertex in network.vertices if id(vertex) not in dropped]


def _with_label_ahead(network: Network, flow: Flow) -> list[Flow]:
    if any(target.column <= source.column for source, _ in flow.sources for target, _ in flow.targets):
        return [flow]
    last = max((vertex for vertex, _ in flow.sources), key=lambda vertex: vertex.column)
    parts = _through_vertex(network, flow)
    via = parts[0].targets[0][0]
    via.column, via.row = last.column + 1, last.row
    return parts


def close_columns(network: Network) -> int:
    """Number the columns without gaps. Returns how many there are."""
    used = sorted({vertex.column for vertex in network.vertices})
    number = {column: position for position, column in enumerate(used)}
    for vertex in network.vertices:
        vertex.column = number[vertex.column]
    return len(used)
