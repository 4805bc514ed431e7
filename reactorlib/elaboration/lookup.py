"""The names in one reaction of one instance: triggers, uses and effects found, arguments in order."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Literal

from reactorlib.declaration.building import located
from reactorlib.declaration.class_body import Reaction, declarations_of
from reactorlib.declaration.elements import Element, Signal, Transition, shutdown
from reactorlib.declaration.instance import Bound, BoundMode, BoundPort, Instance, instance_of
from reactorlib.declaration.reactor import Bank, Reactor, duration
from reactorlib.elaboration.records import Argument, Cell, ReactionInstance
from reactorlib.elaboration.resolution import Resolution
from reactorlib.elaboration.rules import argument_fault, source_faults, touch_fault, transition_fault
from reactorlib.errors import did_you_mean


def look_up_reactions(resolution: Resolution, instances: Iterable[Instance]) -> None:
    """The triggers and reactions of all instances, in their order."""
    for instance in instances:
        resolution.make_triggers(instance)
        declared = declarations_of(type(instance.reactor))
        resolution.faults += [f"{instance.path}: {fault}" for fault in declared.faults]
        for declaration in declared.reactions:
            resolution.reactions.append(_Lookup(resolution, instance, declaration).resolve())
    # A timer that no reaction names would only keep the program running.
    named = {cell for reaction in resolution.reactions for cell in reaction.reads}
    resolution.triggers = [each for each in resolution.triggers if each.kind != "timer" or each.cell in named]


class _Lookup:
    def __init__(self, resolution: Resolution, instance: Instance, declaration: Reaction[Any]) -> None:
        self.resolution = resolution
        self.instance = instance
        self.cls = type(instance.reactor)
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
        for role, named in (("trigger", declared.triggers), ("use", declared.uses), ("effect", declared.effects)):
            for name in named:
                self._resolve_one(role, name)
        if self.complete and len(self.arguments) not in declared.fits:  # otherwise not all are known
            if fault := argument_fault(declared, list(self.arguments.values())):
                self.fault(fault)
            else:
                declared.fits.add(len(self.arguments))
        deadline = None
        if declared.deadline is not None:
            deadline = duration(self.instance, declared.deadline, f"{declared.name}: deadline", declared.where)
        elif declared.handler is not None:
            self.fault("has a handler for a missed deadline and no deadline")
        return ReactionInstance(
            index=len(self.resolution.reactions), path=self.path, instance=self.instance, declaration=declared,
            arguments=tuple(self.arguments.values()), triggers=tuple(self.triggers), reads=tuple(self.reads),
            writes=tuple(self.writes), deadline=deadline, mode=self.mode,
            own_mode=None if declared.mode is None else self.mode,
        )  # fmt: skip

    def fault(self, text: str) -> None:
        self.complete = False
        self.resolution.faults.append(f"{self.path}: {text}{located(self.declaration.where)}")

    def _resolve_one(self, role: str, named: Any) -> None:
        history = None
        if isinstance(named, Transition):
            named, history = named
        elif isinstance(named, Signal):
            if role == "trigger":
                cell = self.resolution.signal(named, self.mode)
                self.triggers[cell] = self.reads[cell] = None
            else:
                self.fault(f"{named.name} can only be a trigger, not a {role}")
            return
        child = ""
        if isinstance(named, str):
            child, _, name = named.rpartition(".")
        elif isinstance(named, Element) and any(vars(cls).get(named.name) is named for cls in self.cls.__mro__):
            name = named.name
        else:
            self.fault(f"{role} must be an element of {self.cls.__name__} or its name, got {named!r}")
            return
        members, several = self._contained(child) if child else ([self.instance.reactor], False)
        if not members:
            hint = did_you_mean(child, [each.name.partition("[")[0] for each in self.instance.children])
            self.fault(f"{role} {named!r}: {self.cls.__name__} contains no reactor {child!r}{hint}")
            return
        found: list[Bound] = []
        for member in members:
            elements = instance_of(member).elements
            if name not in elements:
                kind = type(member).__name__
                hint = did_you_mean(name, elements)
                if role == "trigger" and named in ("startup", "shutdown", "reset"):
                    hint = f": write {named} without quotes, which reactorlib has"
                self.fault(f"{role} {named!r} names no element of {kind}{hint}")
                return
            found.append(elements[name])
        self._bind(role, found, several, history, child)

    def _contained(self, child: str) -> tuple[list[Any], bool]:
        """The contained reactors of a name; (True) all members of a bank or list. Empty if one is no reactor."""
        name, _, index = child.partition("[")
        held: Any = vars(self.instance.reactor).get(name)
        several = isinstance(held, Bank | list | tuple)
        members = list(held) if several else [held]
        if index:
            number = index.removesuffix("]")
            members = members[int(number) :][:1] if several and number.isdecimal() else []
        return (members if all(isinstance(member, Reactor) for member in members) else []), several and not index

    def _bind(self, role: str, bound: list[Bound], several: bool, history: bool | None, child: str) -> None:
        first = bound[0]
        faults = [touch_fault(self.instance, role, one, self.declaration.mode) for one in bound]
        faults.append(transition_fault(first, history, self.arguments.get(first)))
        if fault := next(filter(None, faults), None):
            self.fault(fault)
        elif isinstance(first, BoundMode):
            number, resumes = self.resolution.mode_index[first], bool(history)
            self.arguments[first] = Argument("switch", first.path, mode=number, history=resumes, elements=(first,))
        elif isinstance(first, BoundPort):
            self._bind_ports(role, [b for b in bound if isinstance(b, BoundPort)], several, child)
        else:
            self._bind_trigger(role, first)

    def _bind_trigger(self, role: str, bound: Bound) -> None:
        cell = self.resolution.trigger_of[bound].cell
        self.reads[cell] = None  # also of an effect: its handle has `value`
        if role == "trigger":
            self.triggers[cell] = None
        known = self.arguments.get(bound)
        kind: Any = "schedule" if role == "effect" or (known is not None and known.kind == "schedule") else "read"
        reads = role != "effect" or known is not None
        self.arguments[bound] = Argument(kind, bound.path, (cell,), is_read=reads, elements=(bound,))

    def _written(self, ports: list[BoundPort]) -> list[tuple[Cell, ...]]:
        """The cells that the reaction sets. A second source is a fault, unless their modes exclude each other."""
        declared = self.declaration
        writer, mode = f"the reaction {self.path}{located(declared.where)}", None
        if declared.mode is not None and shutdown in declared.triggers:
            writer += ", which shutdown triggers in whatever mode"
        elif declared.mode is not None:
            mode = self.instance.elements.get(declared.mode.name)
        exclusive = mode if isinstance(mode, BoundMode) else None
        cells = [tuple(range(port.first, port.first + port.width)) for port in ports]
        for cell in chain.from_iterable(cells):
            for fault in source_faults(self.resolution.feeds.get(cell, ()), exclusive, writer):
                self.resolution.faults.append(f"{self.resolution.paths[cell]} {fault}")
        return cells

    def _bind_ports(self, role: str, ports: list[BoundPort], several: bool, child: str) -> None:
        kind: Literal["read", "set"]
        if role == "effect":
            kind, touched, cells = "set", self.writes, self._written(ports)
        else:
            kind, touched = "read", self.reads
            cells = [self.resolution.read_cells(port, self.instance, self.declaration) for port in ports]
        flat = cells[0] if len(cells) == 1 else tuple(chain.from_iterable(cells))
        touched.update(dict.fromkeys(flat))
        if role == "trigger":
            self.triggers.update(dict.fromkeys(flat))
        if child and self.declaration.nested:
            pairs = zip(ports, cells, strict=True)
            members = [Argument(kind, port.path, own, port.multi, elements=(port,)) for port, own in pairs]
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
