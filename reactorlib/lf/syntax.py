"""The syntax tree of a Lingua Franca file: frozen records with line numbers. Owns no text and evaluates nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

# Expressions


class Literal(NamedTuple):
    """A value that is written out; a time is a Time."""

    value: Any


class Name(NamedTuple):
    """A parameter."""

    name: str
    line: int


class Code(NamedTuple):
    """What stands between `{=` and `=}`; line and column (from 0) are those of its first character."""

    text: str
    line: int
    column: int


class Listing(NamedTuple):
    """Several expressions in parentheses `(`, brackets `[` or braces `{`; `init` for `x(1, 2)`, which is a list."""

    bracket: str
    items: tuple[Expression, ...]


class WidthOf(NamedTuple):
    """The width of a port."""

    port: PortReference


class Sum(NamedTuple):
    """The terms of a width."""

    terms: tuple[Expression, ...]


Expression = Literal | Name | Code | Listing | WidthOf | Sum

# What a reactor contains


class PortReference(NamedTuple):
    """`port`, `container.port`, or either in `interleaved(...)`; of reactions also actions, timers and signals."""

    container: str | None
    name: str
    line: int
    interleaved: bool = False

    def __str__(self) -> str:
        return self.name if self.container is None else f"{self.container}.{self.name}"


class Effect(NamedTuple):
    """What a reaction may change; `transition` is `reset` or `history` where that is written."""

    target: PortReference
    transition: str | None


class Parameter(NamedTuple):
    """A parameter with its default, or an argument with its value."""

    name: str
    value: Expression | None
    line: int


class StateVariable(NamedTuple):
    """A state variable."""

    name: str
    value: Expression | None
    reset: bool
    line: int


class Preamble(NamedTuple):
    """Code of a file or a class."""

    code: Code


class Method(NamedTuple):
    """A method."""

    name: str
    arguments: tuple[str, ...]
    code: Code


class Port(NamedTuple):
    """An input or an output; `width` is None for a single port."""

    name: str
    output: bool
    mutable: bool
    width: Expression | None
    line: int


class Timer(NamedTuple):
    """A timer."""

    name: str
    offset: Expression
    period: Expression
    line: int


class Action(NamedTuple):
    """A logical or physical action."""

    name: str
    physical: bool
    delay: Expression
    spacing: Expression | None
    policy: str | None
    line: int


class Reaction(NamedTuple):
    """A reaction; without a body, `code` is None."""

    name: str | None
    triggers: tuple[PortReference, ...]
    uses: tuple[PortReference, ...]
    effects: tuple[Effect, ...]
    code: Code | None
    deadline: Expression | None
    handler: Code | None
    line: int


class Instantiation(NamedTuple):
    """A contained reactor, or with `width` a bank; `transient` where that attribute stands before it."""

    name: str
    reactor: str
    width: Expression | None
    arguments: tuple[Parameter, ...]
    line: int
    transient: bool = False


class Connection(NamedTuple):
    """`sources -> targets`; `iterated` for `( ... )+`, `physical` for `~>`."""

    sources: tuple[PortReference, ...]
    targets: tuple[PortReference, ...]
    iterated: bool
    physical: bool
    after: Expression | None
    line: int


class Mode(NamedTuple):
    """A mode and what exists in it."""

    name: str
    initial: bool
    members: tuple[Member, ...]
    line: int


Named = StateVariable | Port | Timer | Action | Instantiation | Mode
Member = Preamble | Method | Reaction | Connection | Named

# Files


@dataclass(frozen=True, slots=True, eq=False)
class Reactor:
    """A reactor definition; `name` is empty for a main reactor without one. The arguments of `attributes` by name."""

    name: str
    main: bool
    federated: bool
    parameters: tuple[Parameter, ...]
    extends: tuple[str, ...]
    members: tuple[Member, ...]
    attributes: dict[str, tuple[Any, ...]]
    line: int


class Import(NamedTuple):
    """`import A, B as C from "path"`; `names` maps what is used here to what it is called there."""

    names: dict[str, str]
    path: str
    package: bool
    line: int


class Property(NamedTuple):
    """A target property; a time is in nanoseconds."""

    name: str
    value: Any
    line: int


class File(NamedTuple):
    """A whole file."""

    target: str
    properties: tuple[Property, ...]
    imports: tuple[Import, ...] = ()
    preambles: tuple[Preamble, ...] = ()
    reactors: tuple[Reactor, ...] = ()


def codes(tree: Any) -> Iterator[Code]:
    """All code in a part of a file."""
    if isinstance(tree, Code):
        yield tree
    elif isinstance(tree, tuple | Reactor):
        for part in (tree.parameters, tree.members) if isinstance(tree, Reactor) else tree:
            yield from codes(part)
