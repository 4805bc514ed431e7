"""What threads and processes share: plans cut by a partition, one schedule per worker, one deterministic error.

Worker 0 is the calling thread. It alone keeps the event queue and decides the tags; at each tag it tells the
workers that take part to go, runs its own part, and collects what the others scheduled. A worker that fails
stops its steps and says so to all who may wait for it; those stop where they would need it. So of several
failures at one tag the first in the order of the program always happens, and it is the one reported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from reactorlib.clock import Clock
from reactorlib.elaboration.program import Program, ReactionInstance
from reactorlib.errors import WorkerError
from reactorlib.schedule.compiler import Compiler, Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Node, Part, Reach, Split
from reactorlib.schedule.split import Splitter
from reactorlib.worker.binding import Binding
from reactorlib.worker.cells import Event
from reactorlib.worker.context import Context
from reactorlib.worker.ending import clear, last_reactions, run_last
from reactorlib.worker.events import Step
from reactorlib.worker.modes import ModeState
from reactorlib.worker.objects import Schedule, Schedules
from reactorlib.worker.trace import Recorder

if TYPE_CHECKING:
    from reactorlib.runtime import Run

LONGEST_END_S = 1.0  # for workers to come to their end once the run is over
COMPILED_STEPS = 200_000  # over all workers; beyond that all schedules are dropped and written anew when needed


class Poisoned(BaseException):
    """Another worker failed at this tag: no step that needs it can run."""


class Stopped(BaseException):
    """The run is over: leave at once."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The first reaction that failed on one worker at the current tag, None where it failed outside one."""

    error: BaseException
    node: Node | None

    @property
    def skipped(self) -> Node | None:
        """The reaction whose reactor is not shut down; Ctrl-C and the like leave no reactor out."""
        return self.node if isinstance(self.error, Exception) else None


class Moment:
    """The current tag as a worker other than 0 knows it."""

    __slots__ = ("microstep", "time")

    def __init__(self) -> None:
        self.time = 0
        self.microstep = 0


class WorkerSide:
    """The side of a run on a worker other than 0: what its reactions schedule goes to `outbox`, for worker 0."""

    def __init__(
        self,
        program: Program,
        worker: int,
        clock: Clock,
        mode_states: list[ModeState],
        traced: bool,
        shared: Binding | None,
    ) -> None:
        self.worker = worker
        self.clock = clock
        self.started = 0  # until the run begins
        self.context = Context()
        self.queue = Moment()
        self.mode_states = mode_states
        self.outbox: list[tuple[Any, ...]] = []
        self.recorder = Recorder(program, self.queue, worker) if traced else None
        note = self.recorder.note if self.recorder is not None else None
        self.binding = Binding(program, self._schedule, self._schedule, self._switch, note, shared)

    def request_stop(self) -> None:
        self.outbox.append(("stop",))

    def _schedule(self, event: Event, extra_delay: int, value: Any) -> None:
        self.outbox.append(("schedule", event.index, extra_delay, value))

    def _switch(self, mode: int, history: bool) -> None:
        self.outbox.append(("switch", mode, history))

    def later(self, time: int, event: Event, value: Any) -> None:
        self.outbox.append(("at", event.index, time, value))

    def physical_connection(self, event: Event, value: Any) -> None:
        time = self.clock.now() - self.started + event.trigger.delay
        self.outbox.append(("action", event.index, time, value))

    def switch(self) -> None:
        """Modes switch on worker 0 alone."""

    def take(self, soon: Step) -> list[tuple[Any, ...]]:
        """What this part of the tag scheduled, in order; the outbox is empty afterwards."""
        taken = self.outbox
        taken += [("soon", event.index, value) for event, value in soon.items()]
        self.outbox = []
        return taken


def deliver(run: Run, outbox: Iterable[tuple[Any, ...]], soon: Step) -> None:
    """On worker 0: put what another worker scheduled into the queue."""
    events = run.binding.events
    for kind, *rest in outbox:
        if kind == "soon":
            soon[events[rest[0]]] = rest[1]
        elif kind == "at":
            run.queue.at(rest[1], events[rest[0]], rest[2])
        elif kind == "schedule":
            run.schedule_logical(events[rest[0]], rest[1], rest[2])
        elif kind == "action":
            run.queue.schedule_at(events[rest[0]], rest[1], rest[2])
        elif kind == "switch":
            run.modes.request(rest[0], rest[1])
        else:
            run.request_stop()


class Parallel:
    """Schedules of worker 0, and the cut of every plan. A subclass moves messages and values."""

    name = "parallel"
    copies = False

    def __init__(self, run: Run, partition: Partition) -> None:
        self.run = run
        self.partition = partition
        self.workers = partition.workers
        self.splitter = Splitter(run.reach, partition, self.copies)
        self.compiler = Compiler(run.program, run.reach, traced=run.recorder is not None)
        self.schedules = Schedules(run)
        self.splits: list[Split] = []  # by number, as messages name them
        self.outboxes: dict[int, list[tuple[Any, ...]]] = {}  # of the current tag, from workers that ended their part
        self.failures: dict[int, Failure] = {}
        self.lost: WorkerError | None = None  # why a worker that died was missed
        self.compiled = 0
        self._together: dict[frozenset[Event], Schedule] = {}

    # Schedules of worker 0

    def alone(self, event: Event) -> Schedule:
        """The schedule of a tag at which only `event` is present."""
        return self.together((event,))

    def together(self, events: Iterable[Event]) -> Schedule:
        """The schedule of a tag at which these events are present."""
        key = frozenset(events)
        found = self._together.get(key)
        if found is None:
            if self.compiled > COMPILED_STEPS:
                self._forget()
            found = self._together[key] = self._compile(key)
            if len(key) == 1:
                next(iter(key)).schedule_alone = found
        return found

    def _compile(self, events: Iterable[Event]) -> Schedule:
        plan = self.run.reach.plan(event.index for event in events)
        split = self.splitter.split(plan)
        self.compiled += len(plan.steps) + 1
        if len(split.parts) == 1:
            return self.schedules.load(self.compiler.write(plan), {})
        number = len(self.splits)
        self.splits.append(split)
        self.prepare(number, split)
        source = self.compiler.write(plan, split.parts[0])
        extra = {"go": self.starter(number, split), "collect": self._collect}
        return self.schedules.load(source, extra, self.crossing)

    def _forget(self) -> None:
        self._together.clear()
        for event in self.run.binding.events:
            event.schedule_alone = None
        self.splits.clear()
        self.schedules.forget()
        self.compiled = 0
        self.forgotten()

    def _collect(self, soon: Step) -> None:
        """Queue what the other workers scheduled, in the order of workers."""
        if self.outboxes:
            for worker in sorted(self.outboxes):
                deliver(self.run, self.outboxes[worker], soon)
            self.outboxes.clear()

    # The end

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        """Stop all workers; the error of the reaction that comes first in the order of the program."""
        try:
            failure = self._first_failure(error)
            self._end(failure)
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
            self.failures[0] = Failure(error, self.schedules.failed(error.__traceback__))
        self.settle()
        rank = self.run.program.order.rank
        known = [self.failures[worker] for worker in sorted(self.failures)]
        if not known:  # the worker that failed died before it could say why
            return Failure(self.lost or error, None)
        return min(known, key=lambda failure: -1 if failure.node is None else rank[failure.node])

    def _end(self, failure: Failure) -> None:
        """All shutdown reactions: those of worker 0 first, then the others'. What they raise is noted on the error."""
        run = self.run
        clear(run.binding)
        notes = run_last(run.binding, self.last_reactions(0, failure.skipped))
        notes += self.end(failure)
        for note in notes:
            failure.error.add_note(note)

    def last_reactions(self, worker: int, failed: Node | None) -> list[ReactionInstance]:
        """The shutdown reactions of a worker, but for those of the reactor whose reaction `failed`."""
        of_node, run = self.partition.of_node, self.run
        return last_reactions(run.program, run.modes.states, lambda node: of_node[node] == worker, failed)

    # What a subclass provides

    def start(self) -> None:
        """Start the other workers. Raises what keeps one of them from being ready."""
        raise NotImplementedError

    def begin(self) -> None:
        """Tell the workers when the run starts, in physical time: it just did."""
        raise NotImplementedError

    def finish(self) -> None:
        """The run has ended as it should: stop the other workers and take in what they recorded."""
        raise NotImplementedError

    def prepare(self, number: int, split: Split) -> None:
        """Make the parts of the other workers ready."""

    def forgotten(self) -> None:
        """All numbers given to `prepare` are void."""

    def starter(self, number: int, split: Split) -> Callable[[int], None]:
        """A function of the time that tells the other workers of a split to begin."""
        raise NotImplementedError

    def crossing(self, ref: Ref) -> Callable[[], None]:
        """What a send or wait does on worker 0."""
        raise NotImplementedError

    def check(self) -> None:
        """Raise WorkerError, and keep it as `lost`, if a worker is gone. Called at least twice a second."""
        raise NotImplementedError

    def settle(self) -> None:
        """After a failure at this tag: let every worker that takes part come to its end, and note its failure."""
        raise NotImplementedError

    def interrupt(self) -> None:
        """After Ctrl-C, at any moment: bring the workers to an end soon, whatever they do."""
        raise NotImplementedError

    def end(self, failure: Failure) -> list[str]:
        """Run the shutdown reactions on the other workers and stop them; what the reactions raised."""
        raise NotImplementedError

    def kill(self) -> None:
        """Stop the workers at once: the run never began, or its end was broken off."""
        raise NotImplementedError


def load_part(
    program: Program,
    reach: Reach,
    schedules: Schedules,
    split: Split,
    part: Part,
    cross: Callable[[Ref], Any],
    finish: Callable[[], None],
) -> Schedule:
    """The schedule of one worker's part of a split; `finish` packs what travels with the end of the part."""
    side = schedules.side
    compiler = Compiler(program, reach, traced=side.recorder is not None)
    return schedules.load(compiler.write(split.plan, part), {"finish": finish}, cross)
