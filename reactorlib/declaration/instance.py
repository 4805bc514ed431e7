"""The tree that constructors build: instances and the elements bound to them. Nothing is checked here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple, NoReturn, Self

from reactorlib.declaration.building import building, located
from reactorlib.declaration.elements import Action, Element, Input, Mode, ModeBlock, Port, Timer
from reactorlib.errors import EffectError, ElaborationError


class Bound:
    """An element of one reactor instance, as `self.<name>` gives it in a constructor."""

    __slots__ = ("declaration", "name", "owner")
    declaration: Element

    def __init__(self, owner: Instance, name: str, declaration: Any) -> None:
        self.owner = owner
        self.name = name
        self.declaration = declaration

    @property
    def path(self) -> str:
        return f"{self.owner.path}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self.declaration.kind} {self.path}>"

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what only the arguments of a reaction offer."""
        if name in ("set", "schedule"):
            raise EffectError(self.path, f"{name}()")
        hint = ": a reaction that lists it is given one that has" if name in ("value", "is_present") else ""
        raise AttributeError(f"{self!r} has no attribute {name!r}{hint}")


class PortChannel(tuple["BoundPort", int]):
    """One channel of a port, by its number: what connections join. A single port has one."""

    __slots__ = ()


class BoundPort(Bound):
    """A port or multiport of one instance: `first` is the number of its first channel in the program."""

    __slots__ = ("first", "is_input", "multi", "width")
    declaration: Port[Any]

    def __init__(self, owner: Instance, name: str, declaration: Port[Any], width: int) -> None:
        super().__init__(owner, name, declaration)
        self.width = width
        self.multi = declaration.width is not None
        self.is_input = isinstance(declaration, Input)
        self.first = -1

    def channel_path(self, channel: int) -> str:
        return f"{self.path}[{channel}]" if self.multi else self.path

    def __len__(self) -> int:
        return self.width

    @property
    def channels(self) -> list[PortChannel]:
        return [PortChannel((self, number)) for number in range(self.width)]

    def __getitem__(self, index: int | slice) -> list[PortChannel]:
        picked = self.channels[index]
        return [picked] if isinstance(picked, PortChannel) else picked

    def __iter__(self) -> Iterator[list[PortChannel]]:
        return ([channel] for channel in self.channels)


class BoundTrigger(Bound):
    """A timer or an action of one instance; times in ns. `delay` is the offset or the minimum delay."""

    __slots__ = ("delay", "min_spacing", "period")
    declaration: Timer | Action[Any]
    delay: int
    period: int
    min_spacing: int | None


class BoundMode(Bound, ModeBlock):
    """A mode of one instance; its `with` block in the constructor takes in what is made there."""

    __slots__ = ()
    declaration: Mode

    def __enter__(self) -> Self:
        if not building.stack or building.stack[-1] is not self.owner:
            raise TypeError(f"only the constructor of {self.owner.name} can put something into its mode {self.name}")
        return super().__enter__()


class Connection(NamedTuple):
    """`sources[i] -> targets[i]`, channel by channel; `after` is None for the same tag, else a delay in ns.

    With `repeat`, fewer sources than targets begin anew at their first.
    """

    sources: list[PortChannel]
    targets: list[PortChannel]
    after: int | None
    physical: bool
    repeat: bool
    mode: BoundMode | None
    where: str


@dataclass(slots=True, eq=False, repr=False)
class Instance:
    """One reactor in the tree: its elements by name, what it contains, what it connects."""

    reactor: Any
    parameters: dict[str, Any]
    parent: Instance | None
    index: int  # in its bank, 0 outside a bank
    mode: BoundMode | None  # the mode of the parent in whose `with` block it was made
    where: str | None
    name: str
    path: str  # final once the whole tree is named
    elements: dict[str, Bound] = field(default_factory=dict)
    children: list[Instance] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    member: tuple[int, int] | None = None  # position and size, in a bank or list of its parent
    made_at: tuple[CodeType, int] | None = None  # the code that made it, and the instruction there

    def fault(self, text: str, where: str | None) -> None:
        """Note a fault, which is reported when paths are known. `text` follows this reactor's path."""
        self.faults.append(f"{{path}}{text}{located(where)}")

    @property
    def line(self) -> str | None:
        """The position of the call that made it, for messages."""
        if self.where is not None or self.made_at is None:
            return self.where
        code, instruction = self.made_at
        lines = (line for begin, end, line in code.co_lines() if begin <= instruction < end)
        return f"{code.co_filename}:{next(lines, code.co_firstlineno)}"

    @property
    def modes(self) -> list[BoundMode]:
        """The modes that it declares, in order."""
        return [element for element in self.elements.values() if isinstance(element, BoundMode)]

    def __repr__(self) -> str:
        return f"<reactor {self.path}>"


def instance_of(reactor: Any) -> Instance:
    """The instance record behind a reactor object."""
    return reactor.__instance__  # type: ignore[no-any-return]


def refusal(text: str, where: str | None, *inner: str) -> ElaborationError:
    """A fault that ends the construction. `inner` follows the path of the reactor under construction."""
    path = ".".join([*(record.name for record in building.stack), *inner])
    return ElaborationError([f"{path}: {text}{located(where)}" if path else f"{text}{located(where)}"])
