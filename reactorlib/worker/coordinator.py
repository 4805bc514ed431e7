"""The driver of a run: the event queue, the modes, calls of other threads, and the loop over tags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from itertools import repeat
from math import inf
from typing import Any, Protocol

from reactorlib.elaboration.records import Elaborated
from reactorlib.tag import LONGEST, Tag
from reactorlib.worker.cells import Event, events_of
from reactorlib.worker.clock import PhysicalClock
from reactorlib.worker.event_queue import Events, ModalQueue, Queue
from reactorlib.worker.inbox import LAST, Inbox
from reactorlib.worker.modes import Modes
from reactorlib.worker.notice import notice
from reactorlib.worker.options import Options
from reactorlib.worker.worker import Call

# Runs a tag at a time in ns and puts events of the next microstep into the second argument. True: the run ends.
Schedule = Callable[[int, Events], bool]
# The same in pieces: the first ends once the other workers have begun, each of the others with a wait to call.
Pieces = Generator[Callable[[], None] | None, None, bool]
PausingSchedule = Callable[[int, Events], Pieces]


LOOK_TAGS = 128  # tags between two looks at whether time passes: the look then costs 2 ns a tag
STILL_NS = 1_000_000_000


class ScheduleSource(Protocol):
    """An executor, as the loop asks it for schedules. `check` raises WorkerError if a worker is gone."""

    def alone(self, event: Event) -> Schedule: ...
    def together(self, events: Iterable[Event]) -> Schedule: ...
    def check(self) -> None: ...


def schedule_of(schedules: ScheduleSource, events: Collection[Event]) -> Schedule:
    """The schedule of a tag at which exactly these events are present."""
    if len(events) == 1:
        (event,) = events
        return event.schedule_alone or schedules.alone(event)
    return schedules.together(events)


class Coordinator:
    """The tag loop, in the process of worker 0. It is also the Scheduler, to which calls of reactions go."""

    def __init__(self, program: Elaborated, options: Options) -> None:
        self.program = program
        self.options = options
        self.events = events_of(program)
        self.shutdown = self.events[program.graph.shutdown]
        self.queue = ModalQueue() if program.modes else Queue()
        self.modes = Modes(program, self.queue, self.events)
        self.clock = PhysicalClock()
        self.inbox = Inbox(self.clock)
        self.listen: Callable[[], None] = lambda: None  # to threads that reactions of other processes started
        self.at = self.queue.at
        self.schedule = self._schedule_in_mode if program.modes else self.queue.schedule
        self.begin, self.switch, self.end_tag = self.modes.start, self.modes.request, self.modes.apply
        self._physical = {event for event in self.events if event.trigger.kind == "physical"}
        self._keepalive = bool(self._physical) if options.keepalive is None else options.keepalive
        self._stop_time = inf if options.timeout is None else int(options.timeout)
        self._still: tuple[int, float] = -1, 0  # the time at the last look, and since when in ns
        # Before this time the run neither waits nor ends.
        self._horizon = -1 if not options.fast or self._physical else min(self._stop_time, LONGEST)

    # Calls of reactions

    def stop(self) -> None:
        if self.shutdown not in self.queue.soon:
            self._end_at(self.queue.time)  # before the first tag: at that one

    def _end_at(self, time: int) -> None:
        """Let shutdown join the events of the next tag, which is at this time. Its reactions may join threads."""
        self.inbox.ending = True
        self.queue.at(self.shutdown, time, None)

    def _schedule_in_mode(self, event: Event, extra_delay: int, value: Any) -> None:
        if not self.modes.hold(event, event.trigger.delay + extra_delay, value):
            self.queue.schedule(event, extra_delay, value)

    def replay(self, calls: Iterable[Call]) -> None:
        """Make the calls that the outbox of another worker recorded."""
        for name, index, *arguments in calls:
            event = () if index is None else (self.events[index],)
            getattr(self, name)(*event, *arguments)

    # Tags

    def run(self, schedules: ScheduleSource, until: float | None = None) -> bool:
        """Run tag after tag: the next events, their time, their schedule. True once the run has ended.

        With `until`, run the tags before that time, whatever physical time it is.
        """
        queue, arrivals = self.queue, self.inbox.arrivals
        horizon = self._horizon if until is None else until
        while True:
            for _ in repeat(None, LOOK_TAGS):
                if arrivals:
                    self._receive()
                events = queue.soon
                if events and not queue.ahead:  # the next microstep: Queue.pop without the call
                    queue.microstep += 1
                    soon = queue.soon = {}
                else:
                    events = queue.pop(horizon)
                    if not events:
                        if until is not None:
                            return False
                        self._wait(schedules)
                        events = queue.pop()
                    soon = queue.soon
                if len(events) == 1:
                    event, value = events.popitem()
                    event.value = value
                    schedule = event.schedule_alone or schedules.alone(event)
                else:
                    for event, value in events.items():
                        event.value = value
                    schedule = schedules.together(events)
                if schedule(queue.time, soon):
                    return True
            self._look(until)

    def reach(self, schedules: ScheduleSource, time: int) -> bool:
        """Run all tags before `time`, which is not before the current tag. True if the run has ended with one."""
        if time > self.queue.time:
            return self.run(schedules, time)
        if self.inbox.arrivals:
            self._receive()
        return False

    def step(self, schedules: ScheduleSource, inputs: Events, time: int | None) -> bool:
        """Run one tag, see `join`. True if the run ends with it."""
        events = self.join(inputs, time)
        return schedule_of(schedules, events)(self.queue.time, self.queue.soon)

    def join(self, inputs: Events, time: int | None) -> Events:
        """Advance to `time`, or else to the next microstep, and return these inputs with the events due there.

        With `time`, call `reach(time)` first. Calls of threads since then wait for the next step.
        """
        queue, events = self.queue, inputs
        if time is None and self.inbox.arrivals:
            self._receive()
        if time is None or (time == queue.time and queue.microstep >= 0):
            if queue.soon or queue.ahead:
                events = queue.soon | inputs
                queue.soon = queue.ahead.pop(0) if queue.ahead else {}
            queue.microstep += 1
        elif inputs or queue.next_time() == time:
            for event, value in inputs.items():
                queue.at(event, time, value)
            events = queue.pop()
        else:  # nothing is due
            queue.time, queue.microstep = time, 0
        for event, value in events.items():
            event.value = value
        return events

    def _look(self, until: float | None) -> None:
        """Report, once, that logical time stands still while something is due later: a loop without a delay.

        A program may well run at one time to its end, so what waits must be a second late, or time runs fast.
        """
        queue, now = self.queue, self.clock.now()
        if queue.time != self._still[0]:
            self._still = queue.time, now
        elif now > self._still[1] + STILL_NS:
            called = self.inbox.arrivals[0][1] if self.inbox.arrivals else None
            due = min(time for time in (self._stop_time, until, queue.later(), called) if time is not None)
            if due < inf and (self.options.fast or now > self.inbox.started + due + STILL_NS):
                self._still = queue.time, inf
                paths = ", ".join(sorted(event.path for event in queue.soon)[:3])
                notice(
                    f"logical time has stood still at tag {Tag(queue.time, queue.microstep)} for a second. Each "
                    f"microstep makes an event for the next one ({paths}). Later events and timeouts wait for its end"
                )

    # Physical time, and other threads

    def _receive(self) -> None:
        """Take calls of other threads. Physical actions that were scheduled after the time of the next tag wait."""
        queue, inbox = self.queue, self.inbox
        if inbox.failure is not None:
            raise inbox.failure
        if inbox.stopping:
            inbox.stopping = False
            self.stop()
        for _ in range(len(inbox.arrivals)):  # more may come meanwhile, without end
            if inbox.arrivals[0] is LAST:
                if queue.holds(self._physical):
                    return
                self.stop()
            event, called, time, value = inbox.arrivals[0]
            due = queue.next_time()
            if event in queue.soon or (due is not None and due < called):
                return
            inbox.arrivals.popleft()
            if event is None or time > self._stop_time:
                continue
            if not self.modes.hold(event, time - called, value):
                queue.schedule_at(event, time, value)

    def _wait(self, schedules: ScheduleSource) -> None:
        """Wait until the next time with events may come. At the timeout, or without events, shutdown joins them."""
        queue, stop_time, started = self.queue, self._stop_time, self.inbox.started
        while True:
            if self.inbox.arrivals:
                self._receive()
            if queue.soon:
                return
            due = queue.next_time()
            if due is not None and due >= LONGEST:
                due = None  # never
            if due is None and not self._keepalive:
                self._end_at(queue.time)
                return
            next_time = stop_time if due is None else min(due, stop_time)
            wants_wait = not self.options.fast or (self._keepalive and next_time == stop_time)
            if not wants_wait or self.clock.now() >= started + next_time:
                if next_time == stop_time:
                    self._end_at(int(stop_time))
                return
            self.clock.wait(started + next_time)
            schedules.check()
