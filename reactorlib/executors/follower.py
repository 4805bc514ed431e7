"""The loop of a worker other than 0: take Go, run the part of the tag, report the outcome, until End."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from reactorlib.elaboration.records import Node
from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure, Poisoned, Stopped
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.protocol import CARRYING, DONE, GO, GO_FIELDS, GO_TAIL, NOTHING_CROSSES, SYNC
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Plan, Send
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Schedule
from reactorlib.worker.event_queue import Events
from reactorlib.worker.loader import Loader
from reactorlib.worker.notice import notice_late
from reactorlib.worker.recorder import Row
from reactorlib.worker.worker import Call, Worker

ROWS_AT_ONCE = 256  # a message of moderate size

# A worker's part of a split: its schedule, and the workers to which it sends. The function puts the values that came
# with Go into its events.
LoadedPart = tuple[Schedule, list[int], Callable[[bytes], None] | None]


class Outbox:
    """Records calls, for worker 0 to replay once all parts of the tag have ended, in the order of workers."""

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


class Follower:
    """Serves one worker. `leave` is called when only shutdown reactions are left, `fail` when a reaction failed."""

    def __init__(
        self,
        worker: Worker,
        partition: Partition,
        messenger: Messenger,
        leave: Callable[[], None],
        fail: Callable[[], None] = lambda: None,
    ) -> None:
        assert isinstance(worker.scheduler, Outbox)
        self.outbox = worker.scheduler
        self.worker = worker
        self.partition = partition
        self.messenger = messenger
        self.leave = leave
        self.fail = fail
        self._failed: Node | None = None  # the reaction that failed here
        self._cancel_notice: Callable[[], None] | None = None  # after a failure, until worker 0 has taken it
        self.loader = Loader(worker)
        self.parts: dict[int, LoadedPart] = {}  # by number of the split
        self._receive, self._send = messenger.receiver_from(0), messenger.sender_to(0)
        self._done = NOTHING_CROSSES  # made by the schedule that runs: its last message

    def live(self) -> None:
        """The whole life of a worker that is on its own. Stopped is raised again, after its last reactions."""
        self.messenger.tell(0, "ready")
        try:
            self.serve()
        except Stopped:
            for note in self.shut_down(self._failed):
                print(note, file=sys.stderr)
            raise
        finally:
            self.worker.interface.over = True
            self._forget()

    def serve(self) -> None:
        """Obey worker 0 until the end of the run. Raises Stopped if the worker has to leave at once."""
        current.worker = self.worker
        receive = self._receive
        while True:
            while (message := receive())[-1] == GO:  # nearly always, and at every tag
                self._go(message, *GO_FIELDS.unpack_from(message, -GO_TAIL.size))
            if self._cancel_notice is not None:
                self._cancel_notice()
            name, *arguments = self.messenger.control_of(message)
            if name == "end":
                self._end(*arguments)
                return
            self.obey(name, *arguments)

    def obey(self, name: str, *arguments: Any) -> None:
        """Obey a message that worker 0 sends between tags. Others belong to a tag that was broken off."""
        if name in ("learn", "begin", "switch", "forget"):
            getattr(self, f"_{name}")(*arguments)

    def _begin(self, started: int) -> None:
        self.worker.interface.started = started

    def _switch(self, flags: list[tuple[bool, bool]], restarted: list[int]) -> None:
        for state, (active, entered) in zip(self.worker.mode_states, flags, strict=True):
            state.active, state.entered = active, entered
        for mode in restarted:
            for restore in self.worker.program.reset_states.get(mode, ()):
                restore()

    def _forget(self) -> None:
        self.parts.clear()
        self.loader.forget()

    # One tag

    def _go(self, message: bytes, number: int, time: int, microstep: int) -> None:
        """Run the part of this split at this tag, and report the outcome."""
        schedule, receivers, fill = self.parts[number]
        now = self.worker.now
        now.time, now.microstep = time, microstep
        soon: Events = {}
        try:
            if fill is not None:
                fill(message)
            schedule(time, soon)
            self._say_done(soon)
        except Stopped:
            raise
        except BaseException as error:  # worker 0 raises it
            if os.getpid() != self.worker.process:
                raise  # a process that a reaction forked is at its end
            for receiver in receivers:
                self.messenger.poison(receiver)
            if isinstance(error, Poisoned):
                self.messenger.poison(0)
            else:
                self._report(Failure(error, self.loader.failed(error.__traceback__)))

    def _report(self, failure: Failure) -> None:
        """Tell worker 0, which may be busy: then somebody has to report it."""
        self._failed = failure.skipped
        self.fail()
        self.messenger.fail(failure)
        what = failure.described(self.worker.program, self.worker.now)
        self._cancel_notice = notice_late(
            lambda: f"{what}. The run ends with this error once the other reactions have ended"
        )

    def _say_done(self, soon: Events) -> None:
        """Report the end of the part, with the requests of its reactions."""
        done, self._done = self._done, NOTHING_CROSSES
        if soon or self.outbox.calls:
            calls, events = self.outbox.take(soon, self.worker.now.time), self.worker.events
            try:
                done = self.messenger.with_requests(done, calls)
            except WorkerError as error:
                named = [(events[event].path, values[-1]) for _, event, *values in calls if event is not None]
                raise self.messenger.blame(named, error) from error.__cause__
        self._send(done)

    # Its part of a split

    def _learn(self, number: int, part: Plan) -> None:
        pack = self.messenger.packer([self.worker.cell(cell) for cell in part.last], (0,), DONE)

        def finish() -> None:
            self._done = pack()

        schedule = self.loader.load(part, (self.messenger.action_of_send, self._waiter), finish=finish)
        receivers = [item.to for item in part.items if isinstance(item, Send) and item.to]
        events = [self.worker.events[i] for i in part.marked]
        carrying = [event for event in events if event.trigger.kind in CARRYING]
        fill = self.messenger.filler(carrying) if carrying else None
        if part.any_of:
            mark = self.messenger.unpacker(events)
            fill = mark and (lambda message: mark(message[: -GO_TAIL.size]))
        self.parts[number] = schedule, receivers, fill

    def _waiter(self, readers: list[Reader], other: int) -> Callable[[], None]:
        receive, unpack = self.messenger.receiver_from(other), self.messenger.unpacker(readers)

        def wait() -> None:
            message = receive()
            if message[-1] != SYNC:
                raise Poisoned
            if unpack is not None:
                unpack(message)

        return wait

    # The end

    def shut_down(self, failed: Node | None) -> list[str]:
        """Run the shutdown reactions of this worker; their errors in words."""
        self.leave()
        if not self.messenger.shares_cells:  # else worker 0 has done it
            self.worker.break_off_tag()
        return self.worker.run_last(self.partition.of_node, failed)

    def _end(self, early: bool, failed: Node | None, time: int, microstep: int) -> None:
        notes: list[str] = []
        if early:
            self.worker.now.time, self.worker.now.microstep = time, microstep
            notes = self.shut_down(failed)
        elif self.worker.recorder is not None:
            self.hand_in(self.worker.recorder.rows())
        self.messenger.tell(0, "bye", notes)

    def hand_in(self, rows: list[Row]) -> None:
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            try:
                self.messenger.tell(0, "rows", some)
            except Exception as error:  # noqa: BLE001  # pickling runs the user's code
                why = WorkerError(f"the trace cannot travel to worker 0: {type(error).__name__}: {error}")
                named = [pair for row in some for pair in row[3]]
                self.messenger.fail(Failure(self.messenger.blame(named, why), None))
                return
