"""The schedules of sets of events: one for each of the first and of those that come often, one for all others."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Events

T = TypeVar("T")

# Beyond the first few, a set gets a schedule of its own when it comes for this time. To compile one takes as long as
# some hundred tags.
FEW_SETS, SEEN_OFTEN, MOST_SEEN = 64, 64, 4096

Run = Callable[[int, Events], T]


class SetSchedules(Generic[T]):
    """`make` compiles the schedule of a set of events, or with its second argument that of any set of them."""

    def __init__(self, make: Callable[[Iterable[Event], bool], Run[T]]) -> None:
        self.own: dict[frozenset[Event], Run[T]] = {}
        self._make = make
        self._few_sets = 0 if os.environ.get("REACTORLIB_SCHEDULES") == "walked" else FEW_SETS
        self._seen: Counter[frozenset[Event]] = Counter()  # sets that have no schedule of their own
        self._any_events: frozenset[Event] = frozenset()
        self._any_of: Run[T] | None = None  # of all sets of these

    def of(self, events: Iterable[Event]) -> Run[T]:
        """The schedule of a tag at which these events are present."""
        key = frozenset(events)
        return self.own.get(key) or self._rarely(key) or self.own.setdefault(key, self._make(key, False))

    def clear(self) -> None:
        """Forget all schedules."""
        self.own.clear()
        self._any_events = frozenset()

    def _rarely(self, key: frozenset[Event]) -> Run[T] | None:
        """The schedule of a set that may not come back, among many: that of any set of the events that have come."""
        if len(self.own) < self._few_sets or any(event.trigger.kind == "shutdown" for event in key):
            return None
        self._seen[key] += 1
        if self._seen[key] >= SEEN_OFTEN and self._few_sets:
            del self._seen[key]
            return None
        if not key <= self._any_events:
            every = self._any_events.union(key, *self.own, *self._seen)
            self._any_events = frozenset(event for event in every if event.trigger.kind != "shutdown")
            self._any_of = self._make(self._any_events, True)
        if len(self._seen) > MOST_SEEN:
            self._seen.clear()
        run = self._any_of
        assert run is not None

        def schedule(time: int, soon: Events) -> T:
            for event in key:
                event.is_present = True
            return run(time, soon)

        return schedule
