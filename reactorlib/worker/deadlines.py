"""The deadlines of a run: whether the body of a reaction runs or its handler.

The order of a tag follows from the deadlines declared, whatever happens here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reactorlib.tag import LONGEST
from reactorlib.worker.event_queue import CurrentTag
from reactorlib.worker.inbox import Outside

ALWAYS_MISSED = -LONGEST


class Timing(Protocol):
    """One worker, as deadlines see it. `deadline` is that of the reaction that runs."""

    outside: Outside
    now: CurrentTag
    deadline: Deadline | None


class Deadline:
    """The deadline of one reaction during a run: `ns` after its tag, ALWAYS_MISSED where it is 0."""

    __slots__ = ("_arguments", "_body", "_handled", "_handler", "_timing", "ns")

    def __init__(
        self,
        timing: Timing,
        ns: int,
        body: Callable[..., None],
        arguments: tuple[Any, ...],
        handler: Callable[..., None],
    ) -> None:
        self._timing = timing
        self._body = body
        self._arguments = arguments
        self._handler = handler
        self._handled: tuple[int, int] | None = None  # the last tag at which the handler began
        self.update(ns)

    def update(self, ns: int) -> None:
        """Replace the deadline from now on."""
        self.ns = ns or ALWAYS_MISSED

    def has_passed(self) -> bool:
        """Whether physical time is later than the tag by more than the deadline."""
        timing = self._timing
        outside = timing.outside
        return outside.clock.now() > outside.started + timing.now.time + self.ns

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
