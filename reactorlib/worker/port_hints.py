"""Hints for an exception of a reaction: which port it meant. Made after a run has failed."""

from __future__ import annotations

from reactorlib.elaboration.records import Elaborated, ReactionInstance
from reactorlib.elaboration.rules import touch_fault
from reactorlib.errors import EffectError


def explain(program: Elaborated, node: int, error: Exception) -> None:
    """Add a hint to the exception of a node if it shows a common mistake.

    A value knows the port that was set, not the ports that read it.
    """
    if node >= len(program.reactions):
        return
    reaction = program.reactions[node]
    if isinstance(error, EffectError):
        _name_port(program, reaction, error)


def _name_port(program: Elaborated, reaction: ReactionInstance, error: EffectError) -> None:
    """Name the port by which the reaction reads the value, and why it can only be read."""
    named = {leaf.name for argument in reaction.arguments for leaf in argument.leaves if leaf.kind == "read"}
    for port in program.ports:
        if port.name not in named or touch_fault(reaction.instance, "use", port) is not None:
            continue
        for channel, cell in enumerate(program.cell_of[port.first : port.first + port.width]):
            if program.cell_path(cell) == error.element:
                kind = "an input" if port.owner is reaction.instance else "an output of a contained reactor"
                error.element, error.why = port.channel_path(channel), f": {kind} is read, not set"
                return
