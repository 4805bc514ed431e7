"""From ports and connections to cells and triggers: the cell of each channel. Notes every fault."""

from __future__ import annotations

from typing import Any

from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.elements import (
    POLICIES,
    Action,
    Input,
    Mode,
    PhysicalAction,
    Signal,
    shutdown,
    startup,
)
from reactorlib.declaration.instance import (
    Bound,
    BoundAction,
    BoundMode,
    BoundPort,
    BoundTimer,
    Channel,
    Connection,
    Instance,
    modes_of,
)
from reactorlib.declaration.source_position import located
from reactorlib.elaboration.program import Cell, Forward, ModeInstance, ReactionInstance, Trigger, TriggerKind
from reactorlib.elaboration.validate import direction_fault


class Resolution:
    """The passes over the instances, in order. Once reactions are looked up, its fields are those of the program."""

    def __init__(self, instances: tuple[Instance, ...]) -> None:
        self.faults: list[str] = []
        self.paths: dict[Cell, str] = {}
        self.ports: list[BoundPort] = []
        self.reactions: list[ReactionInstance] = []
        self.forwards: list[Forward] = []
        self.triggers: list[Trigger] = []
        self.modes: list[ModeInstance] = []
        self.connections_to: dict[Cell, list[Connection]] = {}  # by target channel; several are of exclusive modes
        self.ringed: set[Cell] = set()  # channels whose connections lead back to themselves
        self.mode_index: dict[BoundMode, int] = {}
        self.trigger_of: dict[Bound | tuple[str, int | None], Trigger] = {}
        self._copies: dict[tuple[BoundPort, int, str], Cell] = {}
        self.channels = self._number_channels(instances)
        self.cells = self.channels
        self.alias: list[Cell] = list(range(self.channels))
        self._number_modes(instances)
        self._connect(instances)
        self._follow_aliases()
        for signal in (startup, shutdown):
            self.signal(signal, None)
        self.outputs: dict[Cell, Cell] = {}
        self._open(instances[0])

    def _number_channels(self, instances: tuple[Instance, ...]) -> int:
        channels = 0
        for instance in instances:
            for element in instance.elements.values():
                if isinstance(element, BoundPort):
                    self.ports.append(element)
                    element.first = channels
                    channels += element.width
        return channels

    def new_cell(self, path: str) -> Cell:
        """A cell beyond the channels: of a trigger, or the copy that a mutable input reads."""
        self.cells += 1
        self.paths[self.cells - 1] = path
        return self.cells - 1

    # Modes

    def _number_modes(self, instances: tuple[Instance, ...]) -> None:
        for instance in instances:
            modes = modes_of(instance)
            if not modes:
                continue
            first = len(self.modes)
            siblings = tuple(range(first, first + len(modes)))
            initial = [m.name for m in modes if _is_initial(m)]
            if len(initial) != 1:
                had = ", ".join(initial) or "none"
                self.faults.append(
                    f"{instance.path}: exactly one mode must be initial, got {had}{located(modes[0].declaration.where)}"
                )
            parent = self.mode_around(instance)
            for mode in modes:
                self.mode_index[mode] = len(self.modes)
                self.modes.append(
                    ModeInstance(mode.path, instance, mode.name, _is_initial(mode), parent, siblings, None, None)
                )

    def mode_around(self, instance: Instance) -> int | None:
        """The innermost mode that the whole instance lies in."""
        at: Instance | None = instance
        while at is not None:
            if at.mode is not None:
                return self.mode_index[at.mode]
            at = at.parent
        return None

    def mode_of(self, instance: Instance, declared: Mode | None) -> int | None:
        if declared is not None:
            bound = instance.elements.get(declared.name)
            if isinstance(bound, BoundMode):
                return self.mode_index[bound]
        return self.mode_around(instance)

    def freeze_modes(self) -> None:
        for index, mode in enumerate(self.modes):
            start, again = (self.trigger_of.get((name, index)) for name in ("startup", "reset"))
            self.modes[index] = mode._replace(
                startup=start.cell if start else None, reset=again.cell if again else None
            )

    # Connections

    def _connect(self, instances: tuple[Instance, ...]) -> None:
        for container in instances:
            for connection in container.connections:
                self._connect_one(container, connection)

    def _connect_one(self, container: Instance, connection: Connection) -> None:
        sources, targets = connection.sources, connection.targets
        turns, rest = divmod(len(targets), len(sources)) if sources else (0, 0)
        if not turns or rest or (turns > 1 and not connection.repeat):
            self.faults.append(
                f"{connection.where}: in {container.path}, {describe(sources)} does not fit {describe(targets)}: "
                f"the left side must be as wide as the right{', or repeat to it exactly' if connection.repeat else ''}"
            )
            return
        checked: set[tuple[BoundPort, str]] = set()
        delays: dict[Cell, Cell] = {}
        mode = None if connection.mode is None else self.mode_index[connection.mode]
        for position, (target, channel) in enumerate(targets):
            source, source_channel = sources[position % len(sources)]
            fault = self._direction(container, source, target, connection, checked)
            if fault:
                continue
            into = target.first + channel
            others = self.connections_to.setdefault(into, [])
            if not all(_exclusive(connection.mode, other.mode) for other in others):
                self.faults.append(
                    f"{target.channel_path(channel)} has two sources: {source_of(others[0], into)} "
                    f"and {source_of(connection, into)}"
                )
                continue
            others.append(connection)
            cell = source.first + source_channel
            if connection.after is not None or connection.physical:
                cell = self._delay(container, connection, source, source_channel, delays)
            if mode is None:
                self.alias[into] = cell
            else:
                self.forwards.append(Forward(cell, into, False, mode, target.channel_path(channel)))

    def _direction(
        self,
        container: Instance,
        source: BoundPort,
        target: BoundPort,
        connection: Connection,
        checked: set[tuple[BoundPort, str]],
    ) -> bool:
        faulty = False
        for port, side in ((source, "source"), (target, "target")):
            fault = direction_fault(container, port, side)
            if fault:
                faulty = True
                if (port, side) not in checked:
                    checked.add((port, side))
                    self.faults.append(f"{connection.where}: {fault}, in {source.path} -> {target.path}")
        return faulty

    def _delay(
        self,
        container: Instance,
        connection: Connection,
        source: BoundPort,
        channel: int,
        delays: dict[Cell, Cell],
    ) -> Cell:
        from_cell = source.first + channel
        if from_cell not in delays:
            path = source.channel_path(channel)
            mode = self.mode_around(container) if connection.mode is None else self.mode_index[connection.mode]
            kind: TriggerKind = "physical delay" if connection.physical else "delay"
            cell = self.new_cell(path)
            self.triggers.append(Trigger(kind, cell, path, mode, connection.after or 0, source=from_cell))
            delays[from_cell] = cell
        return delays[from_cell]

    def _follow_aliases(self) -> None:
        """Every channel to the cell at the far end of its chain of undelayed connections, in linear time."""
        alias = self.alias
        for channel in range(self.channels):
            at, chain = channel, []
            while at < self.channels and alias[at] != at:
                chain.append(at)
                if len(chain) > self.channels:
                    break  # ports connected in a ring: the order of dependencies reports it
                at = alias[at]
            if len(chain) > self.channels:
                where = located(next((connection.where for connection in self.connections_to.get(channel, ())), None))
                self.faults.append(f"{self.path_of_channel(channel)}: connections between ports form a ring{where}")
                self.ringed.update(chain[chain.index(chain[-1]) :])
                for link in set(chain):
                    alias[link] = link
                continue
            for link in chain:
                alias[link] = at
        self.forwards = [f._replace(source=self.cell(f.source)) for f in self.forwards]
        self.triggers = [t if t.source is None else t._replace(source=self.cell(t.source)) for t in self.triggers]

    def cell(self, number: Cell) -> Cell:
        """The cell that a channel aliases; a trigger's cell is its own."""
        return self.alias[number] if number < self.channels else number

    def path_of_channel(self, channel: Cell) -> str:
        for connection in self.connections_to.get(channel, ()):
            for port, index in connection.targets:
                if port.first + index == channel:
                    return port.channel_path(index)
        return f"channel {channel}"

    # Ports of the main reactor

    def _open(self, main: Instance) -> None:
        """Ports that a session sets and reads: inputs are triggers, outputs are copied out."""
        for port in main.elements.values():
            if not isinstance(port, BoundPort):
                continue
            for channel in range(port.width):
                cell, path = port.first + channel, port.channel_path(channel)
                if port.is_input:
                    self.triggers.append(Trigger("input", cell, path))
                else:
                    self.outputs[cell] = self.new_cell(path)
                    self.forwards.append(Forward(self.cell(cell), self.outputs[cell], False, None, path))

    # Triggers

    def make_triggers(self, instance: Instance) -> None:
        for element in instance.elements.values():
            declared = element.declaration
            mode = self.mode_of(instance, declared.mode)
            if isinstance(element, BoundTimer):
                self._add(element, Trigger("timer", self.new_cell(element.path), element.path, mode,
                                           element.offset, element.period))  # fmt: skip
            elif isinstance(element, BoundAction) and isinstance(declared, Action):
                policy = declared.policy or "defer"
                if policy not in POLICIES:
                    known = ", ".join(POLICIES)
                    self.faults.append(
                        f"{element.path}: unknown policy {policy!r}: one of {known}{located(declared.where)}"
                    )
                elif declared.policy is not None and element.min_spacing is None:
                    self.faults.append(
                        f"{element.path}: policy {policy!r} without a spacing: give it a min_spacing, such as 0"
                        f"{located(declared.where)}"
                    )
                kind: TriggerKind = "physical" if isinstance(declared, PhysicalAction) else "logical"
                self._add(element, Trigger(kind, self.new_cell(element.path), element.path, mode, element.min_delay,
                                           0, element.min_spacing, policy))  # fmt: skip

    def _add(self, key: Bound | tuple[str, int | None], trigger: Trigger) -> Trigger:
        self.trigger_of[key] = trigger
        self.triggers.append(trigger)
        return trigger

    def signal(self, signal: Signal, mode: int | None) -> Cell:
        key = (signal.name, None if signal.name == "shutdown" else mode)
        found = self.trigger_of.get(key)
        if found is None:
            path = signal.name if key[1] is None else f"{self.modes[key[1]].path}.{signal.name}"
            kind: TriggerKind = signal.name  # type: ignore[assignment]
            found = self._add(key, Trigger(kind, self.new_cell(path), path, key[1]))
        return found.cell

    # Reactions

    def read_cells(self, port: BoundPort, reader: Instance, reaction: Reaction[Any]) -> tuple[Cell, ...]:
        """The cells that a reaction of `reader` reads for a port; of a mutable input, copies that are its own."""
        cells = tuple(self.alias[port.first : port.first + port.width])
        declared = port.declaration
        if not (isinstance(declared, Input) and declared.mutable and port.owner is reader):
            return cells
        for channel, cell in enumerate(cells):
            if (port, channel, reaction.name) not in self._copies:
                path = port.channel_path(channel)
                copy = self._copies[port, channel, reaction.name] = self.new_cell(path)
                self.forwards.append(Forward(cell, copy, True, None, path))
        return tuple(self._copies[port, channel, reaction.name] for channel in range(port.width))

    def write_cells(self, port: BoundPort, writer: str, mode: BoundMode | None) -> tuple[Cell, ...]:
        """The cells that the reaction `writer` sets for a port, in this mode only; a second source is a fault."""
        for channel in range(port.width):
            number = port.first + channel
            for connection in self.connections_to.get(number, ()):
                if not _exclusive(connection.mode, mode):
                    self.faults.append(
                        f"{port.channel_path(channel)} has two sources: {source_of(connection, number)} "
                        f"and the reaction {writer}"
                    )
        return tuple(range(port.first, port.first + port.width))


def source_of(connection: Connection, channel: Cell) -> str:
    """The source that a connection gives a channel, for messages."""
    source, at = source_channel(connection, channel)
    return f"{source.channel_path(at)} (connected at {connection.where})"


def source_channel(connection: Connection, channel: Cell) -> Channel:
    """The source that a connection gives a channel."""
    position = next(i for i, (port, at) in enumerate(connection.targets) if port.first + at == channel)
    return connection.sources[position % len(connection.sources)]


def describe(channels: list[Channel]) -> str:
    """A list of channels in words, for messages."""
    ports = list(dict.fromkeys(port for port, _ in channels))
    names = ", ".join(port.path for port in ports[:2]) + (", ..." if len(ports) > 2 else "")
    return f"{names} (width {len(channels)})"


def _is_initial(mode: BoundMode) -> bool:
    return isinstance(mode.declaration, Mode) and mode.declaration.initial


def _exclusive(one: BoundMode | None, other: BoundMode | None) -> bool:
    """Whether these are two modes of one reactor, never active together."""
    return one is not None and other is not None and one is not other and one.owner is other.owner
