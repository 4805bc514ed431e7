"""An exception of a reaction, in the reaction's own words: which port it meant. When a run has failed, not before."""

from __future__ import annotations

from collections.abc import Iterator

from reactorlib.declaration.instance import BoundPort, typo
from reactorlib.elaboration.program import Elaborated, ReactionInstance
from reactorlib.elaboration.validate import touch_fault
from reactorlib.errors import EffectError


def explain(program: Elaborated, node: int, error: Exception) -> None:
    """Complete what an exception says that a node of the program raised, if it is one of a common mistake.

    Values know the port that was set, not those that read it, and tuples not what they hold.
    """
    if node >= len(program.reactions):
        return
    reaction = program.reactions[node]
    if isinstance(error, EffectError):
        _name_port(program, reaction, error)
    elif hint := typo(error, reaction.instance):
        error.args = (f"{error}{hint}",)
    elif error.args == ("tuple index out of range",) and (widths := list(_widths(reaction))):
        error.args = (f"{error}: {', '.join(widths)}",)


def _name_port(program: Elaborated, reaction: ReactionInstance, error: EffectError) -> None:
    """In place of the source, the port by which the reaction reads it, and why it can only be read."""
    named = {leaf.name for argument in reaction.arguments for leaf in argument.leaves if leaf.kind == "read"}
    for port in program.ports:
        if port.name not in named or touch_fault(reaction.instance, "use", port) is not None:
            continue
        for channel, cell in enumerate(program.cell_of[port.first : port.first + port.width]):
            if program.cell_path(cell) == error.element:
                error.name(port.channel_path(channel), f": {_kind(reaction, port)} is read, not set")
                return


def _kind(reaction: ReactionInstance, port: BoundPort) -> str:
    return "an input" if port.owner is reaction.instance else "an output of a contained reactor"


def _widths(reaction: ReactionInstance) -> Iterator[str]:
    for argument in reaction.arguments:
        if argument.multi and argument.kind == "contained":
            yield f"{argument.name} has {len(argument.members)} members"
        for leaf in argument.leaves:
            if leaf.multi:
                yield f"{leaf.name} has {len(leaf.cells)} channels"
