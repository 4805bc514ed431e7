"""From a plan to a function: names in a schedule's source become cells and calls of one worker."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

from reactorlib.elaboration.records import Node
from reactorlib.schedule.compiler import IN_ROW, Compiler, Ref, Source
from reactorlib.schedule.plan import NodeCall, Plan
from reactorlib.transport import generated
from reactorlib.transport.debug import DEBUG
from reactorlib.worker.cells import Reader
from reactorlib.worker.worker import Worker

# Makes the action of a send or wait, from its cells and the other worker.
Crossing = Callable[[list[Reader], int], Callable[[], None]]


class Loader:
    """Writes and loads schedules for one worker, and finds the reaction that a traceback came from."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker
        self.compiler = Compiler(worker.program, traced=worker.recorder is not None)
        # By the id of its code, each schedule with its source. The codes of two schedules may be equal.
        self._loaded: dict[int, tuple[Any, Source]] = {}
        self._objects: dict[str, Callable[[Ref], Any]] = {
            "cell": lambda ref: worker.cell(ref.index),
            "call": lambda ref: worker.call(ref.index)[0],
            "argument": lambda ref: worker.method(ref.index)[1][ref.part],
            "event": lambda ref: worker.events[ref.index],
            "mode": lambda ref: worker.mode_states[ref.index],
            "cells": lambda ref: tuple(map(worker.cell, ref.index)),
            "rows": lambda ref: list(map(self._row, ref.index)),
        }

    def load(
        self, plan: Plan, crossings: tuple[Crossing, Crossing] | None = None, pauses: bool = False, **extra: Any
    ) -> Any:
        """The schedule of a plan, which may be this worker's part. `crossings` make its sends and its waits.

        With `pauses` it is a PausingSchedule. `extra` has objects for further names.
        """
        scheduler = self.worker.scheduler
        source = self.compiler.write(plan, pauses)
        objects = {"later": scheduler.at, "switch": scheduler.end_tag, "arrive": self.worker.arrive}
        make = self._objects
        if crossings is not None:
            send, wait = crossings
            make = make | {
                "send": lambda ref: send([*map(self.worker.cell, ref.index.cells)], ref.index.to),
                "wait": lambda ref: wait([*map(self.worker.cell, ref.index.cells)], ref.index.of),
            }
        named = {name: make[ref.kind](ref) for name, ref in source.names.items() if ref.kind != "column"}
        schedule = generated.loaded(source.name, source.text, {**objects, **extra, **named}, "schedule")
        self._loaded[id(schedule.__code__)] = schedule, source
        return self._leaving_nothing_present(schedule) if DEBUG and not pauses and not self.worker.number else schedule

    def _leaving_nothing_present(self, schedule: Any) -> Any:
        """A schedule of worker 0 after which every cell is absent, but for those that a session reads."""
        kept = frozenset(self.worker.program.outputs.values())

        def checked(time: int, soon: Any) -> Any:
            ends = schedule(time, soon)
            left = [cell.path for number, cell in self.worker.cells.items() if cell.is_present and number not in kept]
            assert not left, f"present after the end of a tag: {', '.join(left)}"
            return ends

        return checked

    def forget(self) -> None:
        """Drop all schedules with the objects that they refer to. Tracebacks can still show their source."""
        for schedule, _ in self._loaded.values():
            generated.emptied(schedule)
        self._loaded.clear()

    def failed(self, traceback: TracebackType | None) -> Node | None:
        """The node of a loaded schedule that raised the exception with this traceback."""
        while traceback is not None:
            loaded = self._loaded.get(id(traceback.tb_frame.f_code))
            if loaded is not None:
                node = loaded[1].node_at.get(traceback.tb_lineno)
                return traceback.tb_frame.f_locals["index"] if node == IN_ROW else node
            traceback = traceback.tb_next
        return None

    def _row(self, call: NodeCall) -> tuple[Any, ...]:
        run, arguments = self.worker.call(call.node)
        return (call.node, *map(self.worker.cell, call.conditions), run, *arguments)
