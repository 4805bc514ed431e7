"""Modes at run time: which are active, and how a switch affects timers, actions and delayed connections.

In a mode that is not active, local time stands still, and its events wait with their remaining delays. For this
semantics, see Schulz-Rosengarten et al., "Polyglot modal models through Lingua Franca" (CPS-IoT Week, 2023).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from reactorlib.elaboration.records import Elaborated
from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import ModalQueue, Queue, Waiting


class ModeState:
    """`active`: this mode and all around it are current. `entered`: it ever was.

    To be queued when it becomes active: `fresh`, its timers, and `reset_due`, its reset trigger.
    """

    __slots__ = ("active", "entered", "fresh", "reset_due")

    def __init__(self) -> None:
        self.active = self.entered = self.reset_due = False
        self.fresh = True


class Modes:
    """The modes of one run. Events outside of modes are in mode None, which is entered at the start."""

    def __init__(self, program: Elaborated, queue: Queue, events: Iterable[Event]) -> None:
        self.program = program
        self.queue = queue
        self.states = [ModeState() for _ in program.modes]
        self._current = {mode.siblings: index for index, mode in enumerate(program.modes) if mode.initial}
        self._requested: dict[tuple[int, ...], tuple[int, bool]] = {}
        self._waiting: dict[int, list[Waiting]] = defaultdict(list)  # by mode that is not active
        self.version = 0  # how often modes were switched
        self.watchers: list[set[int]] = []  # each takes in the modes that are reset
        self._members: dict[int | None, list[Event]] = defaultdict(list)
        for event in events:
            self._members[event.mode].append(event)
        self._within: dict[int | None, list[int]] = defaultdict(list)  # the modes directly within each
        for index, mode in enumerate(program.modes):
            self._within[mode.parent].append(index)
        self._activate(range(len(self.states)))

    def request(self, mode: int, history: bool) -> None:
        """A reaction switches to `mode`: the last request at a tag wins."""
        self._requested[self.program.modes[mode].siblings] = mode, history

    def hold(self, event: Event, delay: int, value: Any) -> bool:
        """Keep an event of a mode that is not active, to be scheduled later. False: its mode is active."""
        if event.mode is None or self.states[event.mode].active:
            return False
        self._waiting[event.mode].append((self.queue.schedule_at, delay, event, value))
        return True

    def start(self) -> None:
        """Queue startup and timers that are active at the start of the run."""
        self._enter(None, ModeState())
        for index, state in enumerate(self.states):
            if state.active:
                self._enter(index, state)

    def apply(self) -> None:
        """Carry out the switches requested at this tag. The new modes are active from the next microstep on."""
        if not self._requested:
            return
        assert isinstance(self.queue, ModalQueue)
        requests, self._requested = self._requested, {}
        self.version += 1
        restarted = self._make_current(requests)
        concerned = sorted(self._and_within(mode for siblings in requests for mode in siblings))
        self._activate(concerned)
        active = [mode for mode in concerned if self.states[mode].active]  # parents before modes within them
        for mode in {*concerned}.difference(active) | restarted:
            self._waiting[mode] += self.queue.extract(self._members[mode])
        self._reset(restarted)
        for mode in active:
            self._enter(mode, self.states[mode])
        for mode in active:
            for put, delay, event, value in self._waiting.pop(mode, ()):
                put(event, self.queue.time + delay, value)

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
        for mode in sorted(modes):
            for restore in self.program.reset_states.get(mode, ()):
                restore()
            self._waiting.pop(mode, None)
            state, record = self.states[mode], self.program.modes[mode]
            state.fresh = True
            # Entered by the reset. A mode that waits within one that is not current is not.
            entered = record.parent not in modes or self.states[record.parent].reset_due
            state.reset_due = entered and self._current[record.siblings] == mode

    def _enter(self, mode: int | None, state: ModeState) -> None:
        """Queue reset, startup and timers of an active mode, each when it is due."""
        due = {"reset": state.reset_due, "startup": not state.entered, "timer": state.fresh}
        for event in self._members[mode]:
            if due.get(event.trigger.kind):
                self.queue.at(event, self.queue.time + event.trigger.delay, None)
        state.entered, state.fresh, state.reset_due = True, False, False
