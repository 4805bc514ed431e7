"""The event queue of a program with modes, which finds the pending events of a mode without a search."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Queue

FEW_TIMES = 16  # of an event: then times that have passed are dropped

# An event that is not in the queue: the call that puts it there, with its time, and ns from now to that time.
Waiting = tuple[Callable[[Event, int, Any], None], int, Event, Any]


class ModalQueue(Queue):
    """Events whose trigger lies in a mode can be taken out, and return by a call."""

    __slots__ = ("_noted",)

    def __init__(self) -> None:
        super().__init__()
        self._noted: dict[Event, list[int]] = {}  # the times ahead at which an event of a mode may be pending

    def at(self, event: Event, time: int, value: Any) -> None:
        if event.mode is not None:
            self._note(event, time)
        super().at(event, time, value)

    def _place(self, time: int, event: Event, value: Any) -> tuple[int, int]:
        if event.mode is not None:
            self._note(event, time)
        return super()._place(time, event, value)

    def _note(self, event: Event, time: int) -> None:
        times = self._noted.setdefault(event, [])
        count = len(times)
        if count >= FEW_TIMES and not count & (count - 1):  # at powers of two: a constant share of the cost
            times[:] = [ahead for ahead in times if ahead > self.time]
        times.append(time)

    def extract(self, events: Iterable[Event]) -> list[Waiting]:
        """Take out all pending of these events, the earliest of each first, after the one that was handled last."""
        taken: list[Waiting] = []
        emptied: set[int] = set()
        for event in events:
            handled = [tag for tag in self._tags.pop(event, ()) if tag <= (self.time, self.microstep)]
            taken += [(self._resume_spacing, time - self.time, event, None) for time, _ in handled[-1:]]
            times = sorted({time for time in self._noted.pop(event, ()) if time > self.time})
            steps = [(0, step) for step in (self.soon, *self.ahead)]
            for time in times:
                steps += [(time - self.time, step) for step in (self._steps.get(time, {}), *self._more.get(time, ()))]
            taken += [(self._put_back, delay, event, step.pop(event)) for delay, step in steps if event in step]
            emptied.update(times)
        self._forget_empty(emptied)
        return taken

    def _resume_spacing(self, event: Event, time: int, _value: None) -> None:
        """Count minimum spacing from `time`, when the event was handled in the local time of its mode."""
        self._tags[event] = [(time, 0)]

    def _put_back(self, event: Event, time: int, value: Any) -> None:
        tag = self._place(time, event, value)
        if event.trigger.min_spacing is not None:
            self._tags.setdefault(event, []).append(tag)
