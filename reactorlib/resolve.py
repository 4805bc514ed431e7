"""From names to cells: which element each reaction names, and where each channel's value lies. Notes every fault."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Any

from reactorlib.connections import Channel, Connection
from reactorlib.elements import (
    POLICIES,
    Action,
    Element,
    Input,
    Mode,
    PhysicalAction,
    Signal,
    Transition,
    shutdown,
    startup,
)
from reactorlib.instance import (
    Bound,
    BoundAction,
    BoundMode,
    BoundPort,
    BoundTimer,
    Instance,
    instance_of,
    modes_of,
)
from reactorlib.program import Argument, Cell, Forward, ModeInstance, ReactionInstance, Trigger, TriggerKind
from reactorlib.reactor import Bank, Reaction, Reactor, declarations_of, duration
from reactorlib.validate import argument_fault, direction_fault, mode_fault, touch_fault

Target = list[tuple[Instance, Bound]]


class Resolution:
    """The passes over the instances, in order; afterwards its fields are those of the Program."""

    def __init__(self, instances: tuple[Instance, ...]) -> None:
        self.faults: list[str] = []
        self.paths: dict[Cell, str] = {}
        self.ports: list[BoundPort] = []
        self.reactions: list[ReactionInstance] = []
        self.forwards: list[Forward] = []
        self.triggers: list[Trigger] = []
        self.modes: list[ModeInstance] = []
        self.connection_of: dict[Cell, Connection] = {}  # by target channel, for messages
        self._mode_index: dict[BoundMode, int] = {}
        self._trigger_of: dict[Bound | tuple[str, int | None], Trigger] = {}
        self._copies: dict[tuple[BoundPort, int, str], Cell] = {}
        self._writers: dict[Cell, tuple[BoundPort, int, Instance]] = {}
        self.channels = self._number_channels(instances)
        self.cells = self.channels
        self.alias: list[Cell] = list(range(self.channels))
        self._number_modes(instances)
        self._connect(instances)
        self._follow_aliases()
        for signal in (startup, shutdown):
            self._signal(signal, None)
        for instance in instances:
            self._make_triggers(instance)
            self._resolve_reactions(instance)
        self._freeze_modes()

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
        """A cell that is no channel: of a trigger, or the copy that a mutable input reads."""
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
                self.faults.append(f"{instance.path}: exactly one mode must be initial, got {had}")
            parent = self.mode_around(instance)
            for mode in modes:
                self._mode_index[mode] = len(self.modes)
                self.modes.append(
                    ModeInstance(mode.path, instance, mode.name, _is_initial(mode), parent, siblings, None, None)
                )

    def mode_around(self, instance: Instance) -> int | None:
        """The innermost mode that the whole instance lies in."""
        at: Instance | None = instance
        while at is not None:
            if at.mode is not None:
                return self._mode_index[at.mode]
            at = at.parent
        return None

    def _mode_of(self, instance: Instance, declared: Mode | None) -> int | None:
        if declared is not None:
            bound = instance.elements.get(declared.name)
            if isinstance(bound, BoundMode):
                return self._mode_index[bound]
        return self.mode_around(instance)

    def _freeze_modes(self) -> None:
        for index, mode in enumerate(self.modes):
            start, again = (self._trigger_of.get((name, index)) for name in ("startup", "reset"))
            self.modes[index] = replace(
                mode, startup=start.cell if start else None, reset=again.cell if again else None
            )

    # Connections

    def _connect(self, instances: tuple[Instance, ...]) -> None:
        incoming: dict[Cell, list[Connection]] = {}
        for container in instances:
            for connection in container.connections:
                self._connect_one(container, connection, incoming)

    def _connect_one(self, container: Instance, connection: Connection, incoming: dict[Cell, list[Connection]]) -> None:
        sources, targets = connection.sources, connection.targets
        if not sources or not targets or len(sources) > len(targets) or len(targets) % len(sources):
            self.faults.append(
                f"{connection.where}: in {container.path}, {describe(sources)} does not fit {describe(targets)}: "
                "the left side must be as wide as the right, or repeat to it exactly"
            )
            return
        checked: set[tuple[BoundPort, str]] = set()
        delays: dict[Cell, Cell] = {}
        mode = None if connection.mode is None else self._mode_index[connection.mode]
        for position, (target, channel) in enumerate(targets):
            source, source_channel = sources[position % len(sources)]
            fault = self._direction(container, source, target, connection, checked)
            if fault:
                continue
            into = target.first + channel
            others = incoming.setdefault(into, [])
            if any(not _exclusive(connection, other) for other in others):
                self.faults.append(
                    f"{target.channel_path(channel)} has two sources: {_source_of(others[0], into)} "
                    f"and {_source_of(connection, into)}"
                )
                continue
            others.append(connection)
            self.connection_of[into] = connection
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
            mode = self.mode_around(container) if connection.mode is None else self._mode_index[connection.mode]
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
                self.faults.append(f"{self.path_of_channel(channel)}: connections between ports form a ring")
                for link in set(chain):
                    alias[link] = link
                continue
            for link in chain:
                alias[link] = at
        self.forwards = [replace(f, source=self.cell(f.source)) for f in self.forwards]
        self.triggers = [t if t.source is None else replace(t, source=self.cell(t.source)) for t in self.triggers]

    def cell(self, number: Cell) -> Cell:
        """The cell that a channel aliases; a trigger's cell is its own."""
        return self.alias[number] if number < self.channels else number

    def path_of_channel(self, channel: Cell) -> str:
        connection = self.connection_of.get(channel)
        if connection is None:
            return f"channel {channel}"
        for port, index in connection.targets:
            if port.first + index == channel:
                return port.channel_path(index)
        return f"channel {channel}"

    # Triggers

    def _make_triggers(self, instance: Instance) -> None:
        for element in instance.elements.values():
            declared = element.declaration
            mode = self._mode_of(instance, declared.mode)
            if isinstance(element, BoundTimer):
                self._add(element, Trigger("timer", self.new_cell(element.path), element.path, mode,
                                           element.offset, element.period))  # fmt: skip
            elif isinstance(element, BoundAction) and isinstance(declared, Action):
                if declared.policy not in POLICIES:
                    self.faults.append(
                        f"{element.path}: unknown policy {declared.policy!r}: one of {', '.join(POLICIES)}"
                    )
                kind: TriggerKind = "physical" if isinstance(declared, PhysicalAction) else "logical"
                self._add(element, Trigger(kind, self.new_cell(element.path), element.path, mode, element.min_delay,
                                           0, element.min_spacing, declared.policy))  # fmt: skip

    def _add(self, key: Bound | tuple[str, int | None], trigger: Trigger) -> Trigger:
        self._trigger_of[key] = trigger
        self.triggers.append(trigger)
        return trigger

    def _signal(self, signal: Signal, mode: int | None) -> Cell:
        key = (signal.name, None if signal.name == "shutdown" else mode)
        found = self._trigger_of.get(key)
        if found is None:
            path = signal.name if key[1] is None else f"{self.modes[key[1]].path}.{signal.name}"
            kind: TriggerKind = signal.name  # type: ignore[assignment]
            found = self._add(key, Trigger(kind, self.new_cell(path), path, key[1]))
        return found.cell

    # Reactions

    def _resolve_reactions(self, instance: Instance) -> None:
        declared = declarations_of(type(instance.reactor))
        for fault in declared.faults:
            self.faults.append(f"{instance.path}: {fault}")
        for declaration in declared.reactions:
            self.reactions.append(_Resolver(self, instance, declaration).resolve())

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

    def write_cells(self, port: BoundPort, writer: str) -> tuple[Cell, ...]:
        """The cells that the reaction `writer` sets for a port; a second source is a fault."""
        for channel in range(port.width):
            number = port.first + channel
            connection = self.connection_of.get(number)
            if connection is not None:
                self.faults.append(
                    f"{port.channel_path(channel)} has two sources: {_source_of(connection, number)} "
                    f"and the reaction {writer}"
                )
        return tuple(range(port.first, port.first + port.width))


class _Resolver:
    """One reaction of one instance: its names looked up, its arguments in order."""

    def __init__(self, resolution: Resolution, instance: Instance, declaration: Reaction[Any]) -> None:
        self.resolution = resolution
        self.instance = instance
        self.declaration = declaration
        self.path = f"{instance.path}.{declaration.name}"
        self.arguments: dict[object, Argument] = {}
        self.triggers: dict[Cell, None] = {}
        self.reads: dict[Cell, None] = {}
        self.writes: dict[Cell, None] = {}
        self.mode = resolution._mode_of(instance, declaration.mode)
        self.complete = True

    def resolve(self) -> ReactionInstance:
        declared = self.declaration
        if not declared.triggers:
            self.fault("has no trigger: name at least one, such as startup")
        for role, named in (
            ("trigger", declared.triggers),
            ("use", declared.uses),
            ("effect", declared.effects),
        ):
            for name in named:
                self._resolve_one(role, name)
        if self.complete:  # otherwise the arguments are not known
            fault = argument_fault(declared, list(self.arguments.values()))
            if fault:
                self.fault(fault)
        own = None
        if declared.mode is not None:
            own = self.mode
        return ReactionInstance(
            index=len(self.resolution.reactions),
            path=self.path,
            instance=self.instance,
            declaration=declared,
            arguments=tuple(self.arguments.values()),
            triggers=tuple(self.triggers),
            reads=tuple(self.reads),
            writes=tuple(self.writes),
            deadline=self._deadline(),
            mode=self.mode,
            own_mode=own,
        )

    def fault(self, text: str) -> None:
        self.complete = False
        self.resolution.faults.append(f"{self.path}: {text}")

    def _deadline(self) -> int | None:
        if self.declaration.deadline is None:
            if self.declaration.handler is not None:
                self.fault("has a handler for a missed deadline and no deadline")
            return None
        before = len(self.instance.faults)
        value = duration(self.instance, self.declaration.deadline, f"{self.declaration.name}: deadline")
        self.resolution.faults += [f.replace("{path}", self.instance.path) for f in self.instance.faults[before:]]
        del self.instance.faults[before:]
        return value

    def _resolve_one(self, role: str, named: Any) -> None:
        history = False
        if isinstance(named, Transition):
            named, history = named.mode, named.history
        elif isinstance(named, Signal):
            self._signal(role, named)
            return
        found, several = self._lookup(role, named)
        if found:
            self._bind(role, found, several, history)

    def _signal(self, role: str, signal: Signal) -> None:
        if role != "trigger":
            self.fault(f"{signal.name} can only be a trigger, not a {role}")
            return
        if signal.name == "reset" and self.mode is None:
            self.fault("reset triggers only what lies in a mode")
            return
        self.triggers[self.resolution._signal(signal, self.mode)] = None

    def _lookup(self, role: str, named: Any) -> tuple[list[Bound], bool]:
        """The bound elements that a name stands for: one, or (True) that of each member of a contained bank."""
        if isinstance(named, Element):
            text = named.name
            declared_here = any(vars(cls).get(text) is named for cls in type(self.instance.reactor).__mro__)
            if self.instance.elements.get(text) is None or not declared_here:
                self.fault(f"{role} {text or named!r} is no element of {type(self.instance.reactor).__name__}")
                return [], False
        elif isinstance(named, str):
            text = named
        else:
            self.fault(f"{role} must be an element of the class or its name, got {named!r}")
            return [], False
        child, dot, port = text.partition(".")
        if not dot:
            bound = self.instance.elements.get(text)
            if bound is None:
                self.fault(f"{role} {text!r} names no element of {self._class()}{_hint(text, self.instance.elements)}")
                return [], False
            return [bound], False
        return self._lookup_contained(role, text, child, port)

    def _lookup_contained(self, role: str, text: str, child: str, port: str) -> tuple[list[Bound], bool]:
        name, _, index = child.partition("[")
        held = vars(self.instance.reactor).get(name)
        if index and isinstance(held, Bank | list | tuple) and index.rstrip("]").isdigit():
            held = held[int(index.rstrip("]"))] if int(index.rstrip("]")) < len(held) else None
        members = [held] if isinstance(held, Reactor) else list(held) if isinstance(held, Bank | list | tuple) else []
        if not members or not all(isinstance(member, Reactor) for member in members):
            self.fault(f"{role} {text!r}: {self._class()} contains no reactor {child!r}")
            return [], False
        found: list[Bound] = []
        for member in members:
            contained = instance_of(member)
            bound = contained.elements.get(port)
            if bound is None:
                hint = _hint(port, contained.elements)
                self.fault(f"{role} {text!r} names no element of {type(member).__name__}{hint}")
                return [], False
            found.append(bound)
        return found, members[0] is not held

    def _class(self) -> str:
        return type(self.instance.reactor).__name__

    def _bind(self, role: str, bound: list[Bound], several: bool, history: bool) -> None:
        first = bound[0]
        fault = touch_fault(self.instance, role, first) or mode_fault(self.declaration, role, first)
        if fault:
            self.fault(fault)
            return
        if isinstance(first, BoundMode):
            number = self.resolution._mode_index[first]
            self.arguments[first] = Argument("switch", first.path, mode=number, history=history)
        elif isinstance(first, BoundPort):
            self._bind_ports(role, [b for b in bound if isinstance(b, BoundPort)], several)
        else:
            self._bind_trigger(role, first)

    def _bind_trigger(self, role: str, bound: Bound) -> None:
        trigger = self.resolution._trigger_of[bound]
        if role == "trigger":
            self.triggers[trigger.cell] = None
        known = self.arguments.get(bound)
        kind: Any = "schedule" if role == "effect" or (known is not None and known.kind == "schedule") else "read"
        reads = role != "effect" or known is not None
        self.arguments[bound] = Argument(kind, bound.path, (trigger.cell,), reads=reads)

    def _bind_ports(self, role: str, ports: list[BoundPort], several: bool) -> None:
        multi = several or ports[0].multi
        key: object = ports[0] if len(ports) == 1 else tuple(ports)
        path = ports[0].path
        if role == "effect":
            cells = [cell for port in ports for cell in self.resolution.write_cells(port, self.path)]
            self.writes.update(dict.fromkeys(cells))
            self.arguments[key] = Argument("set", path, tuple(cells), multi)
            return
        cells = [cell for port in ports for cell in self.resolution.read_cells(port, self.instance, self.declaration)]
        self.reads.update(dict.fromkeys(cells))
        if role == "trigger":
            self.triggers.update(dict.fromkeys(cells))
        self.arguments[key] = Argument("read", path, tuple(cells), multi)


def _source_of(connection: Connection, channel: Cell) -> str:
    """The source that a connection gives a channel, for messages."""
    position = next(i for i, (port, at) in enumerate(connection.targets) if port.first + at == channel)
    source, at = connection.sources[position % len(connection.sources)]
    return f"{source.channel_path(at)} (connected at {connection.where})"


def describe(channels: list[Channel]) -> str:
    """A list of channels in words, for messages."""
    ports = list(dict.fromkeys(port for port, _ in channels))
    names = ", ".join(port.path for port in ports[:2]) + (", ..." if len(ports) > 2 else "")
    return f"{names} (width {len(channels)})"


def _is_initial(mode: BoundMode) -> bool:
    return isinstance(mode.declaration, Mode) and mode.declaration.initial


def _exclusive(one: Connection, other: Connection) -> bool:
    return (
        one.mode is not None
        and other.mode is not None
        and one.mode is not other.mode
        and one.mode.owner is other.mode.owner
    )


def _hint(name: str, known: dict[str, Bound]) -> str:
    close = difflib.get_close_matches(name, list(known), n=1)
    return f": did you mean {close[0]!r}?" if close else ""
