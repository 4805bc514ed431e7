"""The syntax tree of a Lingua Franca file: frozen records, each with its place `where`, "path:line"."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple


class Literal(NamedTuple):
    """A value that is written out; a time is a Time."""

    value: Any


class Code(NamedTuple):
    """The text between `{=` and `=}`; line and column (from 0) are those of its first character."""

    text: str
    path: str
    line: int
    column: int


class Listing(NamedTuple):
    """Several expressions. `kind` is the bracket `(`, `[` or `{`, `init` for `x(1, 2)`, `+`, or `widthof`."""

    kind: str
    items: tuple[Expression, ...]


class PortReference(NamedTuple):
    """`port` or `container.port`. In reactions also an action, timer, signal or mode, in expressions a parameter.

    `extra` is the word around it: `interleaved`, `reset` or `history`.
    """

    container: str | None
    name: str
    where: str
    extra: str = ""

    def __str__(self) -> str:
        return self.name if self.container is None else f"{self.container}.{self.name}"


Expression = Literal | Code | Listing | PortReference


class Variable(NamedTuple):
    """A parameter with its default, an argument with its value, or, as a member, a state variable."""

    name: str
    value: Expression | None
    where: str
    reset: bool = False


class Method(NamedTuple):
    """A method; without a name, a preamble."""

    name: str
    arguments: tuple[str, ...]
    code: Code


class PortTree(NamedTuple):
    """An input or an output; `width` is None for a single port."""

    name: str
    output: bool
    mutable: bool
    width: Expression | None
    where: str


class TriggerTree(NamedTuple):
    """A timer with offset and period, or an action (logical or physical) with delay and spacing."""

    name: str
    kind: str
    first: Expression
    second: Expression | None
    policy: str | None
    where: str


class ReactionTree(NamedTuple):
    """A reaction; without a body, `code` is None."""

    name: str | None
    triggers: tuple[PortReference, ...]
    uses: tuple[PortReference, ...]
    effects: tuple[PortReference, ...]
    code: Code | None
    deadline: Expression | None
    handler: Code | None
    where: str


class Instantiation(NamedTuple):
    """A contained reactor, or with `width` a bank; `transient` where that attribute stands before it."""

    name: str
    reactor: str
    width: Expression | None
    arguments: tuple[Variable, ...]
    where: str
    transient: bool = False


class ConnectionTree(NamedTuple):
    """`sources -> targets`; `iterated` for `( ... )+`, `physical` for `~>`."""

    sources: tuple[PortReference, ...]
    targets: tuple[PortReference, ...]
    iterated: bool
    physical: bool
    after: Expression | None
    where: str


class ModeTree(NamedTuple):
    """A mode and what exists in it."""

    name: str
    initial: bool
    members: tuple[Member, ...]
    where: str


Named = Variable | PortTree | TriggerTree | Instantiation | ModeTree
Member = Method | ReactionTree | ConnectionTree | Named


@dataclass(frozen=True, slots=True, eq=False)
class ReactorTree:
    """A reactor definition; `path` is that of its file."""

    name: str
    kinds: frozenset[str]  # main, federated, realtime
    parameters: tuple[Variable, ...]
    extends: tuple[str, ...]
    members: tuple[Member, ...]
    path: str
    where: str

    @property
    def is_main(self) -> bool:
        return bool(self.kinds & {"main", "federated"})


class Import(NamedTuple):
    """`import A, B as C from "path"`; `names` maps the name used here to the name declared there."""

    names: dict[str, str]
    path: str
    package: bool
    where: str


class Property(NamedTuple):
    """A target property; a time is in nanoseconds."""

    name: str
    value: Any
    where: str


class File(NamedTuple):
    """A whole file; `path` is how its faults name it."""

    path: str
    target: str
    properties: tuple[Property, ...]
    imports: list[Import]
    preambles: list[Method]
    reactors: list[ReactorTree]


def repeated(declared: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str, str]]:
    """Each name that is declared again, with its place and the line of its first declaration."""
    first: dict[str, str] = {}
    for name, place in declared:
        if first.setdefault(name, place) is not place:
            yield name, place, first[name].rpartition(":")[2]


def codes(tree: Any) -> Iterator[Code]:
    """All code in a part of a file."""
    if isinstance(tree, Code):
        yield tree
    elif isinstance(tree, tuple | list | ReactorTree):
        for part in (tree.parameters, tree.members) if isinstance(tree, ReactorTree) else tree:
            yield from codes(part)
