"""The names in one reaction of one instance: triggers, uses and effects found, arguments in order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal

from reactorlib.declaration.class_body import Reaction, declarations_of
from reactorlib.declaration.elements import Action, Element, Signal, Transition, shutdown
from reactorlib.declaration.instance import Bound, BoundMode, BoundPort, Instance, instance_of, name_in
from reactorlib.declaration.reactor import Bank, Reactor, duration
from reactorlib.declaration.source_position import located
from reactorlib.elaboration.connections import Resolution
from reactorlib.elaboration.program import Argument, Cell, ReactionInstance
from reactorlib.elaboration.validate import argument_fault, mode_fault, touch_fault
from reactorlib.errors import did_you_mean


def look_up_reactions(resolution: Resolution, instances: Iterable[Instance]) -> None:
    """The triggers and reactions of all instances, in their order."""
    for instance in instances:
        resolution.make_triggers(instance)
        declared = declarations_of(type(instance.reactor))
        resolution.faults += [f"{instance.path}: {fault}" for fault in declared.faults]
        for declaration in declared.reactions:
            resolution.reactions.append(Lookup(resolution, instance, declaration).resolve())
    _drop_timers(resolution)
    resolution.freeze_modes()


def _drop_timers(resolution: Resolution) -> None:
    """Drop timers that no reaction names: their events would only keep the program running."""
    unnamed = {trigger.cell for trigger in resolution.triggers if trigger.kind == "timer"}
    for reaction in resolution.reactions:
        for argument in reaction.arguments:
            unnamed.difference_update(argument.cells)
    resolution.triggers = [trigger for trigger in resolution.triggers if trigger.cell not in unnamed]


class Lookup:
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
        self.mode = resolution.mode_of(instance, declaration.mode)
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
        if self.complete and len(self.arguments) not in declared.fits:  # otherwise not all are known
            fault = argument_fault(declared, list(self.arguments.values()))
            if fault:
                self.fault(fault)
            else:
                declared.fits.add(len(self.arguments))
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
            own_mode=None if declared.mode is None else self.mode,
        )

    def fault(self, text: str) -> None:
        self.complete = False
        self.resolution.faults.append(f"{self.path}: {text}{located(self.declaration.where)}")

    def _deadline(self) -> int | None:
        if self.declaration.deadline is None:
            if self.declaration.handler is not None:
                self.fault("has a handler for a missed deadline and no deadline")
            return None
        before = len(self.instance.faults)
        declared = self.declaration
        value = duration(self.instance, declared.deadline, f"{declared.name}: deadline", declared.where)
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
            self._bind(role, found, several, history, named.rpartition(".")[0] if isinstance(named, str) else "")

    def _signal(self, role: str, signal: Signal) -> None:
        if role != "trigger":
            self.fault(f"{signal.name} can only be a trigger, not a {role}")
            return
        cell = self.resolution.signal(signal, self.mode)
        self.triggers[cell] = self.reads[cell] = None

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
            known = self.instance.elements
            bound = known.get(name_in(known, text))
            if bound is None:
                hint = did_you_mean(text, known)
                self.fault(f"{role} {text!r} names no element of {self._class()}{hint}")
                return [], False
            return [bound], False
        return self._lookup_contained(role, text, child, port)

    def _lookup_contained(self, role: str, text: str, child: str, port: str) -> tuple[list[Bound], bool]:
        name, _, index = child.partition("[")
        attributes = vars(self.instance.reactor)
        held = attributes.get(name_in(attributes, name))
        if index and isinstance(held, Bank | list | tuple) and index.rstrip("]").isdigit():
            held = held[int(index.rstrip("]"))] if int(index.rstrip("]")) < len(held) else None
        members = [held] if isinstance(held, Reactor) else list(held) if isinstance(held, Bank | list | tuple) else []
        if not members or not all(isinstance(member, Reactor) for member in members):
            known = (held.name.partition("[")[0] for held in self.instance.children)
            self.fault(f"{role} {text!r}: {self._class()} contains no reactor {child!r}{did_you_mean(child, known)}")
            return [], False
        found: list[Bound] = []
        for member in members:
            contained = instance_of(member)
            bound = contained.elements.get(name_in(contained.elements, port))
            if bound is None:
                hint = did_you_mean(port, contained.elements)
                self.fault(f"{role} {text!r} names no element of {type(member).__name__}{hint}")
                return [], False
            found.append(bound)
        return found, members[0] is not held

    def _class(self) -> str:
        return type(self.instance.reactor).__name__

    def _bind(self, role: str, bound: list[Bound], several: bool, history: bool, child: str) -> None:
        first = bound[0]
        fault = touch_fault(self.instance, role, first) or mode_fault(self.declaration, role, first)
        if fault:
            self.fault(fault)
            return
        if isinstance(first, BoundMode):
            number = self.resolution.mode_index[first]
            self.arguments[first] = Argument("switch", first.path, mode=number, history=history, elements=(first,))
        elif isinstance(first, BoundPort):
            self._bind_ports(role, [b for b in bound if isinstance(b, BoundPort)], several, child)
        else:
            self._bind_trigger(role, first)

    def _bind_trigger(self, role: str, bound: Bound) -> None:
        trigger = self.resolution.trigger_of[bound]
        self.reads[trigger.cell] = None  # also of an effect: its handle has `value`
        if role == "trigger":
            self.triggers[trigger.cell] = None
        known = self.arguments.get(bound)
        kind: Any = "schedule" if role == "effect" or (known is not None and known.kind == "schedule") else "read"
        reads = role != "effect" or known is not None
        plain_ns = isinstance(bound.declaration, Action) and bound.declaration.plain_ns
        self.arguments[bound] = Argument(
            kind, bound.path, (trigger.cell,), reads=reads, plain_ns=plain_ns, elements=(bound,)
        )

    def _as_source(self) -> tuple[str, BoundMode | None]:
        """The reaction's name in messages, and the one mode in which it sets anything, if there is one."""
        declared = self.declaration
        mode = None if declared.mode is None else self.instance.elements.get(declared.mode.name)
        name = f"{self.path}{located(declared.where)}"
        if not isinstance(mode, BoundMode):
            return name, None
        if shutdown in declared.triggers:
            return f"{name}, which shutdown triggers in whatever mode", None
        return name, mode

    def _bind_ports(self, role: str, ports: list[BoundPort], several: bool, child: str) -> None:
        kind: Literal["read", "set"]
        if role == "effect":
            kind, touched = "set", self.writes
            writer, mode = self._as_source()
            cells = [self.resolution.write_cells(port, writer, mode) for port in ports]
        else:
            kind, touched = "read", self.reads
            cells = [self.resolution.read_cells(port, self.instance, self.declaration) for port in ports]
        flat = cells[0] if len(cells) == 1 else tuple(chain.from_iterable(cells))
        touched.update(dict.fromkeys(flat))
        if role == "trigger":
            self.triggers.update(dict.fromkeys(flat))
        if child and self.declaration.nested:
            members = [
                Argument(kind, port.path, own, port.multi, elements=(port,))
                for port, own in zip(ports, cells, strict=True)
            ]
            self._nest(child, members, several)
            return
        key: object = tuple(ports) if several else ports[0]  # a bank of one is a bank
        self.arguments[key] = Argument(kind, ports[0].path, flat, several or ports[0].multi, elements=tuple(ports))

    def _nest(self, child: str, ports: list[Argument], several: bool) -> None:
        """Add a port of each member to the one argument for a contained reactor or bank."""
        known = self.arguments.get(child)
        members = known.members if known is not None else ((),) * len(ports)
        members = tuple((*named, port) for named, port in zip(members, ports, strict=True))
        cells = tuple(cell for ports in members for port in ports if port.kind == "read" for cell in port.cells)
        path = f"{self.instance.path}.{child}"
        self.arguments[child] = Argument("contained", path, cells, several, members=members)
