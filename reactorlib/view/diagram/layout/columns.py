"""Columns: which way each flow runs, and how far to the right each vertex stands.

A flow that would close a cycle runs back, from right to left: preferably one that takes time, so that within
one tag values move to the right. The order is that of Eades, Lin and Smyth's heuristic for feedback arcs.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque

from reactorlib.view.diagram.layout import metrics
from reactorlib.view.diagram.layout.network import Flow, Network, Vertex
from reactorlib.view.diagram.model import LATER

WIDEST = 1200.0  # px: a drawing that gets wider than this is continued in another row, where nothing forbids it
GAP = 30.0  # px: what a gap between columns takes about


def assign(network: Network) -> int:
    """Give each vertex its column and row, labels and buses included, without gaps. Returns how many columns."""
    rank = {id(vertex): position for position, vertex in enumerate(_sequence(network))}
    after: dict[int, list[Vertex]] = defaultdict(list)
    before: dict[int, int] = defaultdict(int)
    for flow in network.flows:
        for source, target in _steps(network, flow, rank):
            after[id(source)].append(target)
            before[id(target)] += 1
    _stand(network.vertices, after, before)
    _wrap(network.vertices)
    for flow in network.flows:
        if flow.via is not None and not _between(flow, flow.via):
            network.vertices.remove(flow.via)
            flow.via = None
    used = sorted({vertex.column for vertex in network.vertices})
    number = {column: position for position, column in enumerate(used)}
    for vertex in network.vertices:
        vertex.column = number[vertex.column]
    return len(used)


def _sequence(network: Network) -> list[Vertex]:
    """All vertices in an order that few and light flows contradict: with a node for each flow, as it has many ends."""
    count = len(network.vertices)
    index = {id(vertex): position for position, vertex in enumerate(network.vertices)}
    out: list[dict[int, float]] = [defaultdict(float) for _ in range(count + len(network.flows))]
    into: list[dict[int, float]] = [defaultdict(float) for _ in range(count + len(network.flows))]
    for middle, flow in enumerate(network.flows, count):
        weight = 1.0 if flow.edge.kind in LATER else 3.0 if flow.edge.kind in ("effect", "order") else 4.0
        steps = [(index[id(pin.vertex)], middle) for pin in flow.sources]
        steps += [(middle, index[id(pin.vertex)]) for pin in flow.targets]
        for one, other in steps:
            out[one][other] += weight
            into[other][one] += weight
    return [network.vertices[i] for i in _peeled(out, into) if i < count]


def _peeled(out: list[dict[int, float]], into: list[dict[int, float]]) -> list[int]:
    """Sources to the front, sinks to the end, and between them what has most going out over coming in."""
    left: list[int] = []
    right: list[int] = []
    alive = dict.fromkeys(range(len(out)))
    ready = deque(i for i in alive if not into[i] or not out[i])
    while alive:
        at = ready.popleft() if ready else max(alive, key=lambda i: (sum(out[i].values()) - sum(into[i].values()), -i))
        if at not in alive:
            continue
        (right if into[at] and not out[at] else left).append(at)
        del alive[at]
        for here, there in ((out, into), (into, out)):
            for other in here[at]:
                there[other].pop(at, None)
                if not there[other]:
                    ready.append(other)
    return left + right[::-1]


def _steps(network: Network, flow: Flow, rank: dict[int, int]) -> list[tuple[Vertex, Vertex]]:
    """What must stand to the left of what, for the part of a flow that runs ahead."""
    sources, targets = ([pin.vertex for pin in pins] for pins in (flow.sources, flow.targets))
    if not flow.whole:
        return [(one, other) for one in sources for other in targets if rank[id(one)] < rank[id(other)]]
    if max(rank[id(vertex)] for vertex in sources) > min(rank[id(vertex)] for vertex in targets):
        return []
    label = flow.edge.label
    width, height = metrics.label_size(label) if label else (0.0, 0.0)
    flow.via = Vertex("label" if label else "bus", label, width, height, edge=flow.edge)
    network.vertices.append(flow.via)
    return [(vertex, flow.via) for vertex in sources] + [(flow.via, vertex) for vertex in targets]


def _stand(vertices: list[Vertex], after: dict[int, list[Vertex]], before: dict[int, int]) -> None:
    """As far left as its sources allow, but close to its targets."""
    waiting = dict(before)
    order = [vertex for vertex in vertices if not before[id(vertex)]]
    first = int(any(vertex.kind == "input" for vertex in vertices))
    for vertex in vertices:
        vertex.column = 0 if vertex.kind == "input" else first
    for vertex in order:
        for target in after[id(vertex)]:
            target.column = max(target.column, vertex.column + 1)
            waiting[id(target)] -= 1
            if not waiting[id(target)]:
                order.append(target)
    last = max((vertex.column + (vertex.kind != "output") for vertex in vertices), default=0)
    for vertex in vertices:
        if vertex.kind == "output":
            vertex.column = last
    for vertex in reversed(order):
        targets = after[id(vertex)]
        if vertex.kind != "input" and before[id(vertex)] < len(targets):
            vertex.column = max(vertex.column, min(target.column for target in targets) - 1)


def _wrap(vertices: list[Vertex]) -> None:
    """Continue a very wide drawing in rows below, about equally wide; flows that cross then run in lanes between."""
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


def _between(flow: Flow, via: Vertex) -> bool:
    """Whether `via` still stands between the ends of its flow after the drawing was wrapped."""
    sources, targets = ([pin.vertex for pin in pins] for pins in (flow.sources, flow.targets))
    return all(vertex.precedes(via) for vertex in sources) and all(via.precedes(vertex) for vertex in targets)
