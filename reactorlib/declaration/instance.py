"""The tree that constructors build: instances and the elements bound to them. Nothing is checked here."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self
from unicodedata import normalize

from reactorlib.declaration.building import building
from reactorlib.declaration.elements import MODES_DO_NOT_NEST, Element, Input, Mode
from reactorlib.declaration.source_position import located, said
from reactorlib.errors import EffectError, ReadError, did_you_mean, words_of


class Bound:
    """An element of one reactor instance, as `self.<name>` gives it in a constructor."""

    __slots__ = ("declaration", "name", "owner")

    def __init__(self, owner: Instance, name: str, declaration: Element) -> None:
        self.owner = owner
        self.name = name
        self.declaration = declaration

    @property
    def path(self) -> str:
        return f"{self.owner.path}.{self.name}"

    def __repr__(self) -> str:
        return f"<{self.declaration.kind} {self.path}>"

    @property
    def value(self) -> NoReturn:
        raise ReadError(self.path, self.name, "value")

    @property
    def is_present(self) -> NoReturn:
        raise ReadError(self.path, self.name, "is_present")


class Channel(tuple["BoundPort", int]):
    """One channel of a port, by its number: what connections join. A single port has one."""

    __slots__ = ()


class BoundPort(Bound):
    """A port or multiport of one instance: `first` is the number of its first channel in the program."""

    __slots__ = ("first", "is_input", "multi", "width")

    def __init__(self, owner: Instance, name: str, declaration: Any, width: int, multi: bool) -> None:
        super().__init__(owner, name, declaration)
        self.width = width
        self.multi = multi
        self.is_input = isinstance(declaration, Input)
        self.first = -1

    def channel_path(self, channel: int) -> str:
        return f"{self.path}[{channel}]" if self.multi else self.path

    def __len__(self) -> int:
        return self.width

    def __bool__(self) -> bool:
        return True

    @property
    def channels(self) -> list[Channel]:
        return [Channel((self, number)) for number in range(self.width)]

    def __getitem__(self, index: int | slice) -> list[Channel]:
        if not self.multi:
            raise TypeError(f"{self.path} is a single port, not a multiport: it has no channel {index!r}")
        try:
            picked = range(self.width)[index]
        except IndexError:
            raise IndexError(f"{self.path} has {self.width} channels, from 0: it has no channel {index}") from None
        return [Channel((self, number)) for number in ([picked] if isinstance(picked, int) else picked)]

    def __iter__(self) -> Iterator[list[Channel]]:
        return (self[channel] for channel in range(self.width))

    def set(self, value: object) -> None:
        raise EffectError(self.path, "set()")


class BoundTimer(Bound):
    """A timer of one instance; times in ns."""

    __slots__ = ("offset", "period")
    offset: int
    period: int


class BoundAction(Bound):
    """An action of one instance; times in ns."""

    __slots__ = ("min_delay", "min_spacing")
    min_delay: int
    min_spacing: int | None

    def schedule(self, extra_delay: int = 0, value: object = None) -> None:
        raise EffectError(self.path, "schedule()")


class BoundMode(Bound):
    """A mode of one instance; its `with` block in the constructor takes in what is made there."""

    __slots__ = ()

    def set(self) -> None:
        raise EffectError(self.path, "set()")

    def __enter__(self) -> Self:
        if not building.stack or building.stack[-1] is not self.owner:
            raise TypeError(f"only the constructor of {self.owner.name} can put something into its mode {self.name}")
        if self.owner.open_mode is not None:
            raise TypeError(MODES_DO_NOT_NEST)
        self.owner.open_mode = self
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.owner.open_mode = None


class Connection(NamedTuple):
    """`sources[i] -> targets[i]`, channel by channel; `after` is None for the same tag, else a delay in ns.

    With `repeat`, fewer sources than targets begin anew at their first.
    """

    sources: list[Channel]
    targets: list[Channel]
    after: int | None
    physical: bool
    repeat: bool
    mode: BoundMode | None
    where: str


class Instance:
    """One reactor in the tree: its elements by name, what it contains, what it connects."""

    __slots__ = (
        "children",
        "connections",
        "elements",
        "faults",
        "index",
        "made",
        "member",
        "mode",
        "name",
        "open_mode",
        "parameters",
        "parent",
        "path",
        "reactor",
        "used",
        "where",
    )

    def __init__(self, reactor: Any, parent: Instance | None, parameters: dict[str, Any], index: int) -> None:
        self.reactor = reactor
        self.parent = parent
        self.parameters = parameters
        self.index = index  # in its bank, 0 outside a bank
        self.name = type(reactor).__name__
        self.path = self.name  # final once the whole tree is named
        self.elements: dict[str, Bound] = {}
        self.children: list[Instance] = []
        self.connections: list[Connection] = []
        self.faults: list[str] = []
        self.made: tuple[Element, ...] = ()  # by its constructor, which declares nothing
        self.where = said()
        self.open_mode: BoundMode | None = None
        self.member: tuple[int, int] | None = None  # position and size, in a bank or list of its parent
        self.used = False  # of a root: its reactors have run
        # The mode of the parent in whose `with` block this reactor was made.
        self.mode: BoundMode | None = parent.open_mode if parent is not None else None

    def fault(self, text: str, where: str | None) -> None:
        """Note a fault, which is reported when paths are known. `text` follows this reactor's path."""
        self.faults.append(f"{{path}}{text}{located(where)}")

    def __repr__(self) -> str:
        return f"<reactor {self.path}>"


def typo(error: Exception, instance: Instance) -> str:
    """The end of the message of an AttributeError in the code of a reactor: the attribute that may be meant.

    Nothing if the attribute is none of this reactor or of one that it contains.
    """
    said = re.fullmatch(r"'(\w+)' object has no attribute '(\w+)'", words_of(error))
    if said is None or type(error) is not AttributeError:
        return ""
    kind, name = said.groups()
    for asked in (instance, *instance.children):
        if type(asked.reactor).__name__ == kind:
            return did_you_mean(name, (known for known in vars(asked.reactor) if not known.startswith("_")))
    return ""


def instance_of(reactor: Any) -> Instance:
    """The instance record behind a reactor object."""
    record: Instance = reactor.__instance__
    return record


def name_in(known: Container[str], text: str) -> str:
    """The name that a string means, of those that are known.

    Python reads names as NFKC has them, in which the micro sign is a Greek mu, and leaves strings as they are written.
    """
    return text if text in known else normalize("NFKC", text)


def modes_of(instance: Instance) -> list[BoundMode]:
    """The modes that an instance declares, in order."""
    return [e for e in instance.elements.values() if isinstance(e.declaration, Mode) and isinstance(e, BoundMode)]
