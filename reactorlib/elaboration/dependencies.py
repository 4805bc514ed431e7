"""The order of a tag: levels, inferred deadlines, ranks, and the cycle where there is no order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from reactorlib.declaration.instance import BoundPort
from reactorlib.elaboration.connections import Resolution, source_channel, source_of
from reactorlib.elaboration.program import Cell, Cycle, DependencyGraph, Forward, Node, Order, ReactionInstance


class _Constraints:
    """The order constraints: edges through cells, as in the graph, and between reactions of one reactor."""

    def __init__(self, resolution: Resolution, graph: DependencyGraph) -> None:
        self.graph = graph
        self.reactions = resolution.reactions
        self._forwards = resolution.forwards
        self._modes = resolution.modes
        self.nodes = len(graph.writes)
        self.writes, self.writers = graph.writes, graph.writers
        self.reads: Sequence[Sequence[Cell]] = graph.reads
        self.readers: Mapping[Cell, Sequence[Node]] = graph.readers
        self.after: list[list[Node]] = [[] for _ in self.writes]  # reactions of the same reactor that come next
        _chain(self.reactions, self.after)
        self.through: dict[tuple[Node, Node], Cell] = {}  # of edges in `after` that stand for one through a cell

    def successors(self, node: Node) -> list[Node]:
        """Directly depending nodes."""
        return [r for c in self.writes[node] for r in self.readers.get(c, ())] + self.after[node]

    def part_exclusive(self) -> None:
        """Drop edges between nodes in different modes of one reactor: they are never active together."""
        reads, readers = list(self.reads), dict(self.readers)
        for cell, writers in self.writers.items():
            parted = {r for r in readers.get(cell, ()) if any(self._exclusive(w, r) for w in writers)}
            if not parted:
                continue
            readers[cell] = [reader for reader in readers[cell] if reader not in parted]
            for reader in parted:
                reads[reader] = [other for other in reads[reader] if other != cell]
                for writer in writers:
                    if not self._exclusive(writer, reader):
                        self.after[writer].append(reader)
                        self.through[writer, reader] = cell
        self.reads, self.readers = reads, readers

    def _exclusive(self, one: Node, other: Node) -> bool:
        a, b = self._only_mode(one), self._only_mode(other)
        return a is not None and b is not None and a != b and b in self._modes[a].siblings

    def _only_mode(self, node: Node) -> int | None:
        """The mode of its reactor in which a node is declared, unless it also runs elsewhere, at shutdown."""
        if node >= len(self.reactions):
            return self._forwards[node - len(self.reactions)].mode
        reaction = self.reactions[node]
        return None if self.graph.hears_shutdown(reaction) else reaction.own_mode


def _chain(reactions: list[ReactionInstance], after: list[list[Node]]) -> None:
    """Reactions of one reactor in declared order; those in different modes of it do not depend on each other."""
    last_plain: Node | None = None
    last_in: dict[int, Node] = {}
    owner = None
    for node, reaction in enumerate(reactions):
        if reaction.instance is not owner:
            owner, last_plain, last_in = reaction.instance, None, {}
        mode = reaction.own_mode
        if mode is None:
            before = list(last_in.values()) or ([] if last_plain is None else [last_plain])
            last_plain, last_in = node, {}
        else:
            previous = last_in.get(mode, last_plain)
            before = [] if previous is None else [previous]
            last_in[mode] = node
        for earlier in before:
            after[earlier].append(node)


def order_of(resolution: Resolution, graph: DependencyGraph, faults: list[str]) -> tuple[Order, Cycle]:
    """Levels, inferred deadlines and ranks of all nodes. Where there is a cycle: none, and a fault that shows it."""
    constraints = _Constraints(resolution, graph)
    sequence, level = _levels(constraints)
    if len(sequence) < constraints.nodes:
        constraints.part_exclusive()
        sequence, level = _levels(constraints)
    if len(sequence) < constraints.nodes:
        cycle = _find_cycle(constraints, set(range(constraints.nodes)) - set(sequence))
        faults.append(_describe_cycle(resolution, constraints, cycle))
        return Order((), (), ()), _cycle(resolution, constraints, cycle)
    deadline = _deadlines(constraints, sequence)
    topological = {node: position for position, node in enumerate(sequence)}

    def key(node: Node) -> tuple[float, int, bool, int]:
        due = deadline[node]
        is_reaction = node < graph.count
        return (
            float("inf") if due is None else due,
            level[node],
            is_reaction,
            node if is_reaction else topological[node],
        )

    rank = [0] * len(sequence)
    for position, node in enumerate(sorted(range(len(sequence)), key=key)):
        rank[node] = position
    return Order(tuple(level), tuple(deadline), tuple(rank)), Cycle(channels=frozenset(resolution.ringed))


def _levels(constraints: _Constraints) -> tuple[list[Node], list[int]]:
    """A topological sequence of nodes (short of those on cycles), and the level of each.

    A reaction is one level above whatever it depends on; a forward takes no level of its own.
    """
    count = constraints.nodes
    level = [0] * count
    waiting = [0] * count  # for how many cells with writers, and earlier reactions
    cell_waiting = {cell: len(writers) for cell, writers in constraints.writers.items()}
    cell_level: dict[Cell, int] = defaultdict(int)
    for cell in constraints.writers:
        for reader in constraints.readers.get(cell, ()):
            waiting[reader] += 1
    for following in constraints.after:
        for node in following:
            waiting[node] += 1
    ready = [node for node in range(count) if not waiting[node]]
    sequence: list[Node] = []
    for node in ready:
        sequence.append(node)
        reached = level[node] + (1 if node < constraints.graph.count else 0)
        freed = list(constraints.after[node])
        for later in freed:
            level[later] = max(level[later], reached)
        for cell in constraints.writes[node]:
            cell_level[cell] = max(cell_level[cell], reached)
            cell_waiting[cell] -= 1
            if not cell_waiting[cell]:
                for reader in constraints.readers.get(cell, ()):
                    level[reader] = max(level[reader], cell_level[cell])
                    freed.append(reader)
        for later in freed:
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    return sequence, level


def _deadlines(constraints: _Constraints, sequence: list[Node]) -> list[int | None]:
    """The inferred deadline of each node: the earliest of its own and those of everything that depends on it."""
    deadline: list[int | None] = [r.deadline for r in constraints.reactions]
    deadline += [None] * (constraints.nodes - len(deadline))
    if not any(due is not None for due in deadline):
        return deadline
    cell_due: dict[Cell, int] = {}
    for node in reversed(sequence):
        dues = [cell_due[c] for c in constraints.writes[node] if c in cell_due]
        dues += [due for later in constraints.after[node] if (due := deadline[later]) is not None]
        own = deadline[node]
        if own is not None:
            dues.append(own)
        if not dues:
            continue
        due = deadline[node] = min(dues)
        for cell in constraints.reads[node]:
            if cell in constraints.writers:
                cell_due[cell] = min(due, cell_due.get(cell, due))
    return deadline


def _cycle(resolution: Resolution, constraints: _Constraints, nodes: list[Node]) -> Cycle:
    """The place of a cycle: every value on it is followed from the port that reads it back to the port that is set."""
    count = constraints.graph.count
    order: list[tuple[Node, Node]] = []
    waiting = [resolution.forwards[node - count].target for node in nodes if node >= count]
    modes = {resolution.forwards[node - count].mode for node in nodes if node >= count} | {None}
    for node, following in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        passed = _passed(constraints, node, following)
        if passed is None:
            order.append((node, following))
        elif following < count:
            for argument in (
                argument for argument in constraints.reactions[following].arguments if argument.kind == "read"
            ):
                ports = [element for element in argument.elements if isinstance(element, BoundPort)]
                channels = [port.first + channel for port in ports for channel in range(port.width)]
                waiting += [at for at, cell in zip(channels, argument.cells, strict=False) if cell == passed]
    found = dict.fromkeys(resolution.ringed)
    for channel in waiting:
        if channel not in found and channel < resolution.channels:
            found[channel] = None
            for connection in resolution.connections_to.get(channel, ()):
                mode = None if connection.mode is None else resolution.mode_index[connection.mode]
                if connection.after is None and not connection.physical and mode in modes:
                    source, at = source_channel(connection, channel)
                    waiting.append(source.first + at)
    return Cycle(frozenset(node for node in nodes if node < count), frozenset(found), tuple(order))


def _passed(constraints: _Constraints, node: Node, following: Node) -> Cell | None:
    """The cell through which a node passes a value to the next, or None: they are reactions of one reactor."""
    through = constraints.through.get((node, following))
    if through is None and following not in constraints.after[node]:
        return next(cell for cell in constraints.writes[node] if following in constraints.readers.get(cell, ()))
    return through


def _describe_cycle(resolution: Resolution, constraints: _Constraints, cycle: list[Node]) -> str:
    """A cycle, step by step with source lines."""
    lines = ["causality cycle:"]
    for node, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        if node < constraints.graph.count:
            reaction = constraints.reactions[node]
            lines.append(f"    {reaction.path} ({reaction.declaration.where})")
        else:
            forward = resolution.forwards[node - constraints.graph.count]
            if forward.copy:  # for the reaction that comes next
                continue
            lines.append(f"    {_describe_forward(resolution, forward)}")
        lines.append("      " + _describe_edge(resolution, constraints, node, following))
    lines.append("    a connection with after=0 or a physical connection would break it")
    return "\n".join(lines)


def _describe_forward(resolution: Resolution, forward: Forward) -> str:
    """A port whose connection a mode guards, and where its value comes from."""
    for connection in resolution.connections_to[forward.target]:
        if connection.mode is not None and resolution.mode_index[connection.mode] == forward.mode:
            return f"{forward.path} takes the value of {source_of(connection, forward.target)}"
    return forward.path


def _describe_edge(resolution: Resolution, constraints: _Constraints, node: Node, following: Node) -> str:
    cell = _passed(constraints, node, following)
    if cell is None:
        return "runs before the next reaction of the same reactor:"
    wheres = [
        connection.where
        for channel, connections in resolution.connections_to.items()
        for connection in connections
        if resolution.alias[channel] == cell
    ]
    via = f", connected at {', '.join(dict.fromkeys(wheres))}," if wheres else ""
    return f"sets {_port_path(resolution, constraints, node, cell)}{via} which is read by:"


def _port_path(resolution: Resolution, constraints: _Constraints, node: Node, cell: Cell) -> str:
    if node >= constraints.graph.count:
        return resolution.forwards[node - constraints.graph.count].path
    for argument in (leaf for given in constraints.reactions[node].arguments for leaf in given.leaves):
        if argument.kind == "set" and cell in argument.cells:
            channel = f"[{argument.cells.index(cell)}]" if argument.multi else ""
            return argument.path + channel
    return f"cell {cell}"


def _find_cycle(constraints: _Constraints, stuck: set[Node]) -> list[Node]:
    """A shortest-effort cycle within `stuck`, whose nodes all have a predecessor in it."""
    predecessor: dict[Node, Node] = {}
    for node in sorted(stuck):
        for later in constraints.successors(node):
            if later in stuck:
                predecessor.setdefault(later, node)
    at = next(iter(sorted(stuck & predecessor.keys())))
    seen: dict[Node, int] = {}
    path: list[Node] = []
    while at not in seen:
        seen[at] = len(path)
        path.append(at)
        at = predecessor[at]
    cycle = path[seen[at] :]
    cycle.reverse()
    first = cycle.index(min(cycle))
    return cycle[first:] + cycle[:first]
