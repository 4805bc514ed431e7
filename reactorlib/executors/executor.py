"""The interface of all executors, which run the tags of a run. Knows no way of moving anything between workers."""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, ClassVar

from reactorlib.elaboration.records import Node
from reactorlib.executors.failure import Poisoned
from reactorlib.worker.cells import Buffers, Event
from reactorlib.worker.coordinator import Coordinator, PausingSchedule, Pieces, Schedule, schedule_of
from reactorlib.worker.event_queue import Events
from reactorlib.worker.notice import notice_late
from reactorlib.worker.worker import Worker

if TYPE_CHECKING:
    from reactorlib.worker.loader import Loader

LAST_RUN = ". The run ends with this error once the shutdown reactions have ended"
COMPILED_STEPS = 200_000  # in the schedules of a run, over all workers


class OutOfTime(BaseException):
    """A wait has taken as long as its caller allows. The caller may wait again."""


def exit_on_signal(number: int, _frame: object) -> None:
    """The handler that ends a run by a signal, shutdown reactions included."""
    raise SystemExit(128 + number)


@contextmanager
def handling(handler: Callable[[int, Any], None], *numbers: int) -> Iterator[None]:
    """Handle these signals for a while, if this is the main thread."""
    is_main = threading.current_thread() is threading.main_thread()
    before = {number: signal.signal(number, handler) for number in numbers if is_main}
    try:
        yield
    finally:
        for number, outer in before.items():
            signal.signal(number, outer)


class Executor(ABC):
    """Gives worker 0 the schedule of each tag, and lives as long as the run.

    The calls come in this order: `start`, `begin`, those for schedules, and `finish` at the end. `abandon` takes its
    place if the run failed, and `kill` if it never began or is to end at once. Methods for other workers are empty
    here, as a subclass adds those workers.
    """

    name: ClassVar[str]
    start_method = ""  # how worker processes started; empty where there are none
    _loader: Loader | None = None

    def __init__(self, coordinator: Coordinator, workers: int = 1, buffers: Buffers | None = None) -> None:
        self.coordinator = coordinator
        self.worker = Worker(coordinator.program, 0, coordinator.inbox, coordinator, coordinator.options.trace,
                             mode_states=coordinator.modes.states, now=coordinator.queue, events=coordinator.events,
                             buffers=buffers)  # fmt: skip
        self.workers = workers
        self.compiled = 0  # calls in compiled schedules
        self.reason = ""  # why it was chosen, where it was not asked for by name
        self.limit: float | None = None  # when waits in the middle of a tag are given up, by `monotonic`

    @property
    def loader(self) -> Loader:
        """The compiler of schedules. Imported when the first schedule is: most of a short program is walked.

        Python 3.11 would lock all executors for a cached_property, and a fork in another thread could copy the lock.
        """
        if self._loader is None:
            from reactorlib.worker import loader

            self._loader = loader.Loader(self.worker)
        return self._loader

    @abstractmethod
    def alone(self, event: Event) -> Schedule:
        """The schedule of a tag at which only `event` is present."""

    @abstractmethod
    def together(self, events: Iterable[Event]) -> Schedule:
        """The schedule of a tag at which these events are present."""

    def pausing(self, events: Collection[Event]) -> PausingSchedule:
        """The schedule of such a tag in pieces. Without other workers all of it is one piece, after an empty one."""
        schedule = schedule_of(self, events)

        def pieces(time: int, soon: Events) -> Pieces:
            yield None
            return schedule(time, soon)

        return pieces

    @abstractmethod
    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        """The run has failed: the error to report and the reaction that raised it, after the shutdown reactions."""

    def start(self) -> None:
        """Start the other workers. Raises what keeps one of them from being ready."""

    def begin(self) -> None:
        """Tell the other workers when the run starts, in physical time: it just did."""

    def check(self) -> None:
        """Raise WorkerError if a worker is gone, OutOfTime beyond the limit. Waits call it twice a second or more."""
        if self.limit is not None and monotonic() > self.limit:
            raise OutOfTime

    def finish(self) -> None:
        """The run has ended as it should: stop the other workers and take in what they recorded."""

    def kill(self) -> None:
        """Stop the other workers at once: the run never began, its end was broken off, or nobody wants it any more."""

    def forget_schedules(self) -> None:
        if self._loader is not None:
            self._loader.forget()

    @contextmanager
    def announced(self, error: BaseException, text: Callable[[], str]) -> Iterator[None]:
        """Print this about a failure if it is not raised within a second. Nothing about Ctrl-C and the like."""
        if not isinstance(error, Exception | Poisoned):
            yield
            return
        cancel = notice_late(text)
        try:
            yield
        finally:
            cancel()

    def _shut_down(self, error: BaseException, of_node: Sequence[int] | None, failed: Node | None) -> None:
        """The shutdown reactions of worker 0; what they raise is noted on the error."""
        self.worker.break_off_tag()
        for note in self.worker.run_last(of_node, failed):
            error.add_note(note)
