"""The deadlines of a run: whether the body of a reaction runs or its handler, walked or compiled, on whatever worker.

Orders nothing: what goes first at a tag follows from the deadlines declared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reactorlib.clock import Clock
from reactorlib.worker.events import CurrentTag


class Timing(Protocol):
    """What deadlines are measured by, on one worker of a run; `deadline` is that of the reaction that runs."""

    clock: Clock

    @property
    def started(self) -> int: ...

    now: CurrentTag
    deadline: Deadline | None


class Deadline:
    """The deadline of one reaction during a run: `ns` after its tag; 0 is always missed.

    `handled`: at this tag the handler runs, or has run.
    """

    __slots__ = ("_now", "_timing", "arguments", "body", "handled", "handler", "ns")

    def __init__(
        self,
        timing: Timing,
        ns: int,
        body: Callable[..., None],
        arguments: tuple[Any, ...],
        handler: Callable[..., None],
    ) -> None:
        self._timing = timing
        self._now = timing.clock.now
        self.ns = ns
        self.body = body
        self.handler = handler
        self.arguments = arguments
        self.handled = False

    def choose(self, time: int) -> Callable[..., None]:
        """What is to run at this time: the body, or the handler if it is late. The caller takes it back after."""
        timing = self._timing
        timing.deadline = self
        ns = self.ns
        if ns and self._now() <= timing.started + time + ns:
            self.handled = False
            return self.body
        self.handled = True
        return self.handler

    def begin(self) -> None:
        """The body is to run in any case."""
        self._timing.deadline = self
        self.handled = False

    def has_passed(self) -> bool:
        """Whether physical time is later than the tag by more than the deadline, as it is now."""
        timing = self._timing
        return not self.ns or self._now() > timing.started + timing.now.time + self.ns

    def handle(self) -> None:
        """Run the handler in the middle of the body, unless it runs or has run."""
        if not self.handled:
            self.handled = True
            self.handler(*self.arguments)
