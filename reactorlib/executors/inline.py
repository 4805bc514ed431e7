"""One thread: the reference. Compiles the schedule of a set of events once it has shown that it comes back."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from reactorlib.schedule.compiler import Compiler
from reactorlib.schedule.plan import Node
from reactorlib.worker.cells import Event
from reactorlib.worker.ending import clear, last_reactions, run_last
from reactorlib.worker.objects import Schedule, Schedules
from reactorlib.worker.walk import Ready

if TYPE_CHECKING:
    from reactorlib.runtime import Run

# A set of events is compiled when it comes for the second time; sets of several events, of which there may
# be very many, for the eighth. Compiled steps are bounded: beyond that the ready queue does the rest.
SEEN_ALONE = 2
SEEN_TOGETHER = 8
# Compiling one reaction costs as much as walking it some 64 times more (100 us against 1.2 us more per tag): once this
# many steps are compiled, sets that have shown less are walked.
READILY_COMPILED_STEPS = 500
SEEN_OFTEN = 64
COMPILED_STEPS = 200_000


class Inline:
    """Schedules for one run, compiled or walked. `compiled` counts the steps in compiled schedules."""

    name = "inline"
    workers = 1

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ready = Ready(run)
        self.compiler = Compiler(run.program, run.reach, traced=run.recorder is not None)
        self.schedules = Schedules(run)
        self.compiled = 0
        self.force_ready = os.environ.get("REACTORLIB_FORCE_FALLBACK") == "1"
        self._together: dict[frozenset[Event], Schedule] = {}
        self._seen: dict[frozenset[Event], int] = {}

    def start(self) -> None:
        """Nothing to start: the calling thread is the only worker."""

    def begin(self) -> None:
        """Nobody else to tell when the run starts."""

    def alone(self, event: Event) -> Schedule:
        """The schedule of a tag at which only `event` is present."""
        event.seen += 1
        if self._may_compile() and event.seen >= self._threshold(SEEN_ALONE):
            schedule = event.schedule_alone = self._compile([event])
            return schedule
        return self._walk([event])

    def together(self, events: Iterable[Event]) -> Schedule:
        """The schedule of a tag at which these events are present."""
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
        return self.compiled < COMPILED_STEPS and not self.force_ready

    def _threshold(self, seen: int) -> int:
        return seen if self.compiled < READILY_COMPILED_STEPS else SEEN_OFTEN

    def _walk(self, events: Iterable[Event]) -> Schedule:
        return lambda time, soon: self.ready.schedule(events, time, soon)

    def _compile(self, events: Iterable[Event]) -> Schedule:
        plan = self.run.reach.plan(event.index for event in events)
        self.compiled += len(plan.steps) + 1
        return self.schedules.load(self.compiler.write(plan), {})

    def check(self) -> None:
        """Nobody else can have died."""

    def finish(self) -> None:
        """The run has ended as it should."""

    def abandon(self, error: BaseException) -> tuple[BaseException, Node | None]:
        """The run has failed: the error to report and the reaction that raised it, after the shutdown reactions."""
        failed = self.schedules.failed(error.__traceback__)
        if failed is None:
            failed = self.ready.running
        run = self.run
        skip = failed if isinstance(error, Exception) else None
        clear(run.binding)
        for note in run_last(run.binding, last_reactions(run.program, run.modes.states, lambda _node: True, skip)):
            error.add_note(note)
        return error, failed

    def kill(self) -> None:
        """Nothing to stop."""
