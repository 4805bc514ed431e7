"""A worker with cells of its own, over any transport: what it takes from messages and puts into them."""

from __future__ import annotations

import sys
from collections.abc import Callable

from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure, Poisoned
from reactorlib.executors.follower import Follower
from reactorlib.executors.post import Post
from reactorlib.executors.protocol import (
    CARRYING,
    DONE,
    GO,
    GO_FIELDS,
    GO_TAIL,
    SCHEDULED,
    SCHEDULED_TAIL,
    SYNC,
    Bye,
    Control,
    End,
    Forget,
    Learn,
    Ready,
    Rows,
    Switched,
    control_of,
)
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.graph import Node, ReactionGraph
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, plan_of
from reactorlib.schedule.split import Splitter
from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import Events
from reactorlib.worker.inbox import Outside
from reactorlib.worker.modes import ModeState, reset_states
from reactorlib.worker.requests import Request, carried
from reactorlib.worker.trace import Row
from reactorlib.worker.worker import Worker

ROWS_AT_ONCE = 256
NO_CELLS = bytes([DONE])


def worker_of(program: Elaborated, number: int, outside: Outside, traced: bool) -> Worker:
    """A worker that has cells and modes of its own."""
    return Worker(program, ReactionGraph(program), number, outside, [ModeState() for _ in program.modes], traced)


class DistributedFollower(Follower):
    """One worker of a run whose workers share no cells. `leave`: only shutdown reactions are left."""

    def __init__(self, worker: Worker, partition: Partition, post: Post, leave: Callable[[], None]) -> None:
        super().__init__(worker, partition)
        self.post = post
        self.leave = leave
        self.splitter = Splitter(worker.graph, partition, copies=True)
        worker.crossing_cells = self.splitter.crossing_cells()
        worker.allocate, worker.allocate_shared = post.allocate, post.allocate_shared
        self._receive, self._send = post.receiver_from(0), post.sender_to(0)
        self._message = b""  # that came last
        self._done = NO_CELLS  # made by the schedule that runs: its last message

    def receive(self) -> Control:
        receive = self._receive
        while (message := receive())[-1] == GO:  # nearly always, and at every tag
            self._message = message
            self.go(*GO_FIELDS.unpack_from(message, -GO_TAIL.size))
        return control_of(message)

    def obey(self, message: Control) -> None:
        if isinstance(message, Learn):
            self._learn(message)
        elif isinstance(message, Switched):
            for state, (active, entered) in zip(self.worker.mode_states, message.flags, strict=True):
                state.active, state.entered = active, entered
            for mode in message.restarted:
                reset_states(self.worker.program, mode)
        elif isinstance(message, Forget):
            self.forget()
        # else of a tag that was broken off: this worker had ended its part already

    def _learn(self, lesson: Learn) -> None:
        split = self.splitter.split(plan_of(self.worker.graph, lesson.events))
        part = split.parts[self.worker.number]
        pack = self.post.packer([self.worker.cell(cell) for cell in part.last], 0, DONE)

        def finish() -> None:
            self._done = pack()

        events = [self.worker.events[i] for i in part.events]
        carrying = [event for event in events if event.trigger.kind in CARRYING]
        self.load(lesson.number, split, finish, self._taker(carrying) if carrying else None)

    def _taker(self, events: list[Event]) -> Callable[[], None]:
        fill = self.post.filler(events)
        return lambda: fill(self._message)

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item, post = ref.index, self.post
        readers = [self.worker.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return post.sender(readers, item.to)
        receive, unpack = post.receiver_from(item.of), post.unpacker(readers)

        def wait() -> None:
            message = receive()
            if message[-1] != SYNC:
                raise Poisoned
            unpack(message)

        return wait

    def say_done(self, soon: Events) -> None:
        done, self._done = self._done, NO_CELLS
        if soon or self.worker.outbox:
            requests = self._pack_requests(self.worker.take_requests(soon))
            done += requests + SCHEDULED_TAIL.pack(len(done), SCHEDULED)
        self._send(done)

    def _pack_requests(self, requests: list[Request]) -> bytes:
        try:
            return self.post.codec.encode(requests, (0,))
        except WorkerError as error:
            triggers = self.worker.program.triggers
            found = [carrying for request in requests if (carrying := carried(request)) is not None]
            named = [(triggers[trigger].path, value) for trigger, value in found]
            raise self.post.blame_values(named, error) from error.__cause__

    def say_failed(self, failure: Failure | None) -> None:
        if failure is None:
            self.post.poison(0)
        else:
            self.post.fail(failure)

    def poison(self, heir: int) -> None:
        self.post.poison(heir)

    def say_ready(self) -> None:
        """This worker could be started."""
        self.post.tell(0, Ready())

    # The end

    def shut_down(self, failed: Node | None) -> list[str]:
        self.leave()
        return super().shut_down(failed)

    def leave_early(self) -> None:
        """Stopped in the middle of a tag: shutdown reactions run also then; what they raise is printed."""
        self.worker.break_off_tag()
        for note in self.shut_down(None):
            print(note, file=sys.stderr)

    def end(self, message: End) -> None:
        notes: list[str] = []
        if message.early:
            self.worker.now.time, self.worker.now.microstep = message.time, message.microstep
            self.worker.break_off_tag()
            notes = self.shut_down(message.failed)
        elif self.worker.recorder is not None:
            self.hand_in(self.worker.recorder.take())
        self.post.tell(0, Bye(notes))

    def hand_in(self, rows: list[Row]) -> None:
        """What was recorded goes to worker 0, in messages of moderate size."""
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            try:
                self.post.tell(0, Rows(some))
            except Exception as error:  # noqa: BLE001  # pickling runs the user's code
                why = WorkerError(f"the trace cannot travel to worker 0: {type(error).__name__}: {error}")
                self.post.fail(Failure(self.post.blame_values([pair for row in some for pair in row[3]], why), None))
                return
