"""Functions that schedules call where calling the reaction does not suffice: a copy, a deadline, a trace, a mode.

`Worker.step` puts these together, so that compiled and walked schedules need not know of them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from time import perf_counter_ns

from reactorlib.worker.cells import Reader
from reactorlib.worker.modes import ModeState
from reactorlib.worker.trace import Recorder

Runnable = Callable[[], None]


def copying(source: Reader, target: Reader, deep: bool) -> Runnable:
    """A forward. `deep`: the target gets a value of its own."""

    def copy() -> None:
        target.value = deepcopy(source.value) if deep else source.value
        target.is_present = True

    return copy


def recorded(step: Runnable, reaction: int, recorder: Recorder) -> Runnable:
    """The step of a reaction, which is recorded once it has run."""
    record = recorder.record

    def run() -> None:
        began = perf_counter_ns()
        step()
        record(reaction, began)

    return run


def in_mode(step: Runnable, state: ModeState) -> Runnable:
    """A step that runs while its mode is active."""

    def run() -> None:
        if state.active:
            step()

    return run


def in_mode_until_shutdown(step: Runnable, state: ModeState, shutdown: Reader) -> Runnable:
    """The step of a reaction that shutdown triggers: it runs then if its mode was ever active."""

    def run() -> None:
        if state.entered if shutdown.is_present else state.active:
            step()

    return run
