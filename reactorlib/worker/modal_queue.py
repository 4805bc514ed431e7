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

    def pop(self, horizon: float = inf) -> Events:
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
        count = len(times)
        if count >= FEW_TIMES and not count & (count - 1):  # at powers of two: a constant share of the cost
            times[:] = [ahead for ahead in times if ahead > self.time]
        times.append(time)

    def extract(self, events: Iterable[Event]) -> list[tuple[int, Event, Any]]:
        """Take out all pending of these events: (ns from now, event, value), the earliest of each first."""
        taken: list[tuple[int, Event, Any]] = []
        emptied: set[int] = set()
        for event in events:
            times = sorted({time for time in self._noted.pop(event, ()) if time > self.time})
            steps = [(0, step) for step in (self.soon, *self.ahead)]
            for time in times:
                steps += [(time - self.time, step) for step in self._steps_of(time)]
            taken += [(delay, event, step.pop(event)) for delay, step in steps if event in step]
            emptied.update(times)
        self._forget_empty(emptied)
        return taken

    def _drop(self, times: set[int]) -> None:
        """Times without events stay in the heap until they come first."""
