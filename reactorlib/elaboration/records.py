"""The frozen records of a program: instances, cells, reactions, triggers, modes, dependencies, order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.instance import Bound, BoundPort, Instance, PortChannel
from reactorlib.declaration.reactor import Reactor

# A cell holds one value: the channels of ports first, numbered in order of elaboration, then the triggers.
Cell = int
# A channel of a port by its number. It is a cell of its own, unless a connection makes it the alias of another cell.
Channel = int
# A node runs at a tag: a reaction by its index, or a Forward (below) by len(reactions) + its index.
Node = int


class Trigger(NamedTuple):
    """A trigger has a cell, and the event queue carries its events. Times in ns.

    Its kind is startup, shutdown, reset, timer, logical, physical, delay or physical delay, or input: a channel of an
    input of the main reactor, which a session may set.
    """

    kind: str
    cell: Cell
    path: str
    mode: int | None = None
    delay: int = 0  # offset of a timer, minimum delay of an action, `after` of a connection
    period: int = 0
    min_spacing: int | None = None
    policy: str = "defer"
    source: Cell | None = None  # of a delayed connection


class Argument(NamedTuple):
    """One argument of a reaction: the `cells` of a port that it reads or sets, one timer or action, or one mode.

    A contained reactor or bank (`multi`) has in `members` the ports that are named of each. `cells` are those it reads.
    """

    kind: Literal["read", "set", "schedule", "switch", "contained"]
    path: str
    cells: tuple[Cell, ...] = ()
    multi: bool = False
    mode: int = -1
    history: bool = False  # whether it enters the mode by history
    is_read: bool = False  # whether an action or timer is a trigger or a use
    elements: tuple[Bound, ...] = ()  # the element that it names, or that of each member of a bank
    members: tuple[tuple[Argument, ...], ...] = ()

    @property
    def name(self) -> str:
        return self.path.rpartition(".")[2]


class ReactionInstance(NamedTuple):
    """One reaction of one reactor: cells by number, everything that the schedule of a tag needs to know."""

    index: int  # type: ignore[assignment]  # not the method of tuples
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

    @property
    def is_plain(self) -> bool:
        """Whether a call of its body is all that it takes to run it."""
        return self.deadline is None and self.mode is None

    @property
    def leaves(self) -> Iterator[Argument]:
        """The arguments. Of a contained reactor, those of its ports."""
        for argument in self.arguments:
            if not argument.members:
                yield argument
            for ports in argument.members:
                yield from ports

    def channels_of(self, cell: Cell) -> Iterator[PortChannel]:
        """The channels of ports by which it reads a cell."""
        for leaf in self.leaves:
            channels = [channel for port in leaf.elements if isinstance(port, BoundPort) for channel in port.channels]
            if leaf.kind == "read":
                yield from (channel for channel, read in zip(channels, leaf.cells, strict=False) if read == cell)


class Forward(NamedTuple):
    """A copy from cell to cell: to a mutable input, along a connection of a mode, or out of the main reactor."""

    source: Cell
    target: Cell
    copy: bool
    mode: int | None
    path: str


class ModeInstance(NamedTuple):
    """A mode of one reactor; `parent` is the mode that this reactor itself lies in."""

    path: str
    name: str
    initial: bool
    parent: int | None
    siblings: tuple[int, ...]


class DependencyGraph:
    """Which node reads, sets and hears of which cell. All that asks for dependencies asks here.

    Cells stand between nodes, so the graph stays linear in ports and connections however many nodes share a value.
    """

    def __init__(
        self, reactions: Sequence[ReactionInstance], forwards: Sequence[Forward], triggers: Sequence[Trigger]
    ) -> None:
        self._reactions = reactions
        self._forwards = forwards
        self.count = len(reactions)
        self.reads: list[tuple[Cell, ...]] = [r.reads for r in reactions] + [(f.source,) for f in forwards]
        self.writes: list[tuple[Cell, ...]] = [r.writes for r in reactions] + [(f.target,) for f in forwards]
        self.readers = _by_cell(self.reads)
        self.writers = _by_cell(self.writes)
        self.heard_by = _by_cell([*(r.triggers for r in reactions), *self.reads[self.count :]])
        self.captured_by: dict[Cell, list[int]] = defaultdict(list)  # the delayed connections of a cell
        for index, trigger in enumerate(triggers):
            if trigger.source is not None:
                self.captured_by[trigger.source].append(index)
        self.shutdown = next(index for index, trigger in enumerate(triggers) if trigger.kind == "shutdown")
        self._shutdown_cell = triggers[self.shutdown].cell

    def reaction(self, node: Node) -> ReactionInstance | None:
        return self._reactions[node] if node < self.count else None

    def forward(self, node: Node) -> Forward:
        return self._forwards[node - self.count]

    def hears_shutdown(self, reaction: ReactionInstance) -> bool:
        return self._shutdown_cell in reaction.triggers

    def origins(self, cells: Iterable[Cell]) -> list[Cell]:
        """These cells, and those that forwards copy into them."""
        found = dict.fromkeys(cells)
        waiting = list(found)
        for cell in waiting:
            for node in self.writers.get(cell, ()):
                if node >= self.count and (source := self.forward(node).source) not in found:
                    found[source] = None
                    waiting.append(source)
        return waiting


def _by_cell(cells_of: Iterable[Iterable[Cell]]) -> dict[Cell, list[Node]]:
    found: dict[Cell, list[Node]] = defaultdict(list)
    for node, cells in enumerate(cells_of):
        for cell in cells:
            found[cell].append(node)
    return found


class Order(NamedTuple):
    """The static order of all nodes. They run by rank; those of one `level` do not depend on each other."""

    level: tuple[int, ...]
    rank: tuple[int, ...]


class Cycle(NamedTuple):
    """The reason why a program has no order: a causality cycle, or connections between ports in a ring.

    `channels` carry values around the cycle. `order` has pairs of reactions of one reactor: there the cycle passes from
    one reaction to the next without a value.
    """

    reactions: frozenset[int] = frozenset()
    channels: frozenset[Channel] = frozenset()
    order: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Elaborated:
    """A reactor class and its parameters as a program: instances, cells, reactions, triggers, levels. Immutable."""

    cls: type[Reactor]
    parameters: dict[str, Any]
    root: Instance
    instances: tuple[Instance, ...]
    cell_of: tuple[Cell, ...]  # channel number -> the cell that it aliases
    cell_path: Callable[[Cell], str]  # the path of the port or trigger whose value it holds
    outputs: dict[Channel, Cell]  # channel of an output of the main reactor -> the cell that a session reads
    reactions: tuple[ReactionInstance, ...]
    forwards: tuple[Forward, ...]
    triggers: tuple[Trigger, ...]
    modes: tuple[ModeInstance, ...]
    reset_states: dict[int, list[Callable[[], None]]]  # by mode: each gives a state the value that its constructor left
    graph: DependencyGraph
    order: Order
    cycle: Cycle
    unused: list[bool] = field(default_factory=lambda: [True])  # empty once an execution has taken the reactors
