"""The plan of a tag: given the events present, the nodes that can follow, in order, and which are certain."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reactorlib.elaboration.records import Cell, DependencyGraph, Elaborated, Node


class NodeCall(NamedTuple):
    """One node of a plan. `conditions` are the cells of which one must be present; empty when that is certain."""

    node: Node
    conditions: tuple[Cell, ...]


class Send(NamedTuple):
    """Tell worker `to` that everything before is done, and what these cells hold."""

    to: int
    cells: tuple[Cell, ...]


class Wait(NamedTuple):
    """Wait for the matching Send of worker `of`, or for the end of its part of the tag."""

    of: int
    cells: tuple[Cell, ...]


class Plan(NamedTuple):
    """The schedule of one set of events, before it is written as code: the whole, or the part of one worker.

    With `any_of`, it is that of every set of these events: each may be absent, and who calls it marks those present.
    """

    events: tuple[int, ...]  # triggers by index
    items: tuple[NodeCall | Send | Wait, ...]
    captures: tuple[int, ...]  # delayed connections, by trigger index, whose source may be set
    cleared: tuple[Cell, ...]  # every cell that may be present
    switches: bool  # a reaction may switch a mode
    stops: bool  # shutdown is among the events
    marked: tuple[int, ...]  # of `events`, those whose presence and value the worker needs
    any_of: bool = False
    worker: int | None = None  # whose part it is
    last: tuple[Cell, ...] = ()  # cells that travel with the message that ends a part

    @property
    def calls(self) -> list[NodeCall]:
        return [item for item in self.items if isinstance(item, NodeCall)]


def plan_of(program: Elaborated, events: Iterable[int], any_of: bool = False) -> Plan:
    """Everything that can follow from these events, or with `any_of` from some of them, in the order of the program."""
    graph = program.graph
    chosen = tuple(sorted(events))
    possible: dict[Cell, None] = dict.fromkeys(program.triggers[index].cell for index in chosen)
    certain = set() if any_of else set(possible)
    reached: set[Node] = set()
    frontier = list(possible)
    while frontier:
        for node in graph.heard_by.get(frontier.pop(), ()):
            if node not in reached:
                reached.add(node)
                for cell in graph.writes[node]:
                    if cell not in possible:
                        possible[cell] = None
                        frontier.append(cell)
    rank = program.order.rank
    captures = [index for cell in possible for index in graph.captured_by.get(cell, ())]
    return Plan(
        events=chosen,
        marked=chosen,
        items=tuple(_call(graph, node, certain, possible) for node in sorted(reached, key=rank.__getitem__)),
        captures=tuple(sorted(captures)),
        cleared=tuple(possible),
        switches=any(a.kind == "switch" for n in reached if n < graph.count for a in program.reactions[n].arguments),
        stops=any(program.triggers[index].kind == "shutdown" for index in chosen),
        any_of=any_of,
    )


def _call(graph: DependencyGraph, node: Node, certain: set[Cell], possible: dict[Cell, None]) -> NodeCall:
    """A node with its conditions. The target of an unconditional forward becomes certain in its turn."""
    reaction = graph.reaction(node)
    if reaction is None:
        forward = graph.forward(node)
        if forward.source in certain and forward.mode is None:
            certain.add(forward.target)
            return NodeCall(node, ())
        return NodeCall(node, (forward.source,))
    if any(cell in certain for cell in reaction.triggers):
        return NodeCall(node, ())
    return NodeCall(node, tuple(cell for cell in reaction.triggers if cell in possible))
