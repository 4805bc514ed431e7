"""Workers that have cells of their own, over any transport: what worker 0 tells them and hears from them.

Owns no process: a subclass starts the workers, looks whether they live, and ends them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import count

from reactorlib.errors import WorkerError
from reactorlib.executors.failure import Failure, Poisoned
from reactorlib.executors.parallel import Parallel
from reactorlib.executors.portable_failure import failure_of
from reactorlib.executors.post import Post
from reactorlib.executors.protocol import (
    CARRYING,
    DONE,
    GO,
    GO_TAIL,
    SCHEDULED,
    SCHEDULED_TAIL,
    SYNC,
    Begin,
    Bye,
    End,
    Failed,
    Forget,
    Learn,
    Ready,
    Rows,
    Switched,
    control_of,
)
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, Split, Wait
from reactorlib.transport.transport import Transport
from reactorlib.worker.coordinator import Coordinator
from reactorlib.worker.trace import Row

LOOK_TAGS = 256  # between two looks at the workers while no wait is so long that it looks: a power of two


class Distributed(Parallel):
    """Worker 0 of a run whose workers share no cells."""

    def __init__(self, coordinator: Coordinator, partition: Partition, transport: Transport) -> None:
        super().__init__(coordinator, partition, True, transport.allocate, transport.allocate_shared)
        self.post = Post(transport)
        self.others = range(1, partition.workers)
        self.waiting: set[int] = set()  # workers that have yet to end their part of this tag
        self.ending = False  # workers were told to leave
        self.aborted = False  # they were told to leave at once, and take no more messages
        self.gone: set[int] = set()  # workers that have taken their leave
        self._modes_sent = dict.fromkeys(self.others, -1)  # versions of modes
        self._restarted: dict[int, set[int]] = {other: set() for other in self.others}  # modes, since they were sent
        coordinator.modes.watchers.extend(self._restarted.values())
        self._tags = count(1).__next__  # that other workers took part in

    def await_ready(self) -> None:
        """Wait until every worker could be started. Raises what kept one from it."""
        for other in self.others:
            message = control_of(self.post.receiver_from(other)())
            if not isinstance(message, Ready):
                self._failed(other, message)
                raise self.failures[other].error

    def begin(self) -> None:
        for other in self.others:
            self.post.tell(other, Begin(self.worker.started))

    # Messages of worker 0

    def go(self, number: int, split: Split) -> Callable[[int], None]:
        now, post, waiting = self.worker.now, self.post, self.waiting
        groups: dict[tuple[int, ...], list[int]] = {}
        for other, part in split.parts.items():
            if other:
                carrying = tuple(i for i in part.events if self.worker.program.triggers[i].kind in CARRYING)
                groups.setdefault(carrying, []).append(other)
        events = self.worker.events
        encoders, sends = [], []  # each send with the number of the encoder whose message it sends
        for number_of_message, (key, others) in enumerate(groups.items()):
            encoders.append(post.encoder([events[i] for i in key], others) if key else bytes)
            sends += [(number_of_message, post.sender_to(other)) for other in others]
        members = [other for others in groups.values() for other in others]
        has_modes, is_new = bool(self.worker.mode_states), True
        next_tag, pack = self._tags, GO_TAIL.pack

        def go(time: int) -> None:
            nonlocal is_new
            if not next_tag() % LOOK_TAGS:
                self.check()
            if is_new or has_modes:
                for other in members:
                    if is_new:
                        post.tell(other, Learn(number, split.plan.events))
                    self._tell_modes(other)
                is_new = False
            tail, messages = pack(number, time, now.microstep, GO), []
            for encode in encoders:  # all, before anybody begins: one may be impossible
                messages.append(encode() + tail)  # noqa: PERF401  a comprehension costs a call more
            waiting.update(members)
            try:
                for message, send in sends:
                    send(messages[message])
            except WorkerError:  # some have begun, and may wait for those that will not
                self.interrupt()
                raise

        return go

    def _tell_modes(self, other: int) -> None:
        modes = self.coordinator.modes
        if modes.states and modes.version != self._modes_sent[other]:
            self._modes_sent[other] = modes.version
            flags = [(state.active, state.entered) for state in modes.states]
            self.post.tell(other, Switched(flags, sorted(self._restarted[other])))
            self._restarted[other].clear()

    def crossing(self, ref: Ref) -> Callable[[], None]:
        item = ref.index
        readers = [self.worker.cell(cell) for cell in item.cells]
        if isinstance(item, Send):
            return self.post.sender(readers, item.to)
        assert isinstance(item, Wait)
        other, waiting = item.of, self.waiting
        receive, unpack = self.post.receiver_from(other), self.post.unpacker(readers)

        def wait() -> None:
            message = receive()
            kind = message[-1]
            if kind == DONE:
                waiting.discard(other)
                unpack(message)
            elif kind == SYNC:
                unpack(message)
            elif kind == SCHEDULED:
                waiting.discard(other)
                length, _ = SCHEDULED_TAIL.unpack_from(message, len(message) - SCHEDULED_TAIL.size)
                unpack(message[:length])
                self.requests[other] = self.post.codec.decode(message[length:])
            else:
                self._failed(other, control_of(message))
                raise Poisoned

        return wait

    def _failed(self, other: int, message: object) -> None:
        """A worker has failed at this tag; without an error of its own it could not go on for another's."""
        self.waiting.discard(other)
        if isinstance(message, Failed):
            self.failures[other] = failure_of(message)

    def forget(self) -> None:
        for other in self.others:
            self.post.tell(other, Forget())

    # The end

    def finish(self) -> None:
        rows, _ = self._farewells(End())
        if self.failures:
            raise Poisoned
        if self.worker.recorder is not None:
            self.worker.recorder.merge(rows)
        self.close()

    def _farewells(self, end: End) -> tuple[list[Row], list[str]]:
        """Tell all workers to end; what they recorded, and what their last reactions raised."""
        rows: list[Row] = []
        notes: list[str] = []
        if not self.ending:
            for other in self.others:
                self._tell_modes(other)
                self.post.tell(other, end)
        self.ending = True
        for other in self.others:
            while other not in self.gone:
                said = control_of(self.post.receiver_from(other)())  # else of the tag at which the run failed
                if isinstance(said, Rows):
                    rows += said.rows
                elif isinstance(said, Bye):
                    notes += said.notes
                    self.gone.add(other)
                elif isinstance(said, Failed):
                    self._failed(other, said)
        return rows, notes

    def settle(self) -> None:
        try:
            for other in self.others:
                self.post.poison(other)
            while self.waiting:
                other = min(self.waiting)
                message = self.post.receiver_from(other)()
                if message[-1] in (DONE, SCHEDULED):
                    self.waiting.discard(other)
                elif message[-1] != SYNC:
                    self._failed(other, control_of(message))
        except WorkerError:  # it died on top of the failure that is reported
            self.interrupt()

    def end(self, failure: Failure) -> list[str]:
        notes: list[str] = []
        if not self.aborted:
            now = self.worker.now
            try:
                _, notes = self._farewells(End(True, failure.skipped, now.time, now.microstep))
            except WorkerError as second:
                notes.append(str(second))
        self.close()
        return notes

    # What a subclass provides

    @abstractmethod
    def close(self) -> None:
        """Let the workers leave, but for those that are still in a reaction after a second; free all."""
