"""The shutdown reactions of a run that failed: each runs once, by itself, whatever else went wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reactorlib.binding import Binding
from reactorlib.modes import ModeState
from reactorlib.plan import Node
from reactorlib.program import Program


def shut_down(
    program: Program,
    binding: Binding,
    mode_states: Sequence[ModeState],
    mine: Callable[[Node], bool],
    error: BaseException,
    failed: Node | None,
) -> None:
    """Run the shutdown reactions that are `mine`, but for those of the reactor whose reaction `failed`.

    What a failing shutdown reaction raises becomes a note of `error`.
    """
    skip = None if failed is None or failed >= len(program.reactions) else program.reactions[failed].instance
    for cell in binding.cells.values():  # after a tag that was broken off nothing may look present
        cell.is_present = False
    shutdown = next(trigger.cell for trigger in program.triggers if trigger.kind == "shutdown")
    binding.cell(shutdown).is_present = True
    last = [reaction for reaction in program.reactions if shutdown in reaction.triggers and mine(reaction.index)]
    for reaction in sorted(last, key=lambda reaction: program.order.rank[reaction.index]):
        if reaction.instance is skip or not (reaction.mode is None or mode_states[reaction.mode].entered):
            continue
        body, arguments = binding.call(reaction.index)
        try:
            body(*arguments)
        except Exception as second:  # noqa: BLE001  # noted on the first error, which is raised
            error.add_note(f"{reaction.path} raised too: {type(second).__name__}: {second}")
