"""One thread: the reference. Compiles the schedule of a set of events once it has shown that it comes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from copy import deepcopy
from time import perf_counter_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any

from reactorlib.cells import Event, Reader
from reactorlib.compiler import Compiler, Ref, Source, load
from reactorlib.events import Step
from reactorlib.plan import Node, Step as PlanStep
from reactorlib.ready import Ready

if TYPE_CHECKING:
    from reactorlib.runtime import Run

Schedule = Callable[[int, Step], bool]

# A set of events is compiled when it comes for the second time; sets of several events, of which there may
# be very many, for the eighth. Compiled steps are bounded: beyond that the ready queue does the rest.
SEEN_ALONE = 2
SEEN_TOGETHER = 8
COMPILED_STEPS = 200_000


class Inline:
    """Schedules for one run, compiled or walked. `compiled` counts the steps in compiled schedules."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.ready = Ready(run)
        self.compiler = Compiler(run.program, run.reach, traced=run.recorder is not None)
        self.compiled = 0
        self.force_ready = os.environ.get("REACTORLIB_FORCE_FALLBACK") == "1"
        self._together: dict[frozenset[Event], Schedule] = {}
        self._seen: dict[frozenset[Event], int] = {}
        self._sources: dict[Any, Source] = {}

    def alone(self, event: Event) -> Schedule:
        """The schedule of a tag at which only `event` is present."""
        event.seen += 1
        if event.seen >= SEEN_ALONE and self._may_compile():
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
            if seen >= SEEN_TOGETHER:
                del self._seen[key]
                self._together[key] = found = self._compile(key)
                return found
            if len(self._seen) > 4096:  # sets that do not come back are forgotten
                self._seen.clear()
        return self._walk(key)

    def _may_compile(self) -> bool:
        return self.compiled < COMPILED_STEPS and not self.force_ready

    def _walk(self, events: Iterable[Event]) -> Schedule:
        return lambda time, soon: self.ready.schedule(events, time, soon)

    def _compile(self, events: Iterable[Event]) -> Schedule:
        plan = self.run.reach.plan(event.index for event in events)
        self.compiled += len(plan.steps) + 1
        source = self.compiler.write(plan)
        schedule = load(source, self._objects(source))
        self._sources[schedule.__code__] = source  # type: ignore[attr-defined]
        return schedule

    def failed(self, traceback: TracebackType | None) -> Node | None:
        """The reaction that was running when an exception with this traceback was raised."""
        while traceback is not None:
            source = self._sources.get(traceback.tb_frame.f_code)
            if source is not None:
                known = source.reaction_at.get(traceback.tb_lineno)
                return known if known is not None else traceback.tb_frame.f_locals.get("index")
            traceback = traceback.tb_next
        return self.ready.running

    # The objects that the names of a schedule stand for

    def _objects(self, source: Source) -> dict[str, Any]:
        run = self.run
        objects: dict[str, Any] = {
            "later": run.queue.at,
            "started": run.started,
            "physical": run.clock.now,
            "context": run.context,
            "switch": run.modes.apply,
            "physical_connection": run.physical_connection,
            "deepcopy": deepcopy,
            "any_present": any_present,
            "clock": perf_counter_ns,
        }
        if run.recorder is not None:
            objects["record"] = run.recorder.record
        for name, ref in source.names.items():
            objects[name] = self._object(ref)
        return objects

    def _object(self, ref: Ref) -> Any:
        binding = self.run.binding
        if ref.kind == "cell":
            return binding.cell(ref.index)
        if ref.kind == "call":
            return binding.call(ref.index)[0]
        if ref.kind == "argument":
            return binding.call(ref.index)[1][ref.part]
        if ref.kind == "handler":
            return binding.handler(ref.index)
        if ref.kind == "event":
            return binding.events[ref.index]
        if ref.kind == "mode":
            return self.run.modes.states[ref.index]
        if ref.kind == "cells":
            return tuple(binding.cell(cell) for cell in ref.index)
        assert ref.kind == "rows", ref
        return [self._row(step) for step in ref.index]

    def _row(self, step: PlanStep) -> tuple[Any, ...]:
        body, arguments = self.run.binding.call(step.node)
        conditions = tuple(self.run.binding.cell(cell) for cell in step.conditions)
        return (step.node, *conditions, body, *arguments)


def any_present(cells: Iterable[Reader]) -> bool:
    """Whether one of many cells is present."""
    for cell in cells:
        if cell.is_present:
            return True
    return False
