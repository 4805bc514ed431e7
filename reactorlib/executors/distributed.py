"""Worker 0 of a run with several workers, whatever carries messages between them.

When a reaction fails, all calls of this tag that do not need it still run, on every worker. A call that needs it finds
that a message is poison, and its worker poisons those that wait. So of several failures at one tag the first in the
order of the program always happens, and it is the one reported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from functools import partial
from itertools import count
from math import inf
from time import monotonic
from typing import Any

from reactorlib.elaboration.records import Node
from reactorlib.errors import WorkerError
from reactorlib.executors.executor import COMPILED_STEPS, LAST_RUN, Executor, OutOfTime
from reactorlib.executors.failure import Failure, Poisoned
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.protocol import CARRYING, DONE, GO, GO_TAIL, SCHEDULED, SYNC
from reactorlib.executors.set_schedules import SetSchedules
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Plan, plan_of
from reactorlib.schedule.split import Splitter
from reactorlib.tag import Tag
from reactorlib.transport.debug import DEBUG
from reactorlib.worker.cells import LARGE_IN_THREADS, Event, Reader, local_buffers
from reactorlib.worker.coordinator import Coordinator, PausingSchedule, Pieces, Schedule
from reactorlib.worker.recorder import Row
from reactorlib.worker.worker import Call

Sender = Callable[[bytes], None]

SETTLE_LOOK_S = 0.05  # for one worker, before the next one
LONGEST_SETTLE_S = 30.0  # after a failure, for the other reactions of the tag to end
LONGEST_END_S = 1.0  # for workers to end once the run is over
LOOK_TAGS = 256  # tags between two checks of the workers, while no wait is long enough to check (a power of two)


class Distributed(Executor):
    """Schedules of worker 0, and what it tells the others and hears from them.

    Owns neither threads nor processes: a subclass starts the workers, looks whether they live, and ends them.
    """

    def __init__(self, coordinator: Coordinator, partition: Partition, messenger: Messenger) -> None:
        self.partition = partition
        self.messenger = messenger
        self.splitter = Splitter(coordinator.program, partition, copies=not messenger.shares_cells)
        if messenger.shares_cells:
            buffers = local_buffers(LARGE_IN_THREADS)
        else:
            buffers = messenger.buffers(self.splitter.crossing_cells())
        super().__init__(coordinator, partition.workers, buffers)
        self.others = range(1, partition.workers)
        self.requests: dict[int, list[Call]] = {}  # of the current tag, from workers that ended their part
        self.waiting: set[int] = set()  # workers that have yet to end their part of this tag
        self.failures: dict[int, Failure] = {}
        self._failed_at: float | None = None  # when worker 0 saw that a reaction failed, by `monotonic`
        self._abandoned = False  # this run has failed, and worker 0 ends it
        self.lost: WorkerError | None = None  # the error for a worker that died
        self.aborted = False  # workers were told to leave at once, and take no more messages
        self.gone: set[int] = set()  # workers that have taken their leave
        self.rows: list[Row] = []  # the records of the other workers
        self.notes: list[str] = []  # the errors of their last reactions, in words
        self._numbers = count()  # of splits
        self._together = SetSchedules[bool](self._compile)
        self._pausing = SetSchedules[Pieces](partial(self._compile, pauses=True))
        self.count_tag = count(1).__next__  # counts tags between checks of the workers
        self._modes_sent = dict.fromkeys(self.others, -1)  # versions of modes
        # For each worker that holds modes of its own, the modes that were reset since modes were sent.
        has_modes = bool(coordinator.modes.states) and not messenger.shares_cells
        self._restarted: dict[int, set[int]] = {other: set() for other in self.others} if has_modes else {}
        coordinator.modes.watchers.extend(self._restarted.values())

    # The start

    def await_ready(self) -> None:
        """Wait until every worker could be started. Raises what kept one from it."""
        for other in self.others:
            message = self.messenger.control_of(self.messenger.receiver_from(other)())
            if message[0] != "ready":
                self._failed(other, message)
                raise self.failures[other].error

    def begin(self) -> None:
        for other in self.others:
            self.messenger.tell(other, "begin", self.worker.interface.started)

    # Schedules

    def alone(self, event: Event) -> Schedule:
        schedule = self.together((event,))
        event.schedule_alone = self._together.own.get(frozenset((event,)))
        return schedule

    def together(self, events: Iterable[Event]) -> Schedule:
        return self._together.of(events)

    def pausing(self, events: Collection[Event]) -> PausingSchedule:
        return self._pausing.of(events)

    def _compile(self, events: Iterable[Event], any_of: bool, pauses: bool = False) -> Any:
        if self.compiled > COMPILED_STEPS:
            self._forget()
        plan = plan_of(self.worker.program, (event.index for event in events), any_of)
        parts = self.splitter.split(plan)
        if DEBUG:
            from reactorlib.executors.split_check import check_split  # for this mode only

            check_split(self.splitter, plan, parts)
        self.compiled += len(plan.items) + 1
        if len(parts) == 1:
            return self.with_looks(self.loader.load(plan, pauses=pauses))
        go = self._go(next(self._numbers), parts)
        crossings = self.messenger.action_of_send, self._waiter
        return self.loader.load(parts[0], crossings, pauses, go=go, collect=self._collect)

    def with_looks(self, schedule: Any) -> Any:
        """The schedule of a tag at which worker 0 waits for nobody. MPI looks at the other ranks in it, as waits do."""
        return schedule

    def _forget(self) -> None:
        """Drop all schedules; they are written anew when needed."""
        self._together.clear()
        self._pausing.clear()
        for event in self.worker.events:
            event.schedule_alone = None
        self.loader.forget()
        self.compiled = 0
        for other in self.others:
            self.instruct(other, "forget")

    # Functions that a schedule calls

    def _go(self, number: int, parts: dict[int, Plan]) -> Callable[[int], None]:
        """A function of the time by which the other workers begin their parts. The split has this number from then."""
        now, waiting = self.worker.now, self.waiting
        encoders, sends = self._values(parts)
        others = [other for other in parts if other]
        unlearnt = {other: parts[other] for other in others}
        has_modes, count_tag, pack = bool(self._restarted), self.count_tag, GO_TAIL.pack

        def go(time: int) -> None:
            if not count_tag() % LOOK_TAGS:
                self.check()
            if unlearnt or has_modes:
                for other, part in unlearnt.items():
                    self.instruct(other, "learn", number, part)
                unlearnt.clear()
                for other in others:
                    self._tell_modes(other)
            tail, messages = pack(number, time, now.microstep, GO), []
            for encode in encoders:  # all, before any worker begins: one may be impossible
                messages.append(encode() + tail)  # noqa: PERF401  a comprehension costs a call more
            waiting.update(others)
            try:
                for message, send in sends:
                    send(messages[message])
            except WorkerError:  # some have begun, and may wait for those that will not
                self.interrupt()
                raise

        return go

    def _values(self, parts: dict[int, Plan]) -> tuple[list[Callable[[], bytes]], list[tuple[int, Sender]]]:
        """Encoders of the values of events, and sends, each with the number of the encoder whose message it sends."""
        groups: dict[tuple[int, ...], list[int]] = {}
        triggers, any_of = self.worker.program.triggers, parts[0].any_of
        for other, part in parts.items():
            if other:
                carrying = tuple(i for i in part.marked if any_of or triggers[i].kind in CARRYING)
                groups.setdefault(carrying, []).append(other)
        encoders: list[Callable[[], bytes]] = []
        sends = []
        for number, (key, others) in enumerate(groups.items()):
            events = [self.worker.events[i] for i in key]
            if not key:
                encoders.append(bytes)  # which is empty
            elif any_of:
                encoders.append(self.messenger.packer(events, others, GO))
            else:
                encoders.append(self.messenger.encoder(events, others))
            sends += [(number, self.messenger.sender_to(other)) for other in others]
        return encoders, sends

    def instruct(self, other: int, name: str, *arguments: Any) -> None:
        """Have a worker learn its part of a split, or forget all parts."""
        self.messenger.tell(other, name, *arguments)

    def _tell_modes(self, other: int) -> None:
        modes = self.coordinator.modes
        if self._restarted and modes.version != self._modes_sent[other]:
            self._modes_sent[other] = modes.version
            flags = [(state.active, state.entered) for state in modes.states]
            self.messenger.tell(other, "switch", flags, sorted(self._restarted[other]))
            self._restarted[other].clear()

    def _waiter(self, readers: list[Reader], other: int) -> Callable[[], None]:
        messenger, waiting = self.messenger, self.waiting
        receive, unpack = messenger.receiver_from(other), messenger.unpacker(readers)

        def wait() -> None:
            message = receive()
            kind = message[-1]
            if kind == DONE:
                waiting.discard(other)
            elif kind == SCHEDULED:
                waiting.discard(other)
                message, self.requests[other] = messenger.requests_of(message)
            elif kind != SYNC:
                self._failed(other, messenger.control_of(message))
                raise Poisoned
            if unpack is not None:
                unpack(message)

        return wait

    def _collect(self) -> None:
        """Queue what the other workers asked for, in the order of workers."""
        if self.requests:
            for worker in sorted(self.requests):
                self.coordinator.replay(self.requests[worker])
            self.requests.clear()

    def _failed(self, other: int, message: tuple[Any, ...]) -> None:
        """Note that a worker has failed at this tag, by its own error or as it needed a worker that failed."""
        self.waiting.discard(other)
        if message[0] == "failed":
            self.failures[other] = message[1]

    # The end

    def finish(self) -> None:
        self._hear_farewells(early=False, failed=None)
        if self.failures:
            raise Poisoned
        if self.worker.recorder is not None:
            self.worker.recorder.merge(self.rows)
        self.close()

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        """Stop all workers; the error of the reaction that comes first in the order of the program."""
        since = self._failed_at = self._failed_at or monotonic()
        self._abandoned = True
        try:
            with self.announced(error, lambda: self._progress(error)):
                failure = self._first_failure(error, since + LONGEST_SETTLE_S)
                self._shut_down(failure.error, self.partition.of_node, failure.skipped)
                self._end_early(failure)
            for note in self.notes:
                failure.error.add_note(note)
        except BaseException:  # Ctrl-C once more: no more patience
            self.kill()
            raise
        return failure.error, failure.node

    def _first_failure(self, error: BaseException, until: float) -> Failure:
        if error is self.lost:
            return Failure(error, None)
        if not isinstance(error, Exception | Poisoned):  # Ctrl-C and the like do not wait for long reactions
            self.interrupt(error)
            return Failure(error, None)
        if isinstance(error, Exception):
            self.failures[0] = Failure(error, self.loader.failed(error.__traceback__))
        try:
            self.settle(until)
            late = sorted(self.waiting)
            self.notes += [f"{self.described(other)} was broken off, as it ran on for too long" for other in late]
            if late:
                self.interrupt()
        except WorkerError:  # it died on top of the failure that is reported
            self.interrupt()
        rank = self.worker.program.order.rank
        known = [self.failures[worker] for worker in sorted(self.failures)]
        if not known:  # the worker that failed died before it could say why
            return Failure(self.lost or error, None)
        return min(known, key=lambda failure: -1 if failure.node is None else rank[failure.node])

    def settle(self, until: float = inf) -> None:
        """After a failure at this tag: let every worker that takes part come to its end, and note its failure.

        Workers that have not ended by that time of `monotonic` are left in `waiting`.
        """
        for other in self.others:
            self.messenger.poison(other)
        waits = {other: self._waiter([], other) for other in self.waiting}
        try:
            while self.waiting:
                for other in sorted(self.waiting):
                    self.limit = monotonic() + SETTLE_LOOK_S
                    with suppress(Poisoned, OutOfTime):
                        waits[other]()
                if monotonic() > until:
                    break
        finally:
            self.limit = None

    def check(self) -> None:
        """Also break off this tag if a worker has failed at it so long ago that nobody waits for the others."""
        if self._failed_at is None:
            if any(map(self.has_failed, self.waiting)):
                self._failed_at = monotonic()
        elif not self._abandoned and monotonic() > self._failed_at + LONGEST_SETTLE_S:
            raise Poisoned
        super().check()

    def has_failed(self, _other: int) -> bool:
        """Whether a worker has failed at this tag, as far as that can be seen before its message is taken."""
        return False

    def _progress(self, error: BaseException) -> str:
        """Describe the failures, and the workers that the run waits for. Called by another thread."""
        program, now = self.worker.program, self.worker.now
        failures = [*self.failures.values()] or [Failure(error, None)]
        what = "; ".join(failure.described(program, now) for failure in failures)
        if isinstance(failures[0].error, Poisoned):  # the failure has yet to arrive
            what = f"a reaction failed at tag {Tag(now.time, now.microstep)}"
        busy = [self.described(other) for other in sorted(self.waiting) if not self.has_failed(other)]
        if not busy:
            return what + LAST_RUN
        return f"{what}. The run waits for {' and '.join(busy)}, for {LONGEST_SETTLE_S:.0f} s after the failure"

    def described(self, other: int) -> str:
        """The number of a worker and the reactors that it runs."""
        members = zip(self.worker.program.instances, self.partition.of_instance, strict=True)
        paths = [instance.path for instance, of in members if of == other]
        shown = ", ".join(paths[:3]) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")
        return f"worker {other} (with {shown or 'no reactor'})"

    def _end_early(self, failure: Failure) -> None:
        """Run the shutdown reactions on the other workers and stop them."""
        if not self.aborted:
            try:
                self._hear_farewells(early=True, failed=failure.skipped)
            except WorkerError as second:
                self.notes.append(str(second))
        self.close()

    def _hear_farewells(self, early: bool, failed: Node | None) -> None:
        """Have all workers end, and take in what they say about it."""
        now, left = self.worker.now, [other for other in self.others if other not in self.gone]
        for other in left:  # once more if an interrupt came: a worker that has ended does not read it
            self._tell_modes(other)
            self.messenger.tell(other, "end", early, failed, now.time, now.microstep)
        for other in left:
            self.hear_farewell(other)

    def hear_farewell(self, other: int) -> None:
        receive = self.messenger.receiver_from(other)
        while other not in self.gone:
            said = self.messenger.control_of(receive())  # other messages belong to the tag that failed
            if said[0] == "rows":
                self.rows += said[1]
            elif said[0] == "bye":
                self.notes += said[1]
                self.gone.add(other)
            elif said[0] == "failed":
                self._failed(other, said)

    # A subclass provides these

    @abstractmethod
    def interrupt(self, error: BaseException | None = None) -> None:
        """End the workers soon because of an error, even if they are busy. Called after Ctrl-C, at any moment."""

    @abstractmethod
    def close(self) -> None:
        """Let the workers leave, but for those that are still in a reaction after a second; free all."""
