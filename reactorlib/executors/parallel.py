"""Several workers, whatever carries messages between them: worker 0's schedules, and how a failed run ends.

When a reaction fails, all steps of this tag that do not need it still run, on every worker; those that need it
find that a message is poison, and pass poison on to whoever needs them. So of several failures at one tag the first
in the order of the program always happens, and it is the one reported.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Any

from reactorlib.elaboration.program import Node
from reactorlib.errors import WorkerError
from reactorlib.executors.executor import COMPILED_STEPS, Executor
from reactorlib.executors.failure import Failure, Poisoned
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Split, plan_of
from reactorlib.schedule.split import Splitter
from reactorlib.worker.cells import Allocate, Buffers, Event
from reactorlib.worker.coordinator import Coordinator, PausingSchedule, Schedule
from reactorlib.worker.event_queue import Events
from reactorlib.worker.scheduler import Call

LONGEST_END_S = 1.0  # for workers to come to their end once the run is over


class Parallel(Executor):
    """Schedules of worker 0, and the cut of every plan. A subclass moves messages and values.

    With `copies` each worker has cells of its own, and values travel; without, all workers share them.
    """

    def __init__(
        self,
        coordinator: Coordinator,
        partition: Partition,
        copies: bool,
        allocate: Allocate | None = None,
        allocate_shared: Allocate | None = None,
    ) -> None:
        self.partition = partition
        self.splitter = Splitter(coordinator.program, partition, copies)
        buffers = Buffers(allocate, allocate_shared, self.splitter.crossing_cells() if copies else ())
        super().__init__(coordinator, partition.workers, buffers)
        self._numbers = count()  # of splits
        self.requests: dict[int, list[Call]] = {}  # of the current tag, from workers that ended their part
        self.failures: dict[int, Failure] = {}
        self.lost: WorkerError | None = None  # why a worker that died was missed
        self._together: dict[frozenset[Event], Schedule] = {}
        self._pausing: dict[frozenset[Event], PausingSchedule] = {}

    # Schedules of worker 0

    def alone(self, event: Event) -> Schedule:
        return self.together((event,))

    def together(self, events: Iterable[Event]) -> Schedule:
        key = frozenset(events)
        found = self._together.get(key)
        if found is None:
            found = self._together[key] = self._compile(key)
            if len(key) == 1:
                next(iter(key)).schedule_alone = found
        return found

    def pausing(self, events: Collection[Event]) -> PausingSchedule:
        key = frozenset(events)
        found = self._pausing.get(key)
        if found is None:
            found = self._pausing[key] = self._compile(key, pauses=True)
        return found

    def _compile(self, events: Iterable[Event], pauses: bool = False) -> Any:
        if self.compiled > COMPILED_STEPS:
            self._forget()
        plan = plan_of(self.worker.program, (event.index for event in events))
        split = self.splitter.split(plan)
        self.compiled += len(plan.steps) + 1
        if len(split.parts) == 1:
            return self.loader.load(plan, pauses=pauses)
        go, mine = self.go(next(self._numbers), split), split.parts[0]
        return self.loader.load(plan, mine, self.crossing, pauses, go=go, collect=self._collect)

    def _forget(self) -> None:
        """Drop all schedules; they are written anew when needed."""
        self._together.clear()
        self._pausing.clear()
        for event in self.worker.events:
            event.schedule_alone = None
        self._numbers = count()
        self.loader.forget()
        self.compiled = 0
        self.forget()

    def _collect(self, _soon: Events) -> None:
        """Queue what the other workers asked for, in the order of workers."""
        if self.requests:
            for worker in sorted(self.requests):
                self.coordinator.replay(self.requests[worker])
            self.requests.clear()

    # The end

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        """Stop all workers; the error of the reaction that comes first in the order of the program."""
        try:
            failure = self._first_failure(error)
            self._shut_down(failure.error, lambda node: self.partition.of_node[node] == 0, failure.skipped)
            for note in self.end(failure):
                failure.error.add_note(note)
        except BaseException:  # Ctrl-C once more: no more patience
            self.kill()
            raise
        return failure.error, failure.node

    def _first_failure(self, error: BaseException) -> Failure:
        if error is self.lost:
            return Failure(error, None)
        if not isinstance(error, Exception | Poisoned):  # Ctrl-C and the like do not wait for long reactions
            self.interrupt()
            return Failure(error, None)
        if isinstance(error, Exception):
            self.failures[0] = Failure(error, self.loader.failed(error.__traceback__))
        self.settle()
        rank = self.worker.program.order.rank
        known = [self.failures[worker] for worker in sorted(self.failures)]
        if not known:  # the worker that failed died before it could say why
            return Failure(self.lost or error, None)
        return min(known, key=lambda failure: -1 if failure.node is None else rank[failure.node])

    # What a subclass provides

    @abstractmethod
    def forget(self) -> None:
        """All numbers given to `go` are void."""

    @abstractmethod
    def go(self, number: int, split: Split) -> Callable[[int], None]:
        """A function of the time that tells the other workers of a split, from now on of this number, to begin."""

    @abstractmethod
    def crossing(self, ref: Ref) -> Callable[[], None]:
        """What a send or wait does on worker 0."""

    @abstractmethod
    def settle(self) -> None:
        """After a failure at this tag: let every worker that takes part come to its end, and note its failure."""

    @abstractmethod
    def interrupt(self) -> None:
        """After Ctrl-C, at any moment: bring the workers to an end soon, whatever they do."""

    @abstractmethod
    def end(self, failure: Failure) -> list[str]:
        """Run the shutdown reactions on the other workers and stop them; what the reactions raised."""
