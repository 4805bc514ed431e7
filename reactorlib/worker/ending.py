"""The shutdown reactions of a run that failed: each runs once, by itself, whatever else went wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from reactorlib.elaboration.program import Program, ReactionInstance
from reactorlib.errors import words_of
from reactorlib.schedule.plan import Node
from reactorlib.worker.binding import Binding
from reactorlib.worker.modes import ModeState


def exit_on_signal(number: int, _frame: object) -> None:
    """The handler that ends a run by a signal, shutdown reactions included."""
    raise SystemExit(128 + number)


def last_reactions(
    program: Program,
    mode_states: Sequence[ModeState],
    mine: Callable[[Node], bool],
    failed: Node | None,
) -> list[ReactionInstance]:
    """The shutdown reactions that are `mine` and due, but for those of the reactor whose reaction `failed`."""
    skip = None if failed is None or failed >= len(program.reactions) else program.reactions[failed].instance
    shutdown = next(trigger.cell for trigger in program.triggers if trigger.kind == "shutdown")
    due = [
        reaction
        for reaction in program.reactions
        if shutdown in reaction.triggers
        and mine(reaction.index)
        and reaction.instance is not skip
        and (reaction.mode is None or mode_states[reaction.mode].entered)
    ]
    return sorted(due, key=lambda reaction: program.order.rank[reaction.index])


def clear(binding: Binding) -> None:
    """After a tag that was broken off nothing may look present but shutdown."""
    for cell in binding.cells.values():
        cell.is_present = False
    binding.shutdown.is_present = True


def run_last(binding: Binding, reactions: Sequence[ReactionInstance]) -> list[str]:
    """Run shutdown reactions that have not begun yet; what they raise, in words."""
    raised = []
    for reaction in reactions:
        if reaction.index in binding.ended:
            continue
        body, arguments = binding.call(reaction.index)
        try:
            body(*arguments)
        except (Exception, SystemExit) as second:  # noqa: BLE001  # noted on the first error, which is raised
            raised.append(f"{reaction.path} raised too: {type(second).__name__}: {words_of(second)}")
    return raised
