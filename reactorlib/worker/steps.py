"""Functions that schedules call where calling the reaction does not suffice: a copy, a deadline, a trace, a mode.

`Worker.step` puts these together, so that compiled and walked schedules need not know of them.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from time import perf_counter_ns
from typing import Any, Protocol

from reactorlib.tag import LONGEST
from reactorlib.worker.cells import Reader
from reactorlib.worker.event_queue import CurrentTag
from reactorlib.worker.inbox import Outside
from reactorlib.worker.modes import ModeState
from reactorlib.worker.trace import Recorder

ALWAYS_MISSED = -LONGEST

Runnable = Callable[[], None]
BoundCall = tuple[Callable[..., None], tuple[Any, ...]]  # a function and its arguments


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


class Timing(Protocol):
    """A worker, as deadlines see it."""

    outside: Outside
    now: CurrentTag
    deadline: Deadline | None  # of the reaction that runs


class Deadline:
    """The deadline of one reaction during a run. The order of a tag follows from the declared ones alone."""

    def __init__(self, timing: Timing, ns: int, call: BoundCall, handler: Callable[..., None]) -> None:
        self._timing = timing
        self._body, self._arguments = call
        self._handler = handler
        self._handled: tuple[int, int] | None = None  # the last tag at which the handler began
        self.update(ns)

    def update(self, ns: int) -> None:
        """Replace the deadline from now on: `ns` after the tag."""
        self._ns = ns or ALWAYS_MISSED

    def has_passed(self) -> bool:
        outside = self._timing.outside
        return outside.clock.now() > outside.started + self._timing.now.time + self._ns

    def invoke(self) -> None:
        """Run the body in time, the handler later."""
        self._timing.deadline = self
        if self.has_passed():
            self.late()
        else:
            self._body(*self._arguments)
        self._timing.deadline = None

    def late(self) -> None:
        """Run the handler in place of the body, or of its rest, once a tag."""
        now = self._timing.now
        tag = now.time, now.microstep
        if self._handled != tag:
            self._handled = tag
            self._handler(*self._arguments)
