"""Where the causality cycles of a program lie: reactions, values, connections. Elaboration words them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from reactorlib.declaration.instance import BoundPort
from reactorlib.elaboration.program import Cell, Elaborated, ReactionInstance
from reactorlib.view.diagram.names import elements_named

Vertex = tuple[str, int]
Channel = int


class Cycles:
    """The strongly connected parts of reactions and cells. Empty, and free, for a program without faults."""

    def __init__(self, program: Elaborated, faulty: bool) -> None:
        self._part: dict[Vertex, int] = {}
        self.touches: set[tuple[int, BoundPort]] = set()  # a reaction, and a port that it reads or sets on a cycle
        self.entered: set[Channel] = set()  # channels that a cycle enters through their connection
        if faulty:
            source_of = _undelayed(program)
            self.entered.update(_rings(source_of))
            if not program.order.level:
                self._part = _parts(_successors(program))
                self._trace(program, source_of)

    def _trace(self, program: Elaborated, source_of: dict[Channel, Channel]) -> None:
        """The ports of cyclic reactions that are on their cycle, and the connections that lead there."""
        for reaction in program.reactions:
            part, declared = self.of_reaction(reaction.index), reaction.declaration
            if part is None:
                continue
            for port, channel in _channels(reaction, (*declared.triggers, *declared.uses)):
                if self.of_cell(program.cell_of[channel]) == part:
                    self.touches.add((reaction.index, port))
                    self._enter(channel, program, source_of)
            for port, channel in _channels(reaction, declared.effects):
                if self.of_cell(channel) == part:
                    self.touches.add((reaction.index, port))

    def _enter(self, channel: Channel, program: Elaborated, source_of: dict[Channel, Channel]) -> None:
        """Mark the connections through which a value comes to a port that reads it on a cycle."""
        part = self.of_cell(program.cell_of[channel])
        while channel in source_of and channel not in self.entered:
            source = source_of[channel]
            if self.of_cell(program.cell_of[source]) != part:
                return
            self.entered.add(channel)
            channel = source

    def of_reaction(self, index: int) -> int | None:
        """The cycle that a reaction lies on."""
        return self._part.get(("reaction", index))

    def of_cell(self, cell: Cell) -> int | None:
        """The cycle that a value lies on."""
        return self._part.get(("cell", cell))

    def order_edges(self, reactions: Sequence[ReactionInstance]) -> Iterable[tuple[int, int]]:
        """Reactions of one reactor that a cycle passes one after the other, without a value between them."""
        for one, two in pairwise(reactions):
            part = self.of_reaction(one.index)
            if part is not None and part == self.of_reaction(two.index) and not _exclusive(one, two):
                yield one.index, two.index


def _channels(reaction: ReactionInstance, names: Iterable[Any]) -> Iterator[tuple[BoundPort, Channel]]:
    for named in names:
        for bound in elements_named(reaction.instance, named):
            if isinstance(bound, BoundPort):
                yield from ((bound, bound.first + channel) for channel in range(bound.width))


def _undelayed(program: Elaborated) -> dict[Channel, Channel]:
    """Target channel -> source channel, of the connections that take no time."""
    found: dict[Channel, Channel] = {}
    for instance in program.instances:
        for connection in instance.connections:
            sources = connection.sources
            if connection.after is None and not connection.physical and sources:
                for position, (port, channel) in enumerate(connection.targets):
                    source, source_channel = sources[position % len(sources)]
                    found.setdefault(port.first + channel, source.first + source_channel)
    return found


def _rings(source_of: dict[Channel, Channel]) -> set[Channel]:
    """Channels whose connections lead back to themselves, with no reaction in between."""
    ringed: set[Channel] = set()
    done: set[Channel] = set()
    for start in source_of:
        trail: dict[Channel, None] = {}
        at = start
        while at in source_of and at not in trail and at not in done:
            trail[at] = None
            at = source_of[at]
        if at in trail:
            ringed.update(list(trail)[list(trail).index(at) :])
        done.update(trail)
    return ringed


def _exclusive(one: ReactionInstance, two: ReactionInstance) -> bool:
    return one.own_mode is not None and two.own_mode is not None and one.own_mode != two.own_mode


def _successors(program: Elaborated) -> dict[Vertex, list[Vertex]]:
    edges: dict[Vertex, list[Vertex]] = defaultdict(list)
    for reaction in program.reactions:
        here = "reaction", reaction.index
        for cell in reaction.reads:
            edges["cell", program.cell_of[cell] if cell < program.channels else cell].append(here)
        edges[here] += [("cell", cell) for cell in reaction.writes]
    for forward in program.forwards:
        edges["cell", forward.source].append(("cell", forward.target))
    for _, same in groupby(program.reactions, key=lambda reaction: id(reaction.instance)):
        ordered = list(same)
        for position, one in enumerate(ordered):
            edges["reaction", one.index] += [
                ("reaction", two.index) for two in ordered[position + 1 :] if not _exclusive(one, two)
            ]
    return edges


def _parts(edges: dict[Vertex, list[Vertex]]) -> dict[Vertex, int]:
    """The strongly connected parts with more than one vertex (Kosaraju), numbered; vertices in none are left out."""
    finished = _finish_order(list(edges), lambda vertex: edges.get(vertex, ()))
    back: dict[Vertex, list[Vertex]] = defaultdict(list)
    for vertex, following in list(edges.items()):
        for other in following:
            back[other].append(vertex)
    part: dict[Vertex, int] = {}
    seen: set[Vertex] = set()
    for number, start in enumerate(reversed(finished)):
        if start in seen:
            continue
        members = [start]
        seen.add(start)
        for vertex in members:
            for other in back[vertex]:
                if other not in seen:
                    seen.add(other)
                    members.append(other)
        if len(members) > 1 or start in edges.get(start, ()):
            part.update(dict.fromkeys(members, number))
    return part


def _finish_order(starts: Iterable[Vertex], following: Callable[[Vertex], Sequence[Vertex]]) -> list[Vertex]:
    """Depth first without recursion: vertices in the order in which they are left."""
    seen: set[Vertex] = set()
    finished: list[Vertex] = []
    for start in starts:
        if start in seen:
            continue
        seen.add(start)
        stack = [(start, iter(following(start)))]
        while stack:
            vertex, rest = stack[-1]
            other = next((v for v in rest if v not in seen), None)
            if other is None:
                stack.pop()
                finished.append(vertex)
            else:
                seen.add(other)
                stack.append((other, iter(following(other))))
    return finished
