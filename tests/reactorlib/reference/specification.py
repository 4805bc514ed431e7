"""A reactor program as plain data: what the interpreter runs and what the builder turns into classes.

Every time is an integer number of nanoseconds. Nothing here knows how a program is run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.reactorlib.reference.rule import Rule

# A width is a literal, the name of a parameter, or (name, k): the expression `name * k`. None is no multiport.
Width = int | str | tuple[str, int]
# Triggers that are no elements. No element has such a name.
STARTUP, SHUTDOWN, RESET = SIGNALS = ("<startup>", "<shutdown>", "<reset>")
# A time, a small number or the name of the parameter that holds it.
Amount = int | str


@dataclass(frozen=True)
class PortSpec:
    name: str
    direction: str  # "input" or "output"
    width: Width | None = None
    mutable: bool = False


@dataclass(frozen=True)
class TimerSpec:
    """A timer; `period_ns` None fires once."""

    name: str
    offset_ns: Amount
    period_ns: Amount | None
    mode: str | None = None


@dataclass(frozen=True)
class ActionSpec:
    name: str
    min_delay_ns: Amount
    min_spacing_ns: int | None = None
    policy: str = "defer"
    mode: str | None = None


@dataclass(frozen=True)
class StateSpec:
    """An integer state variable, which a reset entry of its mode re-initialises when `reset`.

    `initial` may be the name of a parameter: then the constructor gives it its value.
    """

    name: str
    initial: Amount
    reset: bool
    mode: str | None = None


@dataclass(frozen=True)
class ReactionSpec:
    """One reaction.

    A trigger is one of SIGNALS, the name of an element, or "child.port". So is a use or an effect. An effect may also
    be ("reset" or "history", mode). `late` is the rule of the deadline handler.
    """

    name: str
    triggers: tuple[str, ...]
    uses: tuple[str, ...]
    effects: tuple[str | tuple[str, str], ...]
    rule: Rule
    deadline_ns: int | None = None
    late: Rule | None = None
    mode: str | None = None


@dataclass(frozen=True)
class ChildSpec:
    """A contained reactor, or a bank where `width` is given; arguments are values or names of parameters."""

    name: str
    reactor: str
    width: Amount | None
    arguments: tuple[tuple[str, Amount], ...]
    mode: str | None = None


@dataclass(frozen=True)
class ConnectionSpec:
    """One `connect` statement: ports on both sides, each left one with whether it is interleaved."""

    left: tuple[tuple[str, bool], ...]
    right: tuple[str, ...]
    after_ns: int | None = None
    mode: str | None = None


@dataclass(frozen=True)
class ClassSpec:
    """A reactor class. Parameters carry their defaults; the first mode is the initial one."""

    name: str
    base: str | None = None
    parameters: tuple[tuple[str, int], ...] = ()
    ports: tuple[PortSpec, ...] = ()
    modes: tuple[str, ...] = ()
    timers: tuple[TimerSpec, ...] = ()
    actions: tuple[ActionSpec, ...] = ()
    states: tuple[StateSpec, ...] = ()
    reactions: tuple[ReactionSpec, ...] = ()
    children: tuple[ChildSpec, ...] = ()
    connections: tuple[ConnectionSpec, ...] = ()

    @property
    def element_names(self) -> list[str]:
        """The elements that a reaction may name, other than ports of contained reactors."""
        named: tuple[PortSpec | TimerSpec | ActionSpec, ...] = (*self.ports, *self.timers, *self.actions)
        return [element.name for element in named]


@dataclass(frozen=True)
class ProgramSpec:
    """A whole program: classes in the order of definition, the last one being the main reactor."""

    classes: tuple[ClassSpec, ...]
    timeout_ns: int

    @property
    def main(self) -> ClassSpec:
        return self.classes[-1]

    def named(self, name: str) -> ClassSpec:
        return next(spec for spec in self.classes if spec.name == name)

    def lineage(self, spec: ClassSpec) -> Iterator[ClassSpec]:
        """The class and its bases, base first."""
        if spec.base is not None:
            yield from self.lineage(self.named(spec.base))
        yield spec


def times_name(name: str) -> bool:
    """Whether a parameter of this name holds a time (and not a number)."""
    return name.startswith("d")
