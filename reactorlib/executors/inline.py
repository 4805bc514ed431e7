"""One thread: the reference. Compiles the schedule of a set of events once it has shown that it comes back.

Both ways to run a tag do the same, and tests want each: REACTORLIB_SCHEDULES=compiled compiles every schedule when it
is first needed, REACTORLIB_SCHEDULES=walked none.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from math import inf

from reactorlib.elaboration.records import Node
from reactorlib.executors.executor import COMPILED_STEPS, LAST_RUN, Executor
from reactorlib.executors.failure import Failure
from reactorlib.worker.cells import Event
from reactorlib.worker.coordinator import Coordinator, Schedule
from reactorlib.worker.walked_schedule import Walk

# Compiling a reaction costs as much as walking it some 40 more times, and the first use imports the compiler. So a
# set of events is compiled when it comes for this time. Beyond COMPILED_STEPS all others are walked.
SEEN_OFTEN = 64


class Inline(Executor):
    """Schedules of the only worker, compiled or walked."""

    name = "inline"

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator)
        self.walk = Walk(self.worker)
        self.way = os.environ.get("REACTORLIB_SCHEDULES")
        self._together: dict[frozenset[Event], Schedule] = {}
        self._seen: dict[frozenset[Event], int] = {}

    def alone(self, event: Event) -> Schedule:
        event.seen += 1
        if event.seen >= self._seen_enough():
            schedule = event.schedule_alone = self._compile([event])
            return schedule
        return partial(self.walk.schedule, (event,))

    def together(self, events: Iterable[Event]) -> Schedule:
        key = frozenset(events)
        found = self._together.get(key)
        if found is not None:
            return found
        seen = self._seen[key] = self._seen.get(key, 0) + 1
        if seen >= self._seen_enough():
            del self._seen[key]
            self._together[key] = found = self._compile(key)
            return found
        if len(self._seen) > 4096:  # sets that do not come back are forgotten
            self._seen.clear()
        return partial(self.walk.schedule, key)

    def _seen_enough(self) -> float:
        """How often a set of events comes before it is compiled."""
        if self.way:
            return 1 if self.way == "compiled" else inf
        return SEEN_OFTEN if self.compiled < COMPILED_STEPS else inf

    def _compile(self, events: Iterable[Event]) -> Schedule:
        from reactorlib.schedule.plan import plan_of

        plan = plan_of(self.worker.program, (event.index for event in events))
        self.compiled += len(plan.items) + 1
        schedule: Schedule = self.loader.load(plan)
        return schedule

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        failed = self.walk.running
        if failed is None:
            failed = self.loader.failed(error.__traceback__)
        failure = Failure(error, failed)
        with self.announced(error, lambda: failure.described(self.worker.program, self.worker.now) + LAST_RUN):
            self._shut_down(error, None, failure.skipped)
        return error, failed
