"""From ports and connections to cells and triggers: the cell of each channel. Notes every fault."""

from __future__ import annotations

from typing import Any

from reactorlib.declaration.building import located
from reactorlib.declaration.class_body import Reaction
from reactorlib.declaration.elements import Input, Mode, Signal, shutdown, startup
from reactorlib.declaration.instance import Bound, BoundMode, BoundPort, BoundTrigger, Connection, Instance
from reactorlib.elaboration import rules
from reactorlib.elaboration.records import Cell, Channel, Forward, ModeInstance, ReactionInstance, Trigger


class Resolution:
    """The passes over the instances, in order. Once reactions are looked up, its fields are those of the program."""

    def __init__(self, instances: tuple[Instance, ...]) -> None:
        self.faults: list[str] = []
        self.reactions: list[ReactionInstance] = []
        self.forwards: list[Forward] = []
        self.triggers: list[Trigger] = []
        self.modes: list[ModeInstance] = []
        # The feeds of each channel that is connected to a source; several are of exclusive modes.
        self.feeds: dict[Channel, list[rules.Feed]] = {}
        self.ringed: set[Channel] = set()  # channels whose connections lead back to themselves
        self.mode_index: dict[BoundMode | None, Any] = {None: None}
        self.trigger_of: dict[Bound | tuple[str, int | None], Trigger] = {}
        self.outputs: dict[Channel, Cell] = {}
        self._copies: dict[tuple[BoundPort, str], tuple[Cell, ...]] = {}
        self.paths: list[str] = []  # by cell
        for port in (element for instance in instances for element in instance.elements.values()):
            if isinstance(port, BoundPort):
                port.first = len(self.paths)
                self.paths += map(port.channel_path, range(port.width))
        self.alias: list[Cell] = list(range(len(self.paths)))  # of the channels
        for instance in instances:
            self._number_modes(instance)
        for instance in instances:
            for connection in instance.connections:
                self._connect(instance, connection)
        self._follow_aliases()
        for signal in (startup, shutdown):
            self.signal(signal, None)
        self._open(instances[0])

    def new_cell(self, path: str) -> Cell:
        """A cell beyond the channels: of a trigger, or the copy that a mutable input reads."""
        self.paths.append(path)
        return len(self.paths) - 1

    # Modes

    def _number_modes(self, instance: Instance) -> None:
        modes = instance.modes
        if not modes:
            return
        siblings = tuple(range(len(self.modes), len(self.modes) + len(modes)))
        if fault := rules.initial_fault(modes):
            self.faults.append(f"{instance.path}: {fault}{located(modes[0].declaration.where)}")
        parent = self.mode_around(instance)
        for number, mode in zip(siblings, modes, strict=True):
            self.mode_index[mode] = number
            initially = mode.declaration.initial
            self.modes.append(ModeInstance(mode.path, mode.name, initially, parent, siblings))

    def mode_around(self, instance: Instance) -> int | None:
        """The innermost mode that the whole instance lies in."""
        at: Instance | None = instance
        while at is not None and at.mode is None:
            at = at.parent
        return None if at is None else self.mode_index[at.mode]

    def mode_of(self, instance: Instance, declared: Mode | None) -> int | None:
        """The mode of an instance's declaration: its own, or the one around the instance."""
        bound = None if declared is None else instance.elements.get(declared.name)
        return self.mode_index[bound] if isinstance(bound, BoundMode) else self.mode_around(instance)

    # Connections

    def _connect(self, container: Instance, connection: Connection) -> None:
        sources, targets = connection.sources, connection.targets
        faults = [rules.width_fault(connection)]
        left, right = (dict.fromkeys(port for port, _ in side) for side in (sources, targets))
        faults += [rules.direction_fault(container, port, "source") for port in left]
        faults += [rules.direction_fault(container, port, "target") for port in right]
        if any(faults):
            at = f"{container.path}: {' -> '.join(', '.join(port.path for port in side) for side in (left, right))}"
            self.faults += [f"{at}: {fault}{located(connection.where)}" for fault in faults if fault]
            return
        mode = self.mode_index[connection.mode]
        delays: dict[Cell, Cell] = {}
        for position, (target, channel) in enumerate(targets):
            into, source = target.first + channel, sources[position % len(sources)]
            others = self.feeds.setdefault(into, [])
            if others:
                text = rules.feed_text(connection, source)
                if clash := next(rules.source_faults(others, connection.mode, text), None):
                    self.faults.append(f"{target.channel_path(channel)} {clash}")
                    continue
            others.append((connection, source))
            cell = source[0].first + source[1]
            if connection.after is not None or connection.physical:
                if cell not in delays:
                    delays[cell] = self._delay(container, connection, cell)
                cell = delays[cell]
            if mode is None:
                self.alias[into] = cell
            else:
                self.forwards.append(Forward(cell, into, False, mode, target.channel_path(channel)))

    def _delay(self, container: Instance, connection: Connection, source: Cell) -> Cell:
        path = self.paths[source]
        mode = self.mode_around(container) if connection.mode is None else self.mode_index[connection.mode]
        cell = self.new_cell(path)
        kind = "physical delay" if connection.physical else "delay"
        self.triggers.append(Trigger(kind, cell, path, mode, connection.after or 0, source=source))
        return cell

    def _follow_aliases(self) -> None:
        """Every channel to the cell at the far end of its chain of undelayed connections, in linear time."""
        alias = self.alias
        channels = len(alias)
        for channel in range(channels):
            at = channel
            chain: dict[Channel, None] = {}
            while at < channels and alias[at] != at and at not in chain:
                chain[at] = None
                at = alias[at]
            if at not in chain:
                for link in chain:
                    alias[link] = at
                continue
            where = located(self.feeds[channel][0][0].where)
            self.faults.append(f"{self.paths[channel]}: connections between ports form a ring{where}")
            for link in chain:
                alias[link] = link
            links = list(chain)
            self.ringed.update(links[links.index(at) :])
        self.forwards = [f._replace(source=self.cell(f.source)) for f in self.forwards]
        self.triggers = [t if t.source is None else t._replace(source=self.cell(t.source)) for t in self.triggers]

    def cell(self, number: Cell) -> Cell:
        """The cell that a channel aliases; a trigger's cell is its own."""
        return self.alias[number] if number < len(self.alias) else number

    def _open(self, main: Instance) -> None:
        """Ports of the main reactor, which a session sets and reads: inputs are triggers, outputs are copied out."""
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
            if not isinstance(element, BoundTrigger):
                continue
            declared, path = element.declaration, element.path
            policy = getattr(declared, "policy", None)
            if fault := rules.policy_fault(policy, element.min_spacing):
                self.faults.append(f"{path}: {fault}{located(declared.where)}")
            kind = declared.kind.partition(" ")[0]  # of a physical action: physical
            self._add(element, Trigger(kind, self.new_cell(path), path, self.mode_of(instance, declared.mode),
                                       element.delay, element.period, element.min_spacing,
                                       policy or "defer"))  # fmt: skip

    def _add(self, key: Bound | tuple[str, int | None], trigger: Trigger) -> Trigger:
        self.trigger_of[key] = trigger
        self.triggers.append(trigger)
        return trigger

    def signal(self, signal: Signal, mode: int | None) -> Cell:
        key = (signal.name, None if signal.name == "shutdown" else mode)
        found = self.trigger_of.get(key)
        if found is None:
            path = signal.name if key[1] is None else f"{self.modes[key[1]].path}.{signal.name}"
            found = self._add(key, Trigger(signal.name, self.new_cell(path), path, key[1]))
        return found.cell

    def read_cells(self, port: BoundPort, reader: Instance, reaction: Reaction[Any]) -> tuple[Cell, ...]:
        """The cells that a reaction of `reader` reads for a port; of a mutable input, copies that are its own."""
        cells = tuple(self.alias[port.first : port.first + port.width])
        declared = port.declaration
        if not (isinstance(declared, Input) and declared.mutable and port.owner is reader):
            return cells
        copies = self._copies.get((port, reaction.name))
        if copies is None:
            paths = [port.channel_path(channel) for channel in range(port.width)]
            copies = self._copies[port, reaction.name] = tuple(map(self.new_cell, paths))
            for cell, copy, path in zip(cells, copies, paths, strict=True):
                self.forwards.append(Forward(cell, copy, True, None, path))
        return copies
