"""The rules for touching elements, one function each. Every message names the elements."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.instance import Bound, BoundAction, BoundMode, BoundPort, BoundTimer, Instance
from reactorlib.elaboration.program import Argument


def direction_fault(container: Instance, port: BoundPort, side: str) -> str | None:
    """Why `port` cannot be the source or target of a connection made in `container`, or None."""
    inside = port.owner.parent is container
    own = port.owner is container
    if not inside and not own:
        return (
            f"{port.path} cannot be connected in {container.path}: it crosses the hierarchy "
            "(connect ports of this reactor and of those directly in it)"
        )
    good = port.is_input == own if side == "source" else port.is_input == inside
    if good:
        return None
    where = "of this reactor" if own else "of a contained reactor"
    wanted = "the right side" if side == "source" else "the left side"
    kind = "input" if port.is_input else "output"
    return f"{port.path} is connected backwards in {container.path}: an {kind} {where} belongs on {wanted}"


def touch_fault(instance: Instance, role: str, bound: Bound) -> str | None:
    """Why a reaction of `instance` may not name `bound` as trigger, use or effect, or None."""
    own = bound.owner is instance
    if not own and bound.owner.parent is not instance:
        return f"{role} {bound.path} belongs to another reactor"
    if isinstance(bound, BoundPort):
        readable = bound.is_input == own
        if role == "effect" and readable:
            what = "an input of its own reactor" if own else "an output of a contained reactor"
            return f"effect {bound.path} is {what}: it can be read, not set"
        if role != "effect" and not readable:
            what = "an output of its own reactor" if own else "an input of a contained reactor"
            return f"{role} {bound.path} is {what}: it can be set, not read"
        return None
    if not own:
        return f"{role} {bound.path} is a {bound.declaration.kind} of another reactor: only ports cross"
    if isinstance(bound, BoundMode):
        return None if role == "effect" else f"{role} {bound.path} is a mode: it can only be an effect"
    if role == "effect" and isinstance(bound, BoundTimer):
        return f"effect {bound.path} is a timer: it cannot be scheduled"
    assert isinstance(bound, BoundAction | BoundTimer)
    return None


def mode_fault(declaration: Reaction[Any], role: str, bound: Bound) -> str | None:
    """Why a reaction declared in one mode may not name an element declared in another, or None."""
    inside, other = declaration.mode, bound.declaration.mode
    if inside is None or other is None or inside is other:
        return None
    return f"{role} {bound.path} exists in mode {other.name} only, the reaction in mode {inside.name}"


def argument_fault(declaration: Reaction[Any], arguments: Sequence[Argument]) -> str | None:
    """Why the method cannot take its arguments, or None."""
    for method, what in ((declaration.body, "takes"), (declaration.handler, "has a handler that takes")):
        if method is not None and not _accepts(method, len(arguments)):
            wanted = ", ".join(["self", *(argument.name for argument in arguments)])
            signature = inspect.signature(method)
            return f"{what} {signature}, expected ({wanted}): triggers, uses and effects in declared order"
        names = [argument.name for argument in arguments]
        swapped = None if method is None else _swapped(method, names)
        if swapped is not None:
            return f"{what} {swapped} in another order than ({', '.join(['self', *names])}), which it is given"
    return None


def _swapped(method: Callable[..., None], names: Sequence[str]) -> str | None:
    """Parameters that have each other's names, or None. A name of its own is anybody's choice."""
    parameters = list(inspect.signature(method).parameters)[1:]
    given = {parameter: names[i] for i, parameter in enumerate(parameters[: len(names)]) if names.count(names[i]) == 1}
    for parameter in given:
        ring = [parameter]
        while (following := given.get(ring[-1])) is not None and following not in ring:
            ring.append(following)
        if following == parameter and len(ring) > 1:
            return " and ".join(sorted(ring, key=parameters.index))
    return None


def _accepts(method: Callable[..., None], count: int) -> bool:
    try:
        inspect.signature(method).bind(None, *range(count))
    except TypeError:
        return False
    return True
