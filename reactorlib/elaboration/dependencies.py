"""Who must run before whom: levels, inferred deadlines, the order of a tag, and the cycle where there is none.

The nodes are the reactions and the forwards; cells stand between writers and readers, so that the graph
stays linear in ports and connections however many write and read one value.
"""

from __future__ import annotations

from collections import defaultdict

from reactorlib.declaration.instance import BoundPort
from reactorlib.elaboration.connections import Resolution, source_channel, source_of
from reactorlib.elaboration.program import Cell, Cycle, Forward, Order, ReactionInstance

Node = int


class _Graph:
    """Reactions 0..n-1, then forwards; edges through cells, and between reactions of one reactor."""

    def __init__(self, resolution: Resolution) -> None:
        reactions, forwards = resolution.reactions, resolution.forwards
        channels = resolution.channels
        self.reactions = reactions
        self._forwards = forwards
        self._modes = resolution.modes
        self.writes: list[list[Cell]] = [list(r.writes) for r in reactions]
        self.writes += [[f.target] for f in forwards]
        self.reads: list[list[Cell]] = [[resolution.cell(c) for c in r.reads] for r in reactions]
        self.reads += [[f.source] for f in forwards]
        self.readers: dict[Cell, list[Node]] = defaultdict(list)
        self.writers: dict[Cell, list[Node]] = defaultdict(list)
        for node, cells in enumerate(self.writes):
            for cell in cells:
                self.writers[cell].append(node)
        for node, cells in enumerate(self.reads):
            for cell in cells:
                if cell < channels or cell in self.writers:
                    self.readers[cell].append(node)
        self.after: list[list[Node]] = [[] for _ in self.writes]  # reactions of the same reactor that come next
        _chain(reactions, self.after)
        signal = resolution.trigger_of.get(("shutdown", None))
        self.shutdown = None if signal is None else signal.cell
        self.through: dict[tuple[Node, Node], Cell] = {}  # of edges in `after` that stand for one through a cell

    def successors(self, node: Node) -> list[Node]:
        """Directly depending nodes."""
        return [r for c in self.writes[node] for r in self.readers.get(c, ())] + self.after[node]

    def part_exclusive(self) -> None:
        """No reaction waits for what one in another mode of its reactor writes: never both are active."""
        for cell, writers in self.writers.items():
            parted = {r for r in self.readers.get(cell, ()) if any(self._exclusive(w, r) for w in writers)}
            if not parted:
                continue
            self.readers[cell] = [reader for reader in self.readers[cell] if reader not in parted]
            for reader in parted:
                self.reads[reader] = [other for other in self.reads[reader] if other != cell]
                for writer in writers:
                    if not self._exclusive(writer, reader):
                        self.after[writer].append(reader)
                        self.through[writer, reader] = cell

    def _exclusive(self, one: Node, other: Node) -> bool:
        a, b = self._only_mode(one), self._only_mode(other)
        return a is not None and b is not None and a != b and b in self._modes[a].siblings

    def _only_mode(self, node: Node) -> int | None:
        """The mode of its reactor in which a node is declared, unless it also runs elsewhere, at shutdown."""
        if node >= len(self.reactions):
            return self._forwards[node - len(self.reactions)].mode
        reaction = self.reactions[node]
        return None if self.shutdown in reaction.triggers else reaction.own_mode


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


def order_of(resolution: Resolution, faults: list[str]) -> tuple[Order, Cycle]:
    """Levels, inferred deadlines and ranks of all nodes; none, with the cycle among the faults, if there is one."""
    graph = _Graph(resolution)
    sequence, level = _levels(graph, len(resolution.reactions))
    if len(sequence) < len(graph.writes):
        graph.part_exclusive()
        sequence, level = _levels(graph, len(resolution.reactions))
    if len(sequence) < len(graph.writes):
        cycle = find_cycle(graph, set(range(len(graph.writes))) - set(sequence))
        faults.append(_describe_cycle(resolution, graph, cycle))
        return Order((), (), ()), _cycle(resolution, graph, cycle)
    deadline = _deadlines(graph, sequence)
    reactions = len(resolution.reactions)
    topological = [0] * len(sequence)
    for position, node in enumerate(sequence):
        topological[node] = position

    def key(node: Node) -> tuple[float, int, int, int]:
        due = deadline[node]
        is_reaction = node < reactions
        return (
            float("inf") if due is None else due,
            level[node],
            int(is_reaction),
            node if is_reaction else topological[node],
        )

    rank = [0] * len(sequence)
    for position, node in enumerate(sorted(range(len(sequence)), key=key)):
        rank[node] = position
    return Order(tuple(level), tuple(deadline), tuple(rank)), Cycle(channels=frozenset(resolution.ringed))


def _levels(graph: _Graph, reactions: int) -> tuple[list[Node], list[int]]:
    """A topological sequence of nodes (short of those on cycles), and the level of each.

    A reaction is one level above whatever it depends on; a forward takes no level of its own.
    """
    count = len(graph.writes)
    level = [0] * count
    waiting = [0] * count  # for how many cells with writers, and earlier reactions
    cell_waiting = {cell: len(writers) for cell, writers in graph.writers.items()}
    cell_level: dict[Cell, int] = defaultdict(int)
    for cell in graph.writers:
        for reader in graph.readers.get(cell, ()):
            waiting[reader] += 1
    for following in graph.after:
        for node in following:
            waiting[node] += 1
    ready = [node for node in range(count) if not waiting[node]]
    sequence: list[Node] = []
    for node in ready:
        sequence.append(node)
        reached = level[node] + (1 if node < reactions else 0)
        freed = list(graph.after[node])
        for later in freed:
            level[later] = max(level[later], reached)
        for cell in graph.writes[node]:
            cell_level[cell] = max(cell_level[cell], reached)
            cell_waiting[cell] -= 1
            if not cell_waiting[cell]:
                for reader in graph.readers.get(cell, ()):
                    level[reader] = max(level[reader], cell_level[cell])
                    freed.append(reader)
        for later in freed:
            waiting[later] -= 1
            if not waiting[later]:
                ready.append(later)
    return sequence, level


def _deadlines(graph: _Graph, sequence: list[Node]) -> list[int | None]:
    """The inferred deadline of each node: the earliest of its own and those of everything that depends on it."""
    deadline: list[int | None] = [r.deadline for r in graph.reactions]
    deadline += [None] * (len(graph.writes) - len(deadline))
    if not any(due is not None for due in deadline):
        return deadline
    cell_due: dict[Cell, int] = {}
    for node in reversed(sequence):
        dues = [cell_due[c] for c in graph.writes[node] if c in cell_due]
        dues += [due for later in graph.after[node] if (due := deadline[later]) is not None]
        own = deadline[node]
        if own is not None:
            dues.append(own)
        if not dues:
            continue
        due = deadline[node] = min(dues)
        for cell in graph.reads[node]:
            if cell in graph.writers:
                cell_due[cell] = min(due, cell_due.get(cell, due))
    return deadline


def _cycle(resolution: Resolution, graph: _Graph, nodes: list[Node]) -> Cycle:
    """Where a cycle lies: every value on it is followed from the port that reads it back to the one that is set."""
    count = len(graph.reactions)
    order: list[tuple[Node, Node]] = []
    waiting = [resolution.forwards[node - count].target for node in nodes if node >= count]
    modes = {resolution.forwards[node - count].mode for node in nodes if node >= count} | {None}
    for node, following in zip(nodes, nodes[1:] + nodes[:1], strict=True):
        passed = _passed(graph, node, following)
        if passed is None:
            order.append((node, following))
        elif following < count:
            for argument in (argument for argument in graph.reactions[following].arguments if argument.kind == "read"):
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


def _passed(graph: _Graph, node: Node, following: Node) -> Cell | None:
    """The cell through which a node passes a value to the next, or None: they are reactions of one reactor."""
    through = graph.through.get((node, following))
    if through is None and following not in graph.after[node]:
        return next(cell for cell in graph.writes[node] if following in graph.readers.get(cell, ()))
    return through


def _describe_cycle(resolution: Resolution, graph: _Graph, cycle: list[Node]) -> str:
    """A cycle, step by step with source lines."""
    lines = ["causality cycle:"]
    for node, following in zip(cycle, cycle[1:] + cycle[:1], strict=True):
        if node < len(graph.reactions):
            reaction = graph.reactions[node]
            lines.append(f"    {reaction.path} ({reaction.declaration.where})")
        else:
            forward = resolution.forwards[node - len(graph.reactions)]
            if forward.copy:  # for the reaction that comes next
                continue
            lines.append(f"    {_describe_forward(resolution, forward)}")
        lines.append("      " + _describe_edge(resolution, graph, node, following))
    lines.append("    a connection with after=0 or a physical connection would break it")
    return "\n".join(lines)


def _describe_forward(resolution: Resolution, forward: Forward) -> str:
    """A port whose connection a mode guards, and where its value comes from."""
    for connection in resolution.connections_to[forward.target]:
        if connection.mode is not None and resolution.mode_index[connection.mode] == forward.mode:
            return f"{forward.path} takes the value of {source_of(connection, forward.target)}"
    return forward.path


def _describe_edge(resolution: Resolution, graph: _Graph, node: Node, following: Node) -> str:
    cell = _passed(graph, node, following)
    if cell is None:
        return "runs before the next reaction of the same reactor:"
    wheres = [
        connection.where
        for channel, connections in resolution.connections_to.items()
        for connection in connections
        if resolution.alias[channel] == cell
    ]
    via = f", connected at {', '.join(dict.fromkeys(wheres))}," if wheres else ""
    return f"sets {_port_path(resolution, graph, node, cell)}{via} which is read by:"


def _port_path(resolution: Resolution, graph: _Graph, node: Node, cell: Cell) -> str:
    if node >= len(graph.reactions):
        return resolution.forwards[node - len(graph.reactions)].path
    for argument in (leaf for given in graph.reactions[node].arguments for leaf in given.leaves):
        if argument.kind == "set" and cell in argument.cells:
            channel = f"[{argument.cells.index(cell)}]" if argument.multi else ""
            return argument.path + channel
    return f"cell {cell}"


def find_cycle(graph: _Graph, stuck: set[Node]) -> list[Node]:
    """A shortest-effort cycle within `stuck`, whose nodes all have a predecessor in it."""
    predecessor: dict[Node, Node] = {}
    for node in sorted(stuck):
        for later in graph.successors(node):
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
