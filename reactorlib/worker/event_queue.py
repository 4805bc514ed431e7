"""The event queue: pending events by tag. At one tag a trigger has at most one event.

Times wait in a heap of integers, the earliest beside it. The events of a time are a dictionary {event: value} for its
first microstep, and a list of more where a trigger has several. `soon` is the next microstep of the current time.
Schedules write into it directly: nearly all events of an `after=0` loop go there.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable
from heapq import heapify, heappop, heappush
from itertools import chain
from math import inf
from typing import Any

from reactorlib.transport.debug import after
from reactorlib.worker.cells import Event

Events = dict[Event, Any]  # of one tag, with their values

FEW_TAGS = 16  # of an event in a mode: then tags that have passed are dropped
# An event that waits outside the queue: the call that puts it there, ns from now to its time, the event, its value.
Waiting = tuple[Callable[[Event, int, Any], None], int, Event, Any]


class CurrentTag:
    """The tag that a worker has reached: ns since the start of the run, and microstep."""

    __slots__ = ("microstep", "time")

    def __init__(self) -> None:
        self.time = 0
        self.microstep = 0


def _is_in_order(queue: Queue, _result: object) -> None:
    """The first time is before those of the heap, and all are ahead. The times are those that have events."""
    times = queue._times if queue._first is None else [queue._first, *queue._times]
    assert queue._first is None or queue._first < min(queue._times, default=inf), "an earlier time is in the heap"
    assert min(times, default=inf) > (queue.time if queue.microstep >= 0 else -1), "an event is in the past"
    assert sorted(times) == sorted(queue._microsteps), "a time has no events, or its events no time"


class Queue(CurrentTag):
    """Pending events. `time` (ns since the start of the run) and `microstep` are the current tag."""

    __slots__ = ("_first", "_microsteps", "_more", "_tags", "_times", "ahead", "soon")

    def __init__(self) -> None:
        super().__init__()
        self.microstep = -1
        self.soon: Events = {}  # due at (time, microstep + 1)
        self.ahead: list[Events] = []  # due at (time, microstep + 2) and after
        self._first: int | None = None  # the earliest time, while it is known to come before all in _times
        self._times: list[int] = []  # a heap of the other times
        self._microsteps: dict[int, Events] = {}  # by time: the events of its first microstep
        self._more: dict[int, list[Events]] = {}  # by time, for few: the events of the further microsteps
        # For actions with min_spacing: tags of the pending events, and of the last one handled. See also ModalQueue.
        self._tags: dict[Event, list[tuple[int, int]]] = {}

    def next_time(self) -> int | None:
        """The time of the next event, the current one while microsteps are pending. None: there is none."""
        return self.time if self.soon or self.ahead else self.later()

    def later(self) -> int | None:
        """The earliest time after the current one with events. None: there is none."""
        if self._first is not None:
            return self._first
        return self._times[0] if self._times else None

    def holds(self, events: set[Event]) -> bool:
        """Whether one of these events is pending. Looks at every pending tag."""
        microsteps = chain((self.soon,), self.ahead, self._microsteps.values(), *self._more.values())
        return any(not due.keys().isdisjoint(events) for due in microsteps)

    @after(_is_in_order)
    def pop(self, horizon: float = inf) -> Events:
        """Advance to the next tag and return its events. Empty if there is none, or at a new time from `horizon` on."""
        due, ahead = self.soon, self.ahead
        if due or ahead:
            self.microstep += 1
        else:
            time = self._first
            if time is None:
                times = self._times
                if not times or times[0] >= horizon:
                    return {}
                time = heappop(times)
            elif time >= horizon:
                return {}
            else:
                self._first = None
            self.time = time
            self.microstep = 0
            due = self._microsteps.pop(time)
            if not self._more:
                return due  # nothing is due soon
            ahead = self.ahead = self._more.pop(time, ahead)
        while not due:  # microsteps from which every event was taken back
            due = ahead.pop(0)
            self.microstep += 1
        self.soon = ahead.pop(0) if ahead else {}
        return due

    def at(self, event: Event, time: int, value: Any) -> None:
        """Put an event at `time`, microstep 0, or at its next free microstep; at the current time after now."""
        if time > self.time:
            due = self._microsteps.get(time)
            if due is None:
                self._microsteps[time] = {event: value}
                times = self._times  # from here on `_add`, without its call
                if self._first is not None:
                    self._add(time)
                elif times and times[0] < time:
                    heappush(times, time)
                else:
                    self._first = time
                return
            if event not in due:
                due[event] = value
                return
        self._place(time, event, value)

    def _add(self, time: int) -> None:
        """Note a new time. The earliest stays out of the heap, so a fast timer costs the same among very many."""
        first, times = self._first, self._times
        if first is None:
            if not times or time < times[0]:
                self._first = time
                return
        elif time < first:
            self._first, time = time, first
        heappush(times, time)

    def _place(self, time: int, event: Event, value: Any) -> tuple[int, int]:
        """Put an event at the first microstep at which it has none yet."""
        if time <= self.time and self.microstep >= 0:
            time, first, due = self.time, self.microstep + 1, self.soon
        else:
            first = 0
            found = self._microsteps.get(time)
            if found is None:
                self._add(time)
                found = self._microsteps[time] = {}
            due = found
        if event not in due:
            due[event] = value
            return time, first
        more = self.ahead if first else self._more.setdefault(time, [])
        at = 0
        if event.trigger.min_spacing is None:  # such an event has the first of these
            at = bisect_left(more, True, key=lambda due: event not in due)
        while at < len(more) and event in more[at]:
            at += 1
        if at == len(more):
            more.append({})
        more[at][event] = value
        return time, first + 1 + at

    def schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        """A logical action: now + minimum delay + extra delay, the next microstep when that is now."""
        trigger = event.trigger
        delay = trigger.delay + extra_delay
        if trigger.min_spacing is not None:
            self._schedule_spaced(event, self.time + delay, value)
        elif delay or event in self.soon:
            self.at(event, self.time + delay, value)
        else:
            self.soon[event] = value

    def schedule_at(self, event: Event, time: int, value: Any) -> None:
        """An action at `time`, or just after now when that is past, as its minimum spacing allows."""
        if event.trigger.min_spacing is not None:
            self._schedule_spaced(event, time, value)
        else:
            self.at(event, time, value)

    def _schedule_spaced(self, event: Event, time: int, value: Any) -> None:
        """Minimum spacing counts from the event scheduled last. The policy settles an event that comes too early.

        `update` takes the pending event back, so that its spacing counts from the one before.
        """
        policy, spacing = event.trigger.policy, event.trigger.min_spacing
        now = self.time, self.microstep
        tag = (time, 0) if time > self.time else (self.time, self.microstep + 1)
        tags = self._tags.setdefault(event, [])
        while len(tags) > 1 and tags[1] <= now:
            del tags[0]  # only the last one handled still matters
        if tags and tag < _spaced(tags[-1], spacing):
            pending = tags[-1] > now
            if policy == "drop":
                return
            if pending and policy == "replace":
                self._step_at(*tags[-1])[event] = value
                return
            if pending and policy == "update":
                time, microstep = tags.pop()
                del self._step_at(time, microstep)[event]
                self._forget_empty([time])
            if tags:
                tag = max(tag, _spaced(tags[-1], spacing))
        tags.append(self._place(tag[0], event, value))

    def _step_at(self, time: int, microstep: int) -> Events:
        if time == self.time:
            ahead = microstep - self.microstep - 1
            return self.soon if ahead == 0 else self.ahead[ahead - 1]
        return self._microsteps[time] if microstep == 0 else self._more[time][microstep - 1]

    def _forget_empty(self, times: Collection[int]) -> None:
        """Drop empty microsteps that stand last: a time without events must not be visited."""
        for more in (self.ahead, *filter(None, map(self._more.get, times))):
            while more and not more[-1]:
                more.pop()
        empty = {time for time in times if not self._microsteps.get(time, True) and not self._more.get(time)}
        for time in empty:
            del self._microsteps[time]
            self._more.pop(time, None)
        if self._first in empty:
            empty.remove(self._first)
            self._first = None
        if empty:
            self._times = [time for time in self._times if time not in empty]
            heapify(self._times)


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
            microsteps = [(0, due) for due in (self.soon, *self.ahead)]
            for time in times:
                microsteps += [(time - self.time, due) for due in (self._microsteps[time], *self._more.get(time, ()))]
            taken += [(self.at, delay, event, due.pop(event)) for delay, due in microsteps if event in due]
            emptied.update(times)
        self._forget_empty(emptied)
        return taken

    def _resume_spacing(self, event: Event, time: int, _value: None) -> None:
        """Count minimum spacing from `time`, when the event was handled in the local time of its mode."""
        self._tags[event] = [(time, 0)]


def _spaced(tag: tuple[int, int], spacing: int) -> tuple[int, int]:
    """The earliest tag at which the event after one may be: a spacing of 0 is one microstep."""
    return (tag[0] + spacing, 0) if spacing else (tag[0], tag[1] + 1)
