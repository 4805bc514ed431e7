"""The instance tree of a program specification, with every channel and every link spelled out.

Elaborated in the most obvious way: dictionaries of lists, nothing shared, nothing computed twice as fast.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import cycle
from typing import Any

from tests.reactorlib.reference.specification import (
    ActionSpec,
    Amount,
    ChildSpec,
    ClassSpec,
    ConnectionSpec,
    ProgramSpec,
    ReactionSpec,
    StateSpec,
    TimerSpec,
    Width,
)

NEVER_NS = 10**30  # later than any deadline that a program declares


@dataclass(eq=False)
class Channel:
    """One channel of a port, with its value at this tag."""

    path: str
    value: Any = None
    present: bool = False


@dataclass(eq=False)
class Scope:
    """One mode of one reactor instance; everything inside lives on its local time."""

    owner: Instance
    name: str
    fresh: bool = True  # never active so far
    left_ns: int = 0  # when it was active last, as of the last switch
    reset_due: bool = False  # entered by a reset transition that no reaction has seen yet


@dataclass(eq=False)
class Timer:
    """A timer of one instance; `started` is taken back by a reset."""

    spec: TimerSpec
    offset_ns: int
    period_ns: int | None
    scope: Scope | None
    started: bool = False
    present: bool = False


@dataclass(eq=False)
class Action:
    """A logical action of one instance. `scheduled` are its events so far, also those that have happened."""

    spec: ActionSpec
    min_delay_ns: int
    scope: Scope | None
    scheduled: list[Event] = field(default_factory=list)
    present: bool = False
    value: Any = None


@dataclass(eq=False)
class State:
    spec: StateSpec
    scope: Scope | None
    initial: int
    value: int


@dataclass(eq=False)
class Link:
    """One connection of one channel to another; `guarded` by a mode that it is declared in itself."""

    source: Channel
    target: Channel
    after_ns: int | None
    scope: Scope | None
    guarded: bool


@dataclass(eq=False)
class Event:
    """Something that will happen at a tag. A target of None only makes the tag exist."""

    tag: tuple[int, int]
    target: Timer | Action | Link | None
    value: Any = None

    @property
    def scope(self) -> Scope | None:
        return None if self.target is None else self.target.scope


@dataclass(eq=False)
class Reaction:
    """One reaction of one instance, with what orders it."""

    spec: ReactionSpec
    instance: Instance
    path: str
    scope: Scope | None
    position: int
    count: int = 0
    level: int = 0
    deadline_ns: int = NEVER_NS  # inferred


@dataclass(eq=False)
class Instance:
    path: str
    parameters: dict[str, int]
    scope: Scope | None
    ports: dict[str, list[Channel]] = field(default_factory=dict)
    mutable: set[str] = field(default_factory=set)
    scopes: dict[str, Scope] = field(default_factory=dict)
    current: str | None = None
    wish: tuple[str, str] | None = None  # ("reset" or "history", mode), asked for at this tag
    timers: dict[str, Timer] = field(default_factory=dict)
    actions: dict[str, Action] = field(default_factory=dict)
    states: dict[str, State] = field(default_factory=dict)
    children: dict[str, list[Instance]] = field(default_factory=dict)
    reactions: list[Reaction] = field(default_factory=list)

    def inner(self, mode: str | None) -> Scope | None:
        """The scope of something declared in `mode` of this instance."""
        return self.scope if mode is None else self.scopes[mode]

    def amount(self, value: Amount) -> int:
        """A number or a time, which may be the name of a parameter."""
        return self.parameters[value] if isinstance(value, str) else value

    def width(self, width: Width) -> int:
        if isinstance(width, tuple):
            return self.parameters[width[0]] * width[1]
        return self.amount(width)

    def channels(self, reference: str) -> list[Channel]:
        """The channels of an own port or of "child.port", bank-major."""
        if "." not in reference:
            return self.ports[reference]
        child, port = reference.split(".")
        return [channel for member in self.children[child] for channel in member.ports[port]]

    def interleaved(self, reference: str) -> list[Channel]:
        child, port = reference.split(".")
        members = [member.ports[port] for member in self.children[child]]
        return [channels[index] for index in range(len(members[0])) for channels in members]

    def ports_named(self, names: Iterable[str]) -> list[Channel]:
        """The channels of the ports among these names of elements."""
        return [channel for name in names if "." in name or name in self.ports for channel in self.channels(name)]

    def is_mutable(self, reference: str) -> bool:
        return reference in self.mutable


@dataclass
class Elaborated:
    """A whole program, pre-order."""

    instances: list[Instance]
    links: list[Link]

    @property
    def reactions(self) -> list[Reaction]:
        return [reaction for instance in self.instances for reaction in instance.reactions]

    @cached_property
    def links_from(self) -> dict[Channel, list[Link]]:
        found: dict[Channel, list[Link]] = defaultdict(list)
        for link in self.links:
            found[link.source].append(link)
        return found

    @cached_property
    def readers(self) -> dict[Channel, list[Reaction]]:
        found: dict[Channel, list[Reaction]] = defaultdict(list)
        for reaction in self.reactions:
            for channel in reaction.instance.ports_named((*reaction.spec.triggers, *reaction.spec.uses)):
                found[channel].append(reaction)
        return found


def elaborate(program: ProgramSpec) -> Elaborated:
    """The instance tree below the main class."""
    result = Elaborated([], [])
    _instantiate(program, program.main, program.main.name, {"bank_index": 0}, None, result)
    return result


def enclosing(scope: Scope | None) -> Iterator[Scope]:
    """The scope itself and every scope around it, inside out."""
    while scope is not None:
        yield scope
        scope = scope.owner.scope


def _instantiate(
    program: ProgramSpec, spec: ClassSpec, path: str, arguments: dict[str, int], scope: Scope | None, result: Elaborated
) -> Instance:
    lineage = list(program.lineage(spec))
    parameters = {name: default for part in lineage for name, default in part.parameters}
    instance = Instance(path, {**parameters, **arguments}, scope)
    result.instances.append(instance)
    for part in lineage:
        _declare(instance, part)
    for part in lineage:
        for reaction in part.reactions:
            position = len(result.reactions)
            where = instance.inner(reaction.mode)
            name = f"{path}.{reaction.name}"
            instance.reactions.append(Reaction(reaction, instance, name, where, position))
    for part in lineage:
        for child in part.children:
            instance.children[child.name] = _members(program, instance, child, result)
        for connection in part.connections:
            result.links.extend(_links(instance, connection))
    return instance


def _declare(instance: Instance, spec: ClassSpec) -> None:
    for mode in spec.modes:
        instance.scopes[mode] = Scope(instance, mode)
        instance.current = instance.current or mode
    for port in spec.ports:
        path = f"{instance.path}.{port.name}"
        if port.width is None:
            instance.ports[port.name] = [Channel(path)]
        else:
            width = instance.width(port.width)
            instance.ports[port.name] = [Channel(f"{path}[{index}]") for index in range(width)]
        if port.mutable:
            instance.mutable.add(port.name)
    for timer in spec.timers:
        period_ns = None if timer.period_ns is None else instance.amount(timer.period_ns)
        where = instance.inner(timer.mode)
        instance.timers[timer.name] = Timer(timer, instance.amount(timer.offset_ns), period_ns, where)
    for action in spec.actions:
        min_delay_ns = instance.amount(action.min_delay_ns)
        instance.actions[action.name] = Action(action, min_delay_ns, instance.inner(action.mode))
    for state in spec.states:
        initial = instance.amount(state.initial)
        instance.states[state.name] = State(state, instance.inner(state.mode), initial, initial)


def _members(program: ProgramSpec, parent: Instance, child: ChildSpec, result: Elaborated) -> list[Instance]:
    spec = program.named(child.reactor)
    arguments = {name: parent.amount(value) for name, value in child.arguments}
    scope = parent.inner(child.mode)
    path = f"{parent.path}.{child.name}"
    if child.width is None:
        return [_instantiate(program, spec, path, {**arguments, "bank_index": 0}, scope, result)]
    return [
        _instantiate(program, spec, f"{path}[{index}]", {**arguments, "bank_index": index}, scope, result)
        for index in range(parent.amount(child.width))
    ]


def _links(instance: Instance, connection: ConnectionSpec) -> list[Link]:
    left: list[Channel] = []
    for reference, interleave in connection.left:
        left += instance.interleaved(reference) if interleave else instance.channels(reference)
    right = [channel for reference in connection.right for channel in instance.channels(reference)]
    scope, guarded = instance.inner(connection.mode), connection.mode is not None
    # The left side repeats until the right side is full; specifications never make it wider than the right.
    return [Link(a, b, connection.after_ns, scope, guarded) for a, b in zip(cycle(left), right, strict=False)]
