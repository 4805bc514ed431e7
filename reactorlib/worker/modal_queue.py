"""The event queue of a program with modes, which finds the pending events of a mode without a search."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop
from math import inf
from typing import Any

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Events, Queue

FEW_TIMES = 16  # of an event: then times that have passed are dropped


class ModalQueue(Queue):
    """Events whose trigger lies in a mode can be taken out. Times may be left in the heap without events."""

    __slots__ = ("_noted",)

    def __init__(self) -> None:
        super().__init__()
        self._noted: dict[Event, list[int]] = {}  # the times ahead at which an event of a mode may be pending

    def next_time(self) -> int | None:
        self._drop_stale()
        return super().next_time()

    def pop(self, horizon: float = inf) -> Events | None:
        self._drop_stale()
        return super().pop(horizon)

    def _drop_stale(self) -> None:
        if self._first is not None and self._first not in self._steps:
            self._first = None
        times = self._times
        while self._first is None and times and times[0] not in self._steps:
            heappop(times)

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
        if len(times) >= FEW_TIMES and not len(times) & (
            len(times) - 1
        ):  # at powers of two: a constant share of the cost
            times[:] = [ahead for ahead in times if ahead > self.time]
        times.append(time)

    def extract(self, events: Iterable[Event]) -> list[tuple[int, Event, Any]]:
        """Take out all pending of these events: (ns from now, event, value), the earliest of each first."""
        taken: list[tuple[int, Event, Any]] = []
        for event in events:
            times = sorted({time for time in self._noted.pop(event, ()) if time > self.time})
            steps = [(0, step) for step in (self.soon, *self.ahead)]
            for time in times:
                steps += [(time - self.time, s) for s in (self._steps.get(time, {}), *self._more.get(time, ()))]
            taken += [(delay, event, step.pop(event)) for delay, step in steps if event in step]
            for time in times:
                self._tidy(time)
        self._tidy(self.time)
        return taken

    def _forget_time(self, time: int) -> None:
        """It stays in the heap until it comes first."""

    def pause_spacing(self, event: Event) -> int | None:
        """Forget the tags of an event whose local time stands still. Returns how long ago the last one was handled."""
        now = self.time, self.microstep
        handled = [tag for tag in self._tags.pop(event, ()) if tag <= now]
        return self.time - handled[-1][0] if handled else None

    def resume_spacing(self, event: Event, ago: int | None) -> None:
        """Its local time goes on: `ago` ns of it have passed since the last event was handled."""
        self._tags[event] = [] if ago is None else [(self.time - ago, 0)]

    def resume(self, event: Event, delay: int, value: Any) -> None:
        """Put back an event that was extracted, `delay` ns from now."""
        tag = self._place(self.time + delay, event, value)
        if event in self._tags:
            self._tags[event].append(tag)
