"""The port that a reaction meant when it set one that it may only read. Found after a run has failed."""

from __future__ import annotations

from reactorlib.elaboration.records import Elaborated
from reactorlib.elaboration.rules import touch_fault
from reactorlib.errors import EffectError


def explain(program: Elaborated, node: int, error: Exception) -> None:
    """Name the port by which this reaction reads the value that it has set. The value does not know its readers."""
    reaction = program.graph.reaction(node)
    if reaction is None or not isinstance(error, EffectError):
        return
    named = {leaf.name for argument in reaction.arguments for leaf in argument.leaves if leaf.kind == "read"}
    for port in program.ports:
        if port.name not in named or touch_fault(reaction.instance, "use", port) is not None:
            continue
        for channel, cell in enumerate(program.cell_of[port.first : port.first + port.width]):
            if program.cell_path(cell) == error.element:
                kind = "an input" if port.owner is reaction.instance else "an output of a contained reactor"
                error.element, error.why = port.channel_path(channel), f": {kind} is read, not set"
                return
