"""The values that a reset of a mode restores: states of its reactors, as the constructors left them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.elements import State
from reactorlib.declaration.instance import Instance
from reactorlib.elaboration.connections import Resolution
from reactorlib.elaboration.program import ResetState
from reactorlib.errors import words_of


def reset_states(resolution: Resolution, instances: Iterable[Instance]) -> dict[int, tuple[ResetState, ...]]:
    """The `State(reset=True)` of each mode: declared in it, or in a reactor that lies in it."""
    found: dict[int, list[ResetState]] = {}
    for instance in instances if resolution.modes else ():
        for name, declared in declarations_of(type(instance.reactor)).elements.items():
            if isinstance(declared, State) and declared.reset:
                mode = resolution.mode_of(instance, declared.mode)
                if mode is not None:
                    value = _restored(instance, name, declared, resolution.faults)
                    found.setdefault(mode, []).append(ResetState(instance.reactor, name, value))
    return {mode: tuple(states) for mode, states in found.items()}


def _restored(instance: Instance, name: str, declared: State[Any], faults: list[str]) -> Callable[[], Any]:
    """A function that returns a fresh value of a state as it is now."""
    try:
        left = deepcopy(vars(instance.reactor)[name])
    except Exception as error:  # noqa: BLE001  # of the user's code, told as a fault
        if callable(declared.initial):
            initial: Callable[[], Any] = declared.initial
            return initial
        faults.append(
            f"{instance.path}.{name}: a reset restores a copy of what the constructor left, and copying it raised "
            f"{type(error).__name__}: {words_of(error)}; State(callable, reset=True) calls what makes it anew"
        )
        return lambda: None
    return partial(deepcopy, left)
