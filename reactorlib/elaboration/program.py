"""The frozen Program and its records: instances, cells, reactions, triggers, modes, order. Holds data, makes none."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.instance import BoundPort, Instance
from reactorlib.declaration.reactor import Reactor

# A cell holds one value: the channels of ports first, numbered in order of elaboration, then the triggers.
Cell = int

TriggerKind = Literal["startup", "shutdown", "reset", "timer", "logical", "physical", "delay", "physical delay"]


@dataclass(frozen=True, slots=True)
class Trigger:
    """What an event can be for: it has a cell, and the event queue carries it. Times in ns."""

    kind: TriggerKind
    cell: Cell
    path: str
    mode: int | None = None
    delay: int = 0  # offset of a timer, minimum delay of an action, `after` of a connection
    period: int = 0
    min_spacing: int | None = None
    policy: str = "defer"
    source: Cell | None = None  # of a delayed connection


@dataclass(frozen=True, slots=True)
class Argument:
    """What one argument of a reaction is bound to: `cells` read or set, or one action, or one mode."""

    kind: Literal["read", "set", "schedule", "switch"]
    path: str
    cells: tuple[Cell, ...] = ()
    multi: bool = False
    mode: int = -1
    history: bool = False
    reads: bool = False


@dataclass(frozen=True, slots=True)
class ReactionInstance:
    """One reaction of one reactor: cells by number, everything that the schedule of a tag needs to know."""

    index: int
    path: str
    instance: Instance
    declaration: Reaction[Any]
    arguments: tuple[Argument, ...]
    triggers: tuple[Cell, ...]
    reads: tuple[Cell, ...]
    writes: tuple[Cell, ...]
    deadline: int | None
    mode: int | None
    own_mode: int | None  # the mode of its own reactor that it is declared in


@dataclass(frozen=True, slots=True)
class Forward:
    """A value copied from cell to cell: into a mutable input, or along a connection that a mode guards."""

    source: Cell
    target: Cell
    copy: bool
    mode: int | None
    path: str


@dataclass(frozen=True, slots=True)
class ModeInstance:
    """A mode of one reactor; `parent` is the mode that this reactor itself lies in."""

    path: str
    instance: Instance
    name: str
    initial: bool
    parent: int | None
    siblings: tuple[int, ...]
    startup: int | None  # cells of its own startup and reset triggers, where a reaction wants them
    reset: int | None


@dataclass(frozen=True, slots=True)
class ResetState:
    """An attribute of a reactor that a reset of its mode restores: `restored()` is its value."""

    reactor: Reactor
    name: str
    restored: Callable[[], Any]


@dataclass(frozen=True, slots=True)
class Order:
    """The static order of everything that runs: `rank[i]` of reaction i, or of forward i - len(reactions)."""

    level: tuple[int, ...]
    deadline: tuple[int | None, ...]  # inferred: the earliest of its own and those downstream
    rank: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Program:
    """A reactor class and its parameters, elaborated: instances, cells, reactions, triggers, levels. Immutable.

    Running it twice runs the constructors twice. `source` shows the schedule that the compiler writes.

    >>> from reactorlib import Reactor, elaborate, reaction, startup
    >>> class Hello(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print("hello")
    >>> program = elaborate(Hello)
    >>> program.reactions[0].path
    'Hello.begin'
    """

    cls: type[Reactor]
    parameters: dict[str, Any]
    root: Instance
    instances: tuple[Instance, ...]
    ports: tuple[BoundPort, ...]
    port_starts: tuple[int, ...]
    channels: int
    cell_of: tuple[Cell, ...]  # channel number -> the cell that it aliases
    cell_paths: dict[Cell, str]
    reactions: tuple[ReactionInstance, ...]
    forwards: tuple[Forward, ...]
    triggers: tuple[Trigger, ...]
    modes: tuple[ModeInstance, ...]
    reset_states: dict[int, tuple[ResetState, ...]]  # by mode
    order: Order
    cells: int

    def cell_path(self, cell: Cell) -> str:
        """The path of the port or trigger whose value a cell holds."""
        found = self.cell_paths.get(cell)
        if found is None:
            position = bisect_right(self.port_starts, cell) - 1
            port = self.ports[position]
            found = port.channel_path(cell - port.first)
        return found

    def node_path(self, node: int) -> str:
        """The path of a reaction, or of the port that a forward copies into."""
        count = len(self.reactions)
        return self.reactions[node].path if node < count else self.forwards[node - count].path

    def source(self, *triggers: str, workers: int = 1) -> str:
        """The Python source of the schedule for these simultaneous triggers, by path (default: startup).

        A timer or action is named "Main.hub.tick", a delayed connection by its source port, and "startup"
        and "shutdown" by themselves. With several `workers`, first who lives where, then the schedule of
        each worker with its sends and waits. Raises ReactorError for an unknown name.
        """
        from reactorlib.schedule.inspection import source_of

        return source_of(self, triggers or ("startup",), workers)

    def _repr_html_(self) -> str:
        from reactorlib.view.diagram import html_of

        return html_of(self)
