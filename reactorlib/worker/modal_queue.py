"""The event queue of a program with modes, which finds the pending events of a mode without a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Queue

FEW_TAGS = 16  # of an event: then tags that have passed are dropped

# An event that is not in the queue: the call that puts it there, with its time, and ns from now to that time.
Waiting = tuple[Callable[[Event, int, Any], None], int, Event, Any]


class ModalQueue(Queue):
    """Events whose trigger lies in a mode can be taken out, and return by a call. All their tags ahead are noted."""

    __slots__ = ()

    def at(self, event: Event, time: int, value: Any) -> None:
        if event.mode is None:
            super().at(event, time, value)
            return
        tags = self._tags.setdefault(event, [])
        count = len(tags)
        if count >= FEW_TAGS and not count & (count - 1):  # at powers of two: a constant share of the cost
            tags[:] = [tag for tag in tags if tag > (self.time, self.microstep)]
        tags.append(self._place(time, event, value))

    def extract(self, events: Iterable[Event]) -> list[Waiting]:
        """Take out all pending of these events, the earliest of each first, after the one that was handled last."""
        taken: list[Waiting] = []
        emptied: set[int] = set()
        for event in events:
            tags = self._tags.pop(event, [])
            if event.trigger.min_spacing is not None:
                handled = [tag for tag in tags if tag <= (self.time, self.microstep)]
                taken += [(self._resume_spacing, time - self.time, event, None) for time, _ in handled[-1:]]
            times = sorted({time for time, _ in tags if time > self.time})
            steps = [(0, step) for step in (self.soon, *self.ahead)]
            for time in times:
                steps += [(time - self.time, step) for step in (self._steps[time], *self._more.get(time, ()))]
            taken += [(self.at, delay, event, step.pop(event)) for delay, step in steps if event in step]
            emptied.update(times)
        self._forget_empty(emptied)
        return taken

    def _resume_spacing(self, event: Event, time: int, _value: None) -> None:
        """Count minimum spacing from `time`, when the event was handled in the local time of its mode."""
        self._tags[event] = [(time, 0)]
