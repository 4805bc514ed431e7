"""Modes at run time: which are active, and how a switch affects timers, actions and delayed connections.

In a mode that is not active local time stands still: its events wait with their remaining delays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from reactorlib.elaboration.records import Elaborated
from reactorlib.worker.cells import Event
from reactorlib.worker.modal_queue import ModalQueue


class ModeState:
    """`active`: this mode and all around it are current. `entered`: it ever was. `fresh`: its timers are to be queued
    when it becomes active, at its first entry and after a reset.
    """

    __slots__ = ("active", "entered", "fresh")

    def __init__(self) -> None:
        self.active = self.entered = False
        self.fresh = True


class Modes:
    """The modes of one run."""

    def __init__(self, program: Elaborated, queue: ModalQueue, events: Iterable[Event]) -> None:
        self.program = program
        self.queue = queue
        self.states = [ModeState() for _ in program.modes]
        self._current = {mode.siblings: index for index, mode in enumerate(program.modes) if mode.initial}
        self._requested: dict[tuple[int, ...], tuple[int, bool]] = {}
        self._reset_due: set[int] = set()  # modes that were reset while not active
        # By mode that is not active: its events with their delays. `new`: scheduled since, and not yet spaced.
        self._waiting: dict[int, list[tuple[bool, int, Event, Any]]] = defaultdict(list)
        self._spacing: dict[Event, int | None] = {}  # of events whose mode is not active: see Queue.pause_spacing
        self._event_at = {event.trigger.cell: event for event in events}
        self.version = 0  # how often modes were switched
        self.watchers: list[set[int]] = []  # each takes in the modes that are reset
        self._members: list[list[Event]] = [[] for _ in program.modes]
        for event in events:
            if event.mode is not None:
                self._members[event.mode].append(event)
        self._within: list[list[int]] = [[] for _ in program.modes]  # the modes directly within each
        for index, mode in enumerate(program.modes):
            if mode.parent is not None:
                self._within[mode.parent].append(index)
        self._activate(range(len(self.states)))

    def is_active(self, mode: int | None) -> bool:
        return mode is None or self.states[mode].active

    def request(self, mode: int, history: bool) -> None:
        """A reaction switches to `mode`: the last request at a tag wins."""
        self._requested[self.program.modes[mode].siblings] = mode, history

    def hold(self, event: Event, delay: int, value: Any) -> None:
        """Keep an event scheduled for a mode that is not active."""
        assert event.mode is not None
        self._waiting[event.mode].append((True, delay, event, value))

    def start(self) -> None:
        """Queue startup and timers of the modes active at the start of the run."""
        for index, state in enumerate(self.states):
            if state.active:
                self._enter(index)

    def apply(self) -> None:
        """Carry out the switches requested at this tag. The new modes are active from the next microstep on."""
        if not self._requested:
            return
        requests, self._requested = self._requested, {}
        self.version += 1
        restarted = self._make_current(requests)
        concerned = sorted(self._and_within(mode for siblings in requests for mode in siblings))
        self._activate(concerned)
        active = [mode for mode in concerned if self.states[mode].active]  # parents before modes within them
        self._suspend({*concerned}.difference(active) | restarted)
        self._reset(restarted)
        for mode in active:
            if mode in self._reset_due:
                self._reset_due.discard(mode)
                self._signal(self.program.modes[mode].reset)
            self._enter(mode)
        for mode in active:
            self._resume(mode)

    def _make_current(self, requests: dict[tuple[int, ...], tuple[int, bool]]) -> set[int]:
        """Note which modes are current from now on. Returns the modes that restart, with all within them."""
        self._current.update((siblings, mode) for siblings, (mode, _) in requests.items())
        restarted = self._and_within(mode for mode, history in requests.values() if not history)
        for mode in restarted:
            record = self.program.modes[mode]
            if record.parent in restarted and record.initial:
                self._current[record.siblings] = mode
        return restarted

    def _and_within(self, modes: Iterable[int]) -> set[int]:
        """These modes, and all that are nested in them."""
        found = list(modes)
        for mode in found:
            found += self._within[mode]
        return set(found)

    def _activate(self, modes: Iterable[int]) -> None:
        for index in modes:  # parents come before what they contain
            record = self.program.modes[index]
            around = record.parent is None or self.states[record.parent].active
            self.states[index].active = around and self._current.get(record.siblings) == index

    def _reset(self, modes: set[int]) -> None:
        """Give modes that restart their first states, without waiting events."""
        for watcher in self.watchers:
            watcher.update(modes)
        due: set[int] = set()  # entered by the reset: a mode that waits within one that is not current is not
        for mode in sorted(modes):
            self.states[mode].fresh = True
            reset_states(self.program, mode)
            self._waiting.pop(mode, None)
            for event in self._members[mode]:
                self._spacing.pop(event, None)
            record = self.program.modes[mode]
            if self._current[record.siblings] == mode and (record.parent not in modes or record.parent in due):
                due.add(mode)
        self._reset_due = self._reset_due - modes | due

    def _suspend(self, modes: set[int]) -> None:
        """Take the pending events of these modes out of the queue."""
        members = {event: mode for mode in modes for event in self._members[mode]}
        for delay, event, value in self.queue.extract(members):
            self._waiting[members[event]].append((False, delay, event, value))
        for event in members:
            if event.trigger.min_spacing is not None and event not in self._spacing:
                self._spacing[event] = self.queue.pause_spacing(event)

    def _resume(self, mode: int) -> None:
        """Put back the waiting events of a mode, and schedule those that are new."""
        for event in self._members[mode]:
            if event in self._spacing:
                self.queue.resume_spacing(event, self._spacing.pop(event))
        for new, delay, event, value in self._waiting.pop(mode, ()):
            if new:
                self.queue.schedule_at(event, self.queue.time + delay, value)
            else:
                self.queue.resume(event, delay, value)

    def _enter(self, mode: int) -> None:
        """Queue startup of an active mode the first time, and its timers when they are fresh."""
        state = self.states[mode]
        if not state.entered:
            state.entered = True
            self._signal(self.program.modes[mode].startup)
        if state.fresh:
            state.fresh = False
            for event in self._members[mode]:
                if event.trigger.kind == "timer":
                    self.queue.at(event, self.queue.time + event.trigger.delay, None)

    def _signal(self, cell: int | None) -> None:
        if cell is not None:
            self.queue.at(self._event_at[cell], self.queue.time, None)


def reset_states(program: Elaborated, mode: int) -> None:
    """Give every `State(reset=True)` of a mode the value that the constructor left."""
    for restore in program.reset_states.get(mode, ()):
        restore()
