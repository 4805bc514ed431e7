"""What the names in a schedule stand for on one worker: the cells and bound methods of its side of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from time import perf_counter_ns
from types import CodeType, TracebackType
from typing import Any, Protocol

from reactorlib.clock import Clock
from reactorlib.schedule.compiler import IN_ROW, Ref, Source, load
from reactorlib.schedule.plan import Node
from reactorlib.schedule.plan import Step as PlanStep
from reactorlib.worker.binding import Binding
from reactorlib.worker.cells import Event, Reader
from reactorlib.worker.context import Context
from reactorlib.worker.events import Step
from reactorlib.worker.modes import ModeState
from reactorlib.worker.trace import Recorder

Schedule = Callable[[int, Step], bool]
SHOWN_BY_TRACEBACKS = frozenset(("__name__", "__loader__"))


class Side(Protocol):
    """One worker's side of a run: what its schedules refer to."""

    started: int
    clock: Clock
    context: Context
    recorder: Recorder | None
    binding: Binding

    @property
    def mode_states(self) -> list[ModeState]: ...
    def later(self, time: int, event: Event, value: Any) -> None: ...
    def switch(self) -> None: ...
    def physical_connection(self, event: Event, value: Any) -> None: ...


class Schedules:
    """Loads schedules for one side, and finds the reaction that a traceback came from."""

    def __init__(self, side: Side) -> None:
        self.side = side
        self._sources: dict[CodeType, Source] = {}
        self._loaded: list[Schedule] = []

    def load(self, source: Source, extra: dict[str, Any], cross: Callable[[Ref], Any] | None = None) -> Schedule:
        """The callable of a source; `cross` gives the objects of sends and waits, `extra` further names."""
        side = self.side
        objects: dict[str, Any] = {
            "later": side.later,
            "started": side.started,
            "physical": side.clock.now,
            "context": side.context,
            "switch": side.switch,
            "physical_connection": side.physical_connection,
            "deepcopy": deepcopy,
            "any_present": any_present,
            "clock": perf_counter_ns,
            **extra,
        }
        if side.recorder is not None:
            objects["record"] = side.recorder.record
        for name, ref in source.names.items():
            objects[name] = cross(ref) if cross is not None and ref.kind in ("send", "wait") else self._object(ref)
        schedule = load(source, objects)
        self._sources[schedule.__code__] = source
        self._loaded.append(schedule)
        return schedule

    def forget(self) -> None:
        """All schedules are dropped, and with them what they refer to; tracebacks can still show their source."""
        for schedule in self._loaded:
            names = schedule.__globals__
            for name in names.keys() - SHOWN_BY_TRACEBACKS:
                del names[name]
        self._loaded.clear()
        self._sources.clear()

    def failed(self, traceback: TracebackType | None) -> Node | None:
        """The reaction of a loaded schedule, or the copy for a mutable input, that raised what has this traceback."""
        while traceback is not None:
            source = self._sources.get(traceback.tb_frame.f_code)
            if source is not None:
                node = source.node_at.get(traceback.tb_lineno)
                return traceback.tb_frame.f_locals["index"] if node == IN_ROW else node
            traceback = traceback.tb_next
        return None

    def _object(self, ref: Ref) -> Any:
        binding = self.side.binding
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
            return self.side.mode_states[ref.index]
        if ref.kind == "cells":
            return tuple(binding.cell(cell) for cell in ref.index)
        assert ref.kind == "rows", ref
        return [self._row(step) for step in ref.index]

    def _row(self, step: PlanStep) -> tuple[Any, ...]:
        body, arguments = self.side.binding.call(step.node)
        conditions = tuple(self.side.binding.cell(cell) for cell in step.conditions)
        return (step.node, *conditions, body, *arguments)


def any_present(cells: Iterable[Reader]) -> bool:
    """Whether one of many cells is present."""
    return any(cell.is_present for cell in cells)
