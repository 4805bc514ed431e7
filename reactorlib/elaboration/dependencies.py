"""The order of a tag: levels, inferred deadlines, ranks, and the cycle where there is no order.

For levels, see Lohstroh et al., "Toward a Lingua Franca for deterministic concurrent systems" (ACM TECS, 2021). Nodes
pass their deadlines to predecessors, with execution times of 0. For this method, see Chetto et al., "Dynamic scheduling
of real-time tasks under precedence constraints" (Real-Time Systems, 1990).
"""

from __future__ import annotations

from itertools import pairwise

from reactorlib.elaboration.records import Cell, Cycle, DependencyGraph, Node, Order
from reactorlib.elaboration.resolution import Resolution
from reactorlib.elaboration.rules import feed_text

# A node on a cycle, the next node, and the cell that passes a value between them: None for reactions of one reactor.
_Edge = tuple[Node, Node, Cell | None]


class _Constraints:
    """The order constraints. `edges` lead from nodes to the cells that they set and to the next reactions of their
    reactors. From cells, which have numbers behind those of the nodes, they lead to the readers.
    """

    def __init__(self, resolution: Resolution, graph: DependencyGraph) -> None:
        self.graph = graph
        self.reactions = resolution.reactions
        self._modes = resolution.modes
        self.nodes = len(graph.writes)
        self.edges: list[list[int]] = [[self.nodes + cell for cell in cells] for cells in graph.writes]
        self.edges += [[]] * len(resolution.paths)  # one list for all: only edges of nodes are appended to
        for cell in graph.writers:
            self.edges[self.nodes + cell] = graph.readers.get(cell, [])
        self._chain()

    def _chain(self) -> None:
        """Keep the declared order in a reactor. Reactions in different modes of it do not depend on each other, unless
        shutdown triggers one: then they may run at one tag.
        """
        last_plain: Node | None = None
        last_in: dict[int, Node] = {}
        owner = None
        for node, reaction in enumerate(self.reactions):
            if reaction.instance is not owner:
                owner, last_plain, last_in = reaction.instance, None, {}
            mode = None if self.graph.hears_shutdown(reaction) else reaction.own_mode
            if mode is None:
                before = list(last_in.values()) or ([] if last_plain is None else [last_plain])
                last_plain, last_in = node, {}
            else:
                previous = last_in.get(mode, last_plain)
                before = [] if previous is None else [previous]
                last_in[mode] = node
            for earlier in before:
                self.edges[earlier].append(node)

    def part_exclusive(self) -> None:
        """Drop edges between nodes in different modes of one reactor: they are never active together."""
        for cell, writers in self.graph.writers.items():
            readers = self.edges[self.nodes + cell]
            parted = dict.fromkeys(r for r in readers if any(self._exclusive(w, r) for w in writers))
            self.edges[self.nodes + cell] = [reader for reader in readers if reader not in parted]
            for reader in parted:
                for writer in writers:
                    if not self._exclusive(writer, reader):
                        self.edges[writer].append(reader)

    def _exclusive(self, one: Node, other: Node) -> bool:
        """Whether `other` never hears of `one`. A copy for a mutable input counts as the writers that it copies."""
        if one >= self.graph.count and (forward := self.graph.forward(one)).copy:
            writers = self.graph.writers.get(forward.source, ())
            return bool(writers) and all(self._exclusive(writer, other) for writer in writers)
        modes = self._modes_around(other)
        return any(a != b and b in self._modes[a].siblings for a in self._modes_around(one) for b in modes)

    def _modes_around(self, node: Node) -> list[int]:
        """The modes that must be active for a node to run. A shutdown reaction needs none: it runs in any."""
        reaction = self.graph.reaction(node)
        if reaction is None:
            mode = self.graph.forward(node).mode
        else:
            mode = None if self.graph.hears_shutdown(reaction) else reaction.mode
        found: list[int] = []
        while mode is not None:
            found.append(mode)
            mode = self._modes[mode].parent
        return found

    def levels(self) -> tuple[list[int], list[int], list[int]]:
        """A topological sequence of nodes and cells, their levels, and the nodes and cells on or behind cycles.

        A reaction is one level above all that it depends on. A forward has the level of its source.
        """
        edges, reactions = self.edges, self.graph.count
        level, waiting = [0] * len(edges), [0] * len(edges)
        for following in edges:
            for later in following:
                waiting[later] += 1
        sequence = [node for node in range(self.nodes) if not waiting[node]]
        for at in sequence:
            reached = level[at] + 1 if at < reactions else level[at]
            for later in edges[at]:
                if level[later] < reached:
                    level[later] = reached
                waiting[later] -= 1
                if not waiting[later]:
                    sequence.append(later)
        return sequence, level, [at for at, count in enumerate(waiting) if count]

    def deadlines(self, sequence: list[int]) -> dict[int, int]:
        """The inferred deadlines: the earliest of a node's own and those of everything that depends on it."""
        deadline = {node: own for node, reaction in enumerate(self.reactions) if (own := reaction.deadline) is not None}
        for at in reversed(sequence) if deadline else ():
            dues = [deadline[later] for later in (at, *self.edges[at]) if later in deadline]
            if dues:
                deadline[at] = min(dues)
        return deadline

    def cycle(self, stuck: list[int]) -> list[_Edge]:
        """A cycle within `stuck`, nodes and cells that all have a predecessor in it: by following predecessors."""
        predecessor: dict[int, int] = {}
        for at in stuck:
            for later in self.edges[at]:
                predecessor.setdefault(later, at)
        at, path = min(stuck), list[int]()
        while at not in path:
            path.append(at)
            at = predecessor[at]
        nodes = [node for node in reversed(path[path.index(at) :]) if node < self.nodes]
        first = nodes.index(min(nodes))
        nodes = nodes[first:] + nodes[:first]
        return [(node, later, self._passed(node, later)) for node, later in pairwise([*nodes, nodes[0]])]

    def _passed(self, node: Node, later: Node) -> Cell | None:
        return next((cell for cell in self.graph.writes[node] if cell in self.graph.reads[later]), None)


def order_of(resolution: Resolution, graph: DependencyGraph, faults: list[str]) -> tuple[Order, Cycle]:
    """The levels of all nodes, and their ranks by inferred deadline and level. A cycle is a fault, and has no order."""
    constraints = _Constraints(resolution, graph)
    sequence, level, stuck = constraints.levels()
    if stuck:
        constraints.part_exclusive()
        sequence, level, stuck = constraints.levels()
    if stuck:
        edges = constraints.cycle(stuck)
        faults.append(_described(resolution, edges))
        return Order((), ()), _cycle(resolution, edges)
    deadline = constraints.deadlines(sequence)
    nodes = range(constraints.nodes)
    topological = {node: position for position, node in enumerate(sequence)}

    def key(node: Node) -> tuple[float, int, bool, int]:
        is_reaction = node < graph.count
        return deadline.get(node, float("inf")), level[node], is_reaction, node if is_reaction else topological[node]

    rank = [0] * len(nodes)
    for position, node in enumerate(sorted(nodes, key=key)):
        rank[node] = position
    return Order(tuple(level[: len(nodes)]), tuple(rank)), Cycle(channels=frozenset(resolution.ringed))


def _described(resolution: Resolution, edges: list[_Edge]) -> str:
    """A cycle, step by step with source lines."""
    lines, count = ["causality cycle:"], len(resolution.reactions)
    for node, _, cell in edges:
        if node < count:
            reaction = resolution.reactions[node]
            lines.append(f"    {reaction.path} ({reaction.declaration.where})")
        elif (forward := resolution.forwards[node - count]).copy:  # for the reaction that comes next
            continue
        else:
            feeds = resolution.feeds.get(forward.target, ())
            sources = [feed_text(*feed) for feed in feeds if resolution.mode_index[feed[0].mode] == forward.mode]
            lines.append(f"    {forward.path} takes the value of {' and '.join(sources)}")
        if cell is None:
            lines.append("      runs before the next reaction of the same reactor:")
            continue
        found = (feeds for channel, feeds in resolution.feeds.items() if resolution.alias[channel] == cell)
        wheres = {connection.where: None for feeds in found for connection, _ in feeds}
        via = f", connected at {', '.join(wheres)}," if wheres else ""
        lines.append(f"      sets {resolution.paths[cell]}{via} which is read by:")
    lines.append("    a connection with after=0 or a physical connection would break it")
    return "\n".join(lines)


def _cycle(resolution: Resolution, edges: list[_Edge]) -> Cycle:
    """The place of a cycle: every value on it is followed from the port that reads it back to the port that is set."""
    count = len(resolution.reactions)
    forwards = [resolution.forwards[node - count] for node, _, _ in edges if node >= count]
    modes = {None, *(forward.mode for forward in forwards)}
    waiting = [forward.target for forward in forwards]
    for _, node, passed in edges:
        if passed is not None and node < count:
            waiting += [port.first + at for port, at in resolution.reactions[node].channels_of(passed)]
    found = dict.fromkeys(resolution.ringed)
    for channel in waiting:
        if channel not in found and channel < len(resolution.alias):
            found[channel] = None
            for connection, (port, at) in resolution.feeds.get(channel, ()):
                immediate = connection.after is None and not connection.physical
                if immediate and resolution.mode_index[connection.mode] in modes:
                    waiting.append(port.first + at)
    order = tuple((node, following) for node, following, cell in edges if cell is None)
    return Cycle(frozenset(node for node, _, _ in edges if node < count), frozenset(found), order)
