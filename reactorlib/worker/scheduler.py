"""Calls of reactions and schedules to the run. On worker 0 they act at once; elsewhere an outbox records them."""

from __future__ import annotations

from typing import Any, Protocol

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Events

# The name of a method of Scheduler, the event by its index (None where there is none), the other arguments.
Call = tuple[Any, ...]


class Scheduler(Protocol):
    """Times are in ns since the start of the run, delays in ns."""

    def at(self, event: Event, time: int, value: Any) -> None: ...  # at its next free microstep
    def schedule(self, event: Event, extra_delay: int, value: Any) -> None: ...  # of a logical action
    def switch(self, mode: int, history: bool) -> None: ...  # when the tag ends
    def end_tag(self) -> None: ...
    def stop(self) -> None: ...  # at the next microstep, together with the events due there
    def listen(self) -> None: ...  # to threads that reactions of this worker start


class Outbox:
    """Records calls, for worker 0 to replay when this worker's part of the tag has ended."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def at(self, event: Event, time: int, value: Any) -> None:
        self.calls.append(("at", event.index, time, value))

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        self.calls.append(("schedule", event.index, extra_delay, value))

    def switch(self, mode: int, history: bool) -> None:
        self.calls.append(("switch", None, mode, history))

    def end_tag(self) -> None:
        """Modes switch on worker 0 alone."""

    def stop(self) -> None:
        self.calls.append(("stop", None))

    def listen(self) -> None:
        self.calls.append(("listen", None))

    def take(self, soon: Events, time: int) -> list[Call]:
        """The calls of this tag, in order, with the events that are due at the next microstep."""
        calls, self.calls = self.calls, []
        calls += [("at", event.index, time, value) for event, value in soon.items()]
        return calls
