"""Who hears of whom: the reactions and forwards of a program as nodes, its cells between them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from reactorlib.elaboration.program import Cell, Elaborated, Forward, ReactionInstance

Node = int  # a reaction, or len(reactions) + a forward


class ReactionGraph:
    """Who hears of a cell: computed once per program, linear in ports and connections."""

    def __init__(self, program: Elaborated) -> None:
        self.program = program
        self.reactions = len(program.reactions)
        self.heard_by: dict[Cell, list[Node]] = defaultdict(list)
        for reaction in program.reactions:
            for cell in reaction.triggers:
                self.heard_by[cell].append(reaction.index)
        for position, forward in enumerate(program.forwards):
            self.heard_by[forward.source].append(self.reactions + position)
        self.captured_by: dict[Cell, list[int]] = defaultdict(list)
        self._shutdown: Cell | None = None
        for index, trigger in enumerate(program.triggers):
            if trigger.source is not None:
                self.captured_by[trigger.source].append(index)
            if trigger.kind == "shutdown":
                self._shutdown = trigger.cell

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
        return self._shutdown in reaction.triggers
