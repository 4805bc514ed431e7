"""One thread: the reference. Compiles the schedule of a set of events once it has shown that it comes back.

Both ways to run a tag do the same, and tests want each: REACTORLIB_SCHEDULES=compiled compiles every schedule when it
is first needed, REACTORLIB_SCHEDULES=walked none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from reactorlib.errors import RunError
from reactorlib.executors.executor import COMPILED_STEPS, Executor
from reactorlib.schedule.graph import Node
from reactorlib.worker.cells import Event
from reactorlib.worker.main_worker import MainWorker, Schedule
from reactorlib.worker.walk import Walk

# A set of events is compiled when it comes for the second time; sets of several events, of which there may
# be very many, for the eighth. Beyond COMPILED_STEPS all others are walked.
SEEN_ALONE = 2
SEEN_TOGETHER = 8
# Compiling one reaction costs as much as walking it some 64 times more (100 us against 1.2 us more per tag): once this
# many steps are compiled, sets that have shown less are walked.
READILY_COMPILED_STEPS = 500
SEEN_OFTEN = 64
WAYS = ("", "compiled", "walked")  # of REACTORLIB_SCHEDULES


class Inline(Executor):
    """Schedules of the only worker, compiled or walked."""

    name = "inline"

    def __init__(self, worker: MainWorker) -> None:
        super().__init__(worker)
        self.walk = Walk(worker)
        self.way = os.environ.get("REACTORLIB_SCHEDULES", "")
        if self.way not in WAYS:
            raise RunError(f"REACTORLIB_SCHEDULES is 'compiled', 'walked' or not set, got {self.way!r}")
        self._together: dict[frozenset[Event], Schedule] = {}
        self._seen: dict[frozenset[Event], int] = {}

    def alone(self, event: Event) -> Schedule:
        event.seen += 1
        if self._may_compile() and event.seen >= self._threshold(SEEN_ALONE):
            schedule = event.schedule_alone = self._compile([event])
            return schedule
        return self._walk([event])

    def together(self, events: Iterable[Event]) -> Schedule:
        key = frozenset(events)
        found = self._together.get(key)
        if found is not None:
            return found
        if self._may_compile():
            seen = self._seen[key] = self._seen.get(key, 0) + 1
            if seen >= self._threshold(SEEN_TOGETHER):
                del self._seen[key]
                self._together[key] = found = self._compile(key)
                return found
            if len(self._seen) > 4096:  # sets that do not come back are forgotten
                self._seen.clear()
        return self._walk(key)

    def _may_compile(self) -> bool:
        return self.way == "compiled" or (self.compiled < COMPILED_STEPS and self.way != "walked")

    def _threshold(self, seen: int) -> int:
        if self.way == "compiled":
            return 1
        return seen if self.compiled < READILY_COMPILED_STEPS else SEEN_OFTEN

    def _walk(self, events: Iterable[Event]) -> Schedule:
        return lambda time, soon: self.walk.schedule(events, time, soon)

    def _compile(self, events: Iterable[Event]) -> Schedule:
        from reactorlib.schedule.plan import plan_of

        plan = plan_of(self.worker.graph, (event.index for event in events))
        self.compiled += len(plan.steps) + 1
        return self.loader.load(plan)

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        failed = self.walk.running
        if failed is None:
            failed = self.loader.failed(error.__traceback__)
        self._shut_down(error, lambda _node: True, failed if isinstance(error, Exception) else None)
        return error, failed
