"""Worker 0: a worker that also owns the event queue, the modes, and the loop over tags."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable
from math import inf
from typing import Any, Protocol

from reactorlib.clock import LONGEST_WAIT_NS, Clock, PhysicalClock
from reactorlib.elaboration.program import Elaborated, Trigger
from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Events, Queue
from reactorlib.worker.inbox import Inbox
from reactorlib.worker.modal_queue import ModalQueue
from reactorlib.worker.modes import Modes
from reactorlib.worker.requests import Request
from reactorlib.worker.worker import Queueing, Scheduling, Worker

STEP = Event("step", -1, Trigger("input", -1, "step"))  # brings about a tag, whether it has other events or not
NOTHING: Events = {STEP: None}
LONGEST_CATCH_UP_NS = 50_000_000  # after the timeout, for physical actions that came before it

# Runs a tag at a time in ns, puts what is due at the next microstep into the second argument; True: the run ends.
Schedule = Callable[[int, Events], bool]
# The same in pieces: the first ends once the other workers have begun their parts, each of the others before a wait,
# which it hands over; whoever resumes it has waited.
Pieces = Generator[Callable[[], None] | None, None, bool]
PausingSchedule = Callable[[int, Events], Pieces]


class Schedules(Protocol):
    """What the loop asks of an executor."""

    def alone(self, event: Event) -> Schedule:
        """The schedule of a tag at which only `event` is present."""

    def together(self, events: Iterable[Event]) -> Schedule:
        """The schedule of a tag at which these events are present."""

    def pausing(self, events: Collection[Event]) -> PausingSchedule:
        """The same in pieces."""

    def check(self) -> None:
        """Raise WorkerError if a worker is gone. Called at least twice a second while the loop waits."""


def schedule_of(schedules: Schedules, events: Collection[Event]) -> Schedule:
    """The schedule of a tag at which these events are present, however many."""
    if len(events) == 1:
        (event,) = events
        return event.schedule_alone or schedules.alone(event)
    return schedules.together(events)


class MainWorker(Worker):
    """Worker 0 of a run: what all reactions schedule comes here. Times in ns since the start, options as of `run`."""

    def __init__(
        self,
        program: Elaborated,
        *,
        timeout: int | None = None,
        fast: bool = False,
        keepalive: bool | None = None,
        traced: bool = False,
        clock: Clock | None = None,
    ) -> None:
        modal = ModalQueue()
        self.queue = modal if program.modes else Queue()
        self.modes = Modes(program, modal)
        self.inbox = Inbox(clock or PhysicalClock())
        super().__init__(
            program,
            0,
            self.inbox,
            self.modes.states,
            traced,
            now=self.queue,
        )
        self.fast = fast
        self.has_physical = any(trigger.kind == "physical" for trigger in program.triggers)
        self.keepalive = self.has_physical if keepalive is None else keepalive
        self.stop_time = None if timeout is None else int(timeout)
        self.late = False  # too late for physical actions
        self.listen: Callable[[], None] = lambda: None  # to threads that reactions of other processes started
        self.modes.bind(self.events)

    # What reactions ask for

    def request_stop(self) -> None:
        self.queue.soon[self.shutdown] = None

    @property
    def schedule_logical(self) -> Scheduling:
        return self._schedule_in_mode if self.program.modes else self.queue.schedule

    def _schedule_in_mode(self, event: Event, extra_delay: int, value: Any) -> None:
        if self.modes.is_active(event.mode):
            self.queue.schedule(event, extra_delay, value)
        else:
            self.modes.hold(event, event.trigger.delay + extra_delay, value)

    @property
    def schedule_physical(self) -> Scheduling:
        return self.inbox.schedule

    @property
    def later(self) -> Queueing:
        return self.queue.at

    def physical_connection(self, event: Event, value: Any) -> None:
        self.queue.schedule_at(event, self.clock.now() - self.started + event.trigger.delay, value)

    def switch_to(self, mode: int, history: bool) -> None:
        self.modes.request(mode, history)

    def switch_modes(self) -> None:
        self.modes.apply()

    def grant(self, requests: Iterable[Request], soon: Events) -> None:
        """Do what the reactions of another worker asked for; `soon` takes what is due at the next microstep."""
        events = self.events
        for request in requests:
            if request[0] == "soon":
                soon[events[request[1]]] = request[2]
            elif request[0] == "at":
                self.queue.at(request[2], events[request[1]], request[3])
            elif request[0] == "schedule":
                self.schedule_logical(events[request[1]], request[2], request[3])
            elif request[0] == "action":
                self.queue.schedule_at(events[request[1]], request[2], request[3])
            elif request[0] == "switch":
                self.switch_to(request[1], request[2])
            elif request[0] == "listen":
                self.listen()
            else:
                self.request_stop()

    # The loop over tags

    def begin(self) -> None:
        """Queue what the run starts with."""
        for event in self.events:
            if event.mode is None and event.trigger.kind in ("startup", "timer"):
                self.queue.at(event.trigger.delay, event, None)
        self.modes.start()

    def loop(self, schedules: Schedules) -> None:
        """Next tag, wait for it, run its schedule; to the end."""
        queue, arrivals = self.queue, self.inbox.arrivals
        # Before this time nothing is waited for, and the run does not end.
        horizon = -1 if not self.fast or self.has_physical else inf if self.stop_time is None else self.stop_time
        while True:
            if arrivals:
                self._receive()
            events = queue.soon
            if events and not queue.ahead:  # the next microstep: Queue.pop without the call
                queue.microstep += 1
                soon = queue.soon = {}
            else:
                events = queue.pop(horizon) or self._advance(schedules)
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
                return

    # One tag at a time, for whoever drives the program from outside: logical time is what the caller says

    def reach(self, schedules: Schedules, time: int) -> bool:
        """Run all tags before `time`, physical time notwithstanding; True: the run has ended with one of them."""
        queue = self.queue
        while True:
            if self.inbox.arrivals:
                self._receive()
            due = queue.next_time()
            if due is None or due >= time:
                return False
            if schedule_of(schedules, self._take())(queue.time, queue.soon):
                return True

    def join(self, inputs: Events, time: int | None) -> Events:
        """Advance to `time`, or else to the next microstep: these inputs and what is due there; nothing is before.

        With a `time`, after `reach`: what threads say since then is for the next step, as it may come before this one.
        """
        queue = self.queue
        if time is None and self.inbox.arrivals:
            self._receive()
        if time is not None:
            for event, value in (inputs or NOTHING).items():
                queue.at(time, event, value)
        elif inputs and not queue.soon and not queue.ahead:  # as always: Queue.pop without the call
            queue.microstep += 1
            for event, value in inputs.items():
                event.value = value
            return inputs
        else:
            queue.soon.update(inputs or NOTHING)
        events = self._take()
        if not inputs:
            del events[STEP]
        return events

    def _take(self) -> Events:
        """Advance to the next tag. Its events, which have their values."""
        events = self.queue.pop()
        assert events is not None
        for event, value in events.items():
            event.value = value
        return events

    def _receive(self) -> None:
        """Take notice of what other threads say; queue physical actions as far as the next tag is still open.

        What was scheduled after its time cannot come before it. So a flood waits outside, and meets the end there.
        """
        queue, inbox = self.queue, self.inbox
        if inbox.failure is not None:
            raise inbox.failure
        if inbox.stopping:
            inbox.stopping = False
            self.request_stop()
        if self._gives_up(self.clock.now()):
            inbox.arrivals.clear()
        for _ in range(len(inbox.arrivals)):  # what comes meanwhile waits: it may never end
            event, called, time, value = inbox.arrivals[0]
            due = queue.next_time()
            if event in queue.soon or (due is not None and due < called):
                return
            inbox.arrivals.popleft()
            if event is None or (self.stop_time is not None and time > self.stop_time):
                continue
            if self.modes.is_active(event.mode):
                queue.schedule_at(event, time, value)
            else:
                self.modes.hold(event, max(0, time - queue.time), value)

    def _gives_up(self, now: int) -> bool:
        """Whether it is so late that physical actions are given up: the timeout holds, however many came before it."""
        if not self.late and self.stop_time is not None:
            self.late = now > self.started + self.stop_time + LONGEST_CATCH_UP_NS
            if self.late:
                self.queue.discard(lambda event: event.trigger.kind == "physical")
        return self.late

    def _advance(self, schedules: Schedules) -> Events:
        """The events of the next tag, once its time may come."""
        self._wait(schedules)
        events = self.queue.pop()
        assert events is not None
        return events

    def _wait(self, schedules: Schedules) -> None:
        """Wait until the next time with events may come; there, or at the timeout, shutdown joins them."""
        queue = self.queue
        while True:
            if self.inbox.arrivals:
                self._receive()
            now = self.clock.now()
            if self.has_physical:
                self._gives_up(now)
            due = queue.next_time()
            if due is not None and queue.soon:
                return
            if due is None and not self.keepalive:
                queue.at(queue.time, self.shutdown, None)
                return
            if self.stop_time is not None and (due is None or due >= self.stop_time):
                due = self.stop_time
            wants_wait = not self.fast or (self.keepalive and due == self.stop_time)
            if due is None:
                self.clock.wait(now + LONGEST_WAIT_NS)
            elif wants_wait and now < self.started + due:
                self.clock.wait(self.started + due)
            else:
                if due == self.stop_time:
                    queue.at(due, self.shutdown, None)
                return
            schedules.check()
