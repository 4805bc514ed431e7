"""The rules for ports, modes, actions and the arguments of reactions, one function each. Messages name the elements."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, get_args

from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.elements import Mode, Policy, Timer
from reactorlib.declaration.instance import Bound, BoundMode, BoundPort, Connection, Instance, PortChannel
from reactorlib.elaboration.records import Argument

Feed = tuple[Connection, PortChannel]  # a connection to a channel, and the source that it gives it
_POLICIES = get_args(Policy)


def direction_fault(container: Instance, port: BoundPort, side: str) -> str | None:
    """Why `port` cannot be the source or target of a connection made in `container`, or None."""
    own = port.owner is container
    if not own and port.owner.parent is not container:
        return f"{port.path} crosses the hierarchy: connect ports of this reactor and of those directly in it"
    if port.is_input == (own if side == "source" else not own):
        return None
    wanted = "right" if side == "source" else "left"
    return f"{port.path} is connected backwards: {_kind(port, own)} belongs on the {wanted} side"


def width_fault(connection: Connection) -> str | None:
    """Why the two sides of a connection do not fit, or None."""
    sources, targets = connection.sources, connection.targets
    turns, rest = divmod(len(targets), len(sources)) if sources else (0, 0)
    if turns and not rest and (turns == 1 or connection.repeat):
        return None
    wanted = "as wide as the right, or repeat to it exactly" if connection.repeat else "as wide as the right"
    return f"width {len(sources)} does not fit width {len(targets)}: the left side must be {wanted}"


def source_faults(feeds: Iterable[Feed], mode: BoundMode | None, source: str) -> Iterator[str]:
    """Why a channel with these connections cannot have another source, in `mode`: different modes never meet."""
    for connection, channel in feeds:
        other = connection.mode
        if mode is None or other is None or mode is other or mode.owner is not other.owner:
            yield f"has two sources: {feed_text(connection, channel)} and {source}"


def feed_text(connection: Connection, source: PortChannel) -> str:
    """The source that a connection gives a channel, for messages."""
    return f"{source[0].channel_path(source[1])} (connected at {connection.where})"


def initial_fault(modes: Iterable[BoundMode]) -> str | None:
    """Why a reactor cannot begin in its modes, or None."""
    initial = [mode.name for mode in modes if mode.declaration.initial]
    return None if len(initial) == 1 else f"exactly one mode must be initial, got {', '.join(initial) or 'none'}"


def policy_fault(policy: str | None, min_spacing: int | None) -> str | None:
    """Why an action cannot have its policy, or None."""
    if policy is not None and policy not in _POLICIES:
        return f"unknown policy {policy!r}: one of {', '.join(_POLICIES)}"
    if policy is not None and min_spacing is None:
        return f"policy {policy!r} without a spacing: give it a min_spacing, such as 0"
    return None


def touch_fault(instance: Instance, role: str, bound: Bound, mode: Mode | None) -> str | None:
    """Why a reaction of `instance`, declared in `mode`, may not name `bound` as trigger, use or effect, or None."""
    own, other = bound.owner is instance, bound.declaration.mode
    told = None
    if not own and bound.owner.parent is not instance:
        told = "belongs to another reactor"
    elif isinstance(bound, BoundPort):
        readable = bound.is_input == own
        if readable == (role == "effect"):
            told = f"is {_kind(bound, own)}: it can be {'read, not set' if readable else 'set, not read'}"
    elif not own:
        told = f"is a {bound.declaration.kind} of another reactor: only ports cross"
    elif isinstance(bound, BoundMode) and role != "effect":
        told = "is a mode: it can only be an effect"
    elif isinstance(bound.declaration, Timer) and role == "effect":
        told = "is a timer: it cannot be scheduled"
    if told is None and mode is not None and other is not None and mode is not other:
        told = f"exists in mode {other.name} only, the reaction in mode {mode.name}"
    return told and f"{role} {bound.path} {told}"


def transition_fault(bound: Bound, history: bool | None, known: Argument | None) -> str | None:
    """Why a reaction with an argument `known` for `bound` cannot enter it as an effect says, or None.

    `history` is None for an effect that names neither reset nor history.
    """
    if not isinstance(bound, BoundMode):
        return None if history is None else f"{bound.path} is no mode: reset and history enter modes"
    if known is not None and known.history != bool(history):
        return f"{bound.path} is entered both by reset and by history: name one of them"
    return None


def _kind(port: BoundPort, own: bool) -> str:
    return f"an {port.declaration.kind} of {'its own' if own else 'a contained'} reactor"


def argument_fault(declaration: Reaction[Any], arguments: Sequence[Argument]) -> str | None:
    """Why the method cannot take its arguments, or None."""
    names = [argument.name for argument in arguments]
    wanted = f"expected ({', '.join(['self', *names])}): triggers, uses and effects in declared order"
    for method, what in ((declaration.body, "takes"), (declaration.handler, "has a handler that takes")):
        if method is None:
            continue
        signature = inspect.signature(method)
        try:
            signature.bind(None, *names)
        except TypeError:
            return f"{what} {signature}, {wanted}"
        swapped = _swapped(list(signature.parameters)[1:], names)
        if swapped:
            return f"{what} {' and '.join(swapped)} in another order than ({', '.join(['self', *names])})"
    return None


def _swapped(parameters: Sequence[str], names: Sequence[str]) -> list[str]:
    """Parameters that have each other's names. A name of its own is anybody's choice."""
    given = {parameter: name for parameter, name in zip(parameters, names, strict=False) if names.count(name) == 1}
    moved = {parameter for parameter, name in given.items() if parameter != name}
    while left_over := {parameter for parameter in moved if given[parameter] not in moved}:
        moved -= left_over
    return [parameter for parameter in parameters if parameter in moved]
