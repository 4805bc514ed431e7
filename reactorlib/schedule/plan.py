"""What can happen at a tag, given the events present: the nodes that can follow, in order, and what is certain.

A plan is for one worker; a split of it gives each of several workers its part, with sends and waits between them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from reactorlib.elaboration.program import Cell, Forward, Program, ReactionInstance, Trigger

Node = int  # a reaction, or len(reactions) + a forward


@dataclass(frozen=True, slots=True)
class Step:
    """One node of a plan. `conditions` are the cells of which one must be present; empty when that is certain."""

    node: Node
    conditions: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The schedule of one set of events, before it is written as code or walked."""

    events: tuple[int, ...]  # triggers by index
    steps: tuple[Step, ...]
    captures: tuple[int, ...]  # delayed connections, by trigger index, whose source may be set
    cleared: tuple[Cell, ...]  # every cell that may be present
    switches: bool  # a reaction may switch a mode
    stops: bool  # shutdown is among the events


@dataclass(frozen=True, slots=True)
class Send:
    """Tell worker `to` that everything before is done, and what these cells hold."""

    to: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Wait for the matching Send of worker `of`, or for the end of its part of the tag."""

    of: int
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What one worker does at a tag. Worker 0 also keeps the event queue."""

    worker: int
    events: tuple[int, ...]  # triggers whose presence and value this worker needs
    items: tuple[Step | Send | Wait, ...]
    captures: tuple[int, ...]
    cleared: tuple[Cell, ...]
    last: tuple[Cell, ...]  # cells that travel with the message that ends the part


@dataclass(frozen=True, slots=True)
class Split:
    """All parts of a plan; `parts[0]` is worker 0's, the others only those that take part."""

    plan: Plan
    parts: dict[int, Part]


class Reach:
    """Who hears of a cell: computed once per program, linear in ports and connections."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.reactions = len(program.reactions)
        self.heard_by: dict[Cell, list[Node]] = defaultdict(list)
        for reaction in program.reactions:
            for cell in reaction.triggers:
                self.heard_by[cell].append(reaction.index)
        for position, forward in enumerate(program.forwards):
            self.heard_by[forward.source].append(self.reactions + position)
        self.captured_by: dict[Cell, list[int]] = defaultdict(list)
        for index, trigger in enumerate(program.triggers):
            if trigger.source is not None:
                self.captured_by[trigger.source].append(index)

    @cached_property
    def trigger_of_cell(self) -> dict[Cell, Trigger]:
        return {trigger.cell: trigger for trigger in self.program.triggers}

    def sets(self, node: Node) -> Sequence[Cell]:
        """The cells that a node may set."""
        if node < self.reactions:
            return self.program.reactions[node].writes
        return (self.program.forwards[node - self.reactions].target,)

    def reaction(self, node: Node) -> ReactionInstance | None:
        return self.program.reactions[node] if node < self.reactions else None

    def forward(self, node: Node) -> Forward:
        return self.program.forwards[node - self.reactions]

    def hears_shutdown(self, reaction: ReactionInstance) -> bool:
        known = self.trigger_of_cell
        return any(cell in known and known[cell].kind == "shutdown" for cell in reaction.triggers)

    def plan(self, events: Iterable[int]) -> Plan:
        """Everything that can follow from these events, in the order of the program."""
        program = self.program
        chosen = tuple(sorted(events))
        certain: set[Cell] = {program.triggers[index].cell for index in chosen}
        possible: dict[Cell, None] = dict.fromkeys(program.triggers[index].cell for index in chosen)
        reached: set[Node] = set()
        frontier = list(possible)
        while frontier:
            for node in self.heard_by.get(frontier.pop(), ()):
                if node not in reached:
                    reached.add(node)
                    for cell in self.sets(node):
                        if cell not in possible:
                            possible[cell] = None
                            frontier.append(cell)
        rank = program.order.rank
        steps = tuple(self._step(node, certain, possible) for node in sorted(reached, key=rank.__getitem__))
        captures = [index for cell in possible for index in self.captured_by.get(cell, ())]
        return Plan(
            events=chosen,
            steps=steps,
            captures=tuple(sorted(captures)),
            cleared=tuple(possible),
            switches=any(
                argument.kind == "switch"
                for node in reached
                if node < self.reactions
                for argument in program.reactions[node].arguments
            ),
            stops=any(program.triggers[index].kind == "shutdown" for index in chosen),
        )

    def _step(self, node: Node, certain: set[Cell], possible: dict[Cell, None]) -> Step:
        """A node with what must be checked; what an unconditional forward sets becomes certain in its turn."""
        reaction = self.reaction(node)
        if reaction is None:
            forward = self.forward(node)
            if forward.source in certain and forward.mode is None:
                certain.add(forward.target)
                return Step(node, ())
            return Step(node, (forward.source,))
        if any(cell in certain for cell in reaction.triggers):
            return Step(node, ())
        return Step(node, tuple(cell for cell in reaction.triggers if cell in possible))
