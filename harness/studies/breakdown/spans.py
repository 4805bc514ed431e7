"""The activities of a run with their times: spans of lanes. A lane does one thing at a time, as a thread or a process
does.

Times are of `time.perf_counter_ns`, which on Linux is one clock for all processes of a machine.
"""

import functools
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from harness.store.phase_table import COMPUTE, HUB, SERIALISE, SUBMIT
from workloads.probe import Probe

__all__ = ["BLOCKED", "COMPUTE", "HUB", "HUB_LANE", "SERIALISE", "SUBMIT"]
# In a lane, spans lie beside or inside one another; the innermost counts.
BLOCKED = "blocked"  # waiting for another lane

HUB_LANE = "hub"


class Span(NamedTuple):
    """One thing that a lane did, in ns."""

    lane: str
    kind: str
    began_ns: int
    ended_ns: int


class Recorder:
    """Collects what the threads of this process do. `lane`: that of its main thread."""

    def __init__(self) -> None:
        self.lane = HUB_LANE
        self._raw: list[tuple[int, str, int, int]] = []  # thread, kind, begin, end; list.append is atomic
        self._elsewhere: list[Span] = []

    def add(self, kind: str, began_ns: int, ended_ns: int) -> None:
        """Record a span of the calling thread."""
        self._raw.append((threading.get_ident(), kind, began_ns, ended_ns))

    def include(self, spans: Iterable[Span]) -> None:
        """Take in what other processes did."""
        self._elsewhere += spans

    def begin_anew(self, lane: str) -> None:
        """Forget everything: this process was forked from the one that it happened in."""
        self._raw.clear()
        self.lane = lane

    def spans(self) -> list[Span]:
        """Everything so far."""
        main = threading.main_thread().ident
        here = [
            Span(self.lane if thread == main else f"thread {thread}", kind, began_ns, ended_ns)
            for thread, kind, began_ns, ended_ns in self._raw
        ]
        return here + self._elsewhere

    def timed(self, kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, recording a span whenever it is called."""
        clock, thread, append = time.perf_counter_ns, threading.get_ident, self._raw.append

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            began = clock()
            try:
                return function(*args, **kwargs)
            finally:
                append((thread(), kind, began, clock()))

        return call


def shortened(parameters: Mapping[str, Any], most_messages: int) -> dict[str, Any]:
    """The parameters with fewer rounds, where they have more than about so many messages are recorded of."""
    actors = parameters.get("actors") or parameters.get("agents") or 1
    rounds = min(parameters["rounds"], max(2, most_messages // (actors * parameters.get("messages_per_round", 1))))
    return {**parameters, "rounds": rounds, "warmup_rounds": min(parameters["warmup_rounds"], max(2, rounds // 5))}


@contextmanager
def replaced(owner: Any, name: str, replacement: Any) -> Iterator[None]:
    """An attribute replaced for a while. Raises AttributeError where the owner has none of that name."""
    before = getattr(owner, name)
    setattr(owner, name, replacement)
    try:
        yield
    finally:
        setattr(owner, name, before)


class MarkingProbe(Probe):
    """A probe that also tells when the measured rounds began and ended."""

    def __init__(self, task: Any) -> None:
        self._marks: list[int] = []
        self._first = 1 + task.warmup_rounds  # after the creation's mark come that of `ready` and those of the rounds
        super().__init__(task.rounds, task.warmup_rounds, verify=False, clock=self._mark)

    def _mark(self) -> int:
        self._marks.append(time.perf_counter_ns())
        return self._marks[-1]

    @property
    def marks(self) -> list[int]:
        """The beginning of the first measured round and the end of each, once all are done."""
        return self._marks[self._first :]

    @property
    def measured(self) -> tuple[int, int]:
        """The beginning of the first measured round and the end of the last, once all are done."""
        return self.marks[0], self.marks[-1]
