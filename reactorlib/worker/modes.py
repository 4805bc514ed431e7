"""Modes at run time: which are active, and what a switch does to timers, actions and delayed connections.

Local time stands still in a mode that is not active: its events are taken out of the queue with the delays
that remained, and put back when it is entered by history.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reactorlib.elaboration.program import Program
from reactorlib.worker.cells import Event
from reactorlib.worker.events import Queue


class ModeState:
    """`active`: this mode and all around it are current. `entered`: it ever was. `fresh`: its timers never ran."""

    __slots__ = ("active", "entered", "fresh")

    def __init__(self) -> None:
        self.active = False
        self.entered = False
        self.fresh = True


class Modes:
    """The modes of one run."""

    def __init__(self, program: Program, queue: Queue) -> None:
        self.program = program
        self.queue = queue
        self.states = [ModeState() for _ in program.modes]
        self._current = {mode.siblings: index for index, mode in enumerate(program.modes) if mode.initial}
        self._requested: dict[tuple[int, ...], tuple[int, bool]] = {}
        self._reset_due: set[int] = set()  # modes reset while what is around them was not active
        self._suspended: list[tuple[int, Event, Any]] = []  # what was in the queue when its mode was left
        self._held: list[tuple[int, Event, Any]] = []  # what was scheduled since: its minimum spacing is still due
        self._spacing: dict[Event, int | None] = {}  # of events whose mode is not active: see Queue.pause_spacing
        self._members: dict[int, list[Event]] = {index: [] for index in range(len(program.modes))}
        self._event_at: dict[int, Event] = {}
        self.version = 0  # how often modes were switched
        self.watchers: list[set[int]] = []  # each takes in the modes that are reset

    def bind(self, events: Iterable[Event]) -> None:
        """Take the events of this run, and activate what is active from the start."""
        for event in events:
            if event.mode is not None:
                self._members[event.mode].append(event)
            self._event_at[event.trigger.cell] = event
        self._activate()

    def is_active(self, mode: int | None) -> bool:
        return mode is None or self.states[mode].active

    def request(self, mode: int, history: bool) -> None:
        """A reaction switches to `mode`: the last request at a tag wins."""
        self._requested[self.program.modes[mode].siblings] = mode, history

    def hold(self, event: Event, delay: int, value: Any) -> None:
        """Keep an event scheduled for a mode that is not active: its local time stands still."""
        self._held.append((delay, event, value))

    def start(self) -> None:
        """Queue startup and timers of the modes active at the start of the run."""
        for index, state in enumerate(self.states):
            if state.active:
                self._enter(index)

    def apply(self) -> None:
        """Carry out the switches requested at this tag; the new modes are active from the next microstep on."""
        if not self._requested:
            return
        requests, self._requested = self._requested, {}
        self.version += 1
        restarted: set[int] = set()
        for siblings, (mode, history) in requests.items():
            self._current[siblings] = mode
            if not history:
                restarted.add(mode)
                restarted |= self._inside(mode)
        for mode in restarted:
            record = self.program.modes[mode]
            if record.parent in restarted and record.initial:
                self._current[record.siblings] = mode
        self._forget(restarted)
        self._activate()
        self._suspend()
        for mode in sorted(restarted):
            self.states[mode].fresh = True
            reset_states(self.program, mode)
        for watcher in self.watchers:
            watcher.update(restarted)
        self._reset_due |= {mode for mode in restarted if self._current[self.program.modes[mode].siblings] == mode}
        for mode, state in enumerate(self.states):
            if state.active:
                if mode in self._reset_due:
                    self._reset_due.discard(mode)
                    self._signal(self.program.modes[mode].reset)
                self._enter(mode)
        self._resume()

    def _inside(self, mode: int) -> set[int]:
        """All modes nested in a mode."""
        found: set[int] = set()
        for index, record in enumerate(self.program.modes):
            at = record.parent
            while at is not None and at != mode:
                at = self.program.modes[at].parent
            if at == mode:
                found.add(index)
        return found

    def _activate(self) -> None:
        for index, record in enumerate(self.program.modes):  # parents come before what they contain
            around = record.parent is None or self.states[record.parent].active
            self.states[index].active = around and self._current.get(record.siblings) == index

    def _forget(self, modes: set[int]) -> None:
        self.queue.extract(lambda event: event.mode in modes)
        self._suspended = [kept for kept in self._suspended if kept[1].mode not in modes]
        self._held = [kept for kept in self._held if kept[1].mode not in modes]
        for mode in modes:
            for event in self._members[mode]:
                self.queue.pause_spacing(event)
                self._spacing.pop(event, None)

    def _suspend(self) -> None:
        taken = self.queue.extract(lambda event: not self.is_active(event.mode))
        self._suspended += [(delay, event, value) for delay, _, event, value in taken]
        for event in self._spaced():
            if not self.is_active(event.mode) and event not in self._spacing:
                self._spacing[event] = self.queue.pause_spacing(event)

    def _resume(self) -> None:
        for event in self._spaced():
            if self.is_active(event.mode) and event in self._spacing:
                self.queue.resume_spacing(event, self._spacing.pop(event))
        for delay, event, value in self._taken(self._suspended):
            self.queue.resume(event, delay, value)
        for delay, event, value in self._taken(self._held):
            self.queue.schedule_at(event, self.queue.time + delay, value)

    def _taken(self, waiting: list[tuple[int, Event, Any]]) -> list[tuple[int, Event, Any]]:
        """What need not wait any longer, taken from the list."""
        taken = [kept for kept in waiting if self.is_active(kept[1].mode)]
        waiting[:] = [kept for kept in waiting if not self.is_active(kept[1].mode)]
        return taken

    def _spaced(self) -> list[Event]:
        return [
            event for members in self._members.values() for event in members if event.trigger.min_spacing is not None
        ]

    def _enter(self, mode: int) -> None:
        """Start what starts with a mode that is active: startup the first time, timers when they are fresh."""
        state = self.states[mode]
        if not state.entered:
            state.entered = True
            self._signal(self.program.modes[mode].startup)
        if state.fresh:
            state.fresh = False
            for event in self._members[mode]:
                if event.trigger.kind == "timer":
                    self.queue.at(self.queue.time + event.trigger.delay, event, None)

    def _signal(self, cell: int | None) -> None:
        if cell is not None:
            self.queue.at(self.queue.time, self._event_at[cell], None)


def reset_states(program: Program, mode: int) -> None:
    """Give every `State(reset=True)` of a mode the value that the constructor left."""
    for state in program.reset_states.get(mode, ()):
        setattr(state.reactor, state.name, state.restored())
