"""The deadlines of a run: whether the body of a reaction runs or its handler, walked or compiled, on whatever worker.

Orders nothing: what goes first at a tag follows from the deadlines declared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reactorlib.clock import Clock
from reactorlib.tag import LONGEST
from reactorlib.worker.event_queue import CurrentTag

ALWAYS_MISSED = -LONGEST


class Timing(Protocol):
    """What deadlines are measured by, on one worker of a run; `deadline` is that of the reaction that runs."""

    clock: Clock

    @property
    def started(self) -> int: ...

    now: CurrentTag
    deadline: Deadline | None


class Deadline:
    """The deadline of one reaction during a run: `ns` after its tag, ALWAYS_MISSED where it is 0.

    What calls a reaction puts this into `Timing.deadline`, calls `body` in time, `late` later, and takes it out again.
    """

    __slots__ = ("_arguments", "_handled", "_handler", "_timing", "body", "ns")

    def __init__(
        self,
        timing: Timing,
        ns: int,
        body: Callable[..., None],
        arguments: tuple[Any, ...],
        handler: Callable[..., None],
    ) -> None:
        self._timing = timing
        self.body = body
        self._arguments = arguments
        self._handler = handler
        self._handled: tuple[int, int] | None = None  # the last tag at which the handler began
        self.update(ns)

    def update(self, ns: int) -> None:
        """From now on, the deadline is this."""
        self.ns = ns or ALWAYS_MISSED

    def has_passed(self) -> bool:
        """Whether physical time is later than the tag by more than the deadline."""
        timing = self._timing
        return timing.clock.now() > timing.started + timing.now.time + self.ns

    def late(self, *_arguments: Any) -> None:
        """Run the handler in the place of the body, or of its rest: once a tag."""
        now = self._timing.now
        tag = now.time, now.microstep
        if self._handled != tag:
            self._handled = tag
            self._handler(*self._arguments)
