"""The declarations of a reactor class: elements and reactions, read once. `elaborate` reports the faults."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, Generic, ParamSpec, get_origin

from reactorlib.declaration.building import building, located
from reactorlib.declaration.elements import Element, Expression, Mode, Signal, Transition

P = ParamSpec("P")
Named = Element | Signal | str
Effect = Element | Transition | str


@dataclass(eq=False, repr=False)
class Reaction(Generic[P]):
    """One reaction as a class declares it: triggers, uses, effects."""

    kind: ClassVar[str] = "reaction"
    body: Callable[P, None]
    triggers: tuple[Named, ...]
    uses: tuple[Named, ...]
    effects: tuple[Effect, ...]
    deadline: Expression | None
    nested: bool
    handler: Callable[P, None] | None = None
    owner: type | None = None  # once its class is complete
    mode: Mode | None = field(default_factory=lambda: building.mode)
    fits: set[int] = field(default_factory=set)  # numbers of arguments that its method and its handler take

    def __post_init__(self) -> None:
        self.name = self.body.__name__
        code = self.body.__code__
        self.where = building.where or f"{code.co_filename}:{code.co_firstlineno}"
        self.__doc__ = self.body.__doc__

    def missed(self, handler: Callable[P, None]) -> Callable[P, None]:
        """Decorate the method that runs instead of the body when the deadline is missed. Same arguments.

        A subclass that defines a method of that name has its own handler.
        """
        if self.owner is not None:
            told = "in a subclass, a method with the name of its handler takes the handler's place, undecorated"
            raise TypeError(f"{self.owner.__name__}.{self.name} is complete: {told}")
        self.handler = _checked_body(f"{self.name}.missed", handler)
        return handler

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.owner = self.owner or owner

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else self.body.__get__(instance, owner)

    def __repr__(self) -> str:
        return f"<reaction {self.name}>"


def reaction(
    *triggers: Named,
    uses: Named | Iterable[Named] = (),
    effects: Effect | Iterable[Effect] = (),
    deadline: Expression | None = None,
    nested: bool = False,
) -> Callable[[Callable[P, None]], Reaction[P]]:
    """Make a method a reaction, run at most once at each tag at which a trigger is present.

    `triggers`, `uses` (read without triggering) and `effects` (ports set, actions scheduled, modes entered) are
    elements of the class. They are the method's arguments, in that order. `startup`, `shutdown` and `reset` trigger and
    are not passed. A Mode in `effects` is entered by reset, `history(mode)` by history.

    `deadline` is a time with a unit (`20 * MSEC`), a constructor parameter's name, or a function of parameters. When
    physical time is later than the tag by more than that, the method decorated with `.missed` runs instead, or nothing.

    Reactions of one reactor run in the order of its class. Base classes come first, from left to right. A redefined
    reaction keeps its place.

    The string "worker.out" names the port of a contained reactor. "workers.out" of a bank or list is one argument, the
    flat list of the channels of all members, bank-major. "workers[0].out" is the port of one member. With `nested=True`
    a contained reactor is one argument with the ports that are named: `worker.out`, `workers[0].out`.

    >>> from reactorlib import Input, LogicalAction, MSEC, Output, Reactor, reaction, run, startup
    >>> class Sensor(Reactor):
    ...     sample = LogicalAction[int]()
    ...     @reaction(startup, effects=sample)
    ...     def begin(self, sample):
    ...         sample.schedule(5 * MSEC, value=3)
    ...     @reaction(sample, deadline=0)
    ...     def act(self, sample):
    ...         print("in time")
    ...     @act.missed
    ...     def late(self, sample):
    ...         print("too late for", sample.value)
    >>> result = run(Sensor, fast=True)
    too late for 3
    """
    if len(triggers) == 1 and inspect.isfunction(triggers[0]):
        raise TypeError("@reaction needs its triggers: write @reaction(startup) or @reaction(some_input)")
    return lambda body: Reaction(
        _checked_body("reaction", body), triggers, _tuple("uses", uses), _tuple("effects", effects), deadline, nested
    )


def _checked_body(decorator: str, body: Callable[P, None]) -> Callable[P, None]:
    """A function whose call runs it. Raises TypeError for any other body of a reaction or handler."""
    pauses = inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body) or inspect.iscoroutinefunction(body)
    if pauses or not inspect.isfunction(body):
        raise TypeError(f"@{decorator}: {body!r} must be a plain method, neither async nor with yield")
    return body


def _tuple(role: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, Element | Signal | Transition | str):
        return (given,)
    if not isinstance(given, Iterable) or get_origin(given) is not None:
        raise TypeError(f"{role}= takes elements of the class or their names, got {given!r}")
    return tuple(given)


# That of object is a text, and `inspect` would take as long to parse it as a small program takes for all else.
_NO_PARAMETERS = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)])


class Declarations:
    """The declarations of a class, read once, in the order of its lineage. A redefined declaration keeps its place."""

    def __init__(self, cls: type) -> None:
        self.faults: list[str] = []
        found: dict[str, Any] = {}
        held = {name: value for klass in reversed(cls.__mro__) for name, value in vars(klass).items()}
        for name, given in (pair for klass in _lineage(cls) for pair in vars(klass).items()):
            if name in found or not isinstance(given, Element | Reaction):
                continue
            found[name] = held[name]
            if not isinstance(held[name], Element if isinstance(given, Element) else Reaction):
                found[name] = given
                told = f"overrides the {given.kind} {name} with something else: declare it as one, or rename it"
                self.faults.append(f"{cls.__name__}.{name} {told}{located(given.where)}")
        self.elements = {name: now for name, now in found.items() if isinstance(now, Element)}
        self.reactions = tuple(_with_handler_of(cls, now) for now in found.values() if isinstance(now, Reaction))
        self.faults += _shared(cls)
        constructor = cls.__init__  # type: ignore[misc]  # read, never called
        self.signature = _NO_PARAMETERS if constructor is object.__init__ else inspect.signature(constructor)
        # The parameters of an instance that is given no argument; None if only `bind` knows them.
        own, is_plain = list(self.signature.parameters.values()), type(self.signature) is inspect.Signature
        complete = own and all(is_plain and each.default is not each.empty for each in own[1:])
        self.defaults = {each.name: each.default for each in own[1:]} if complete else None


def _with_handler_of(cls: type, reaction: Reaction[Any]) -> Reaction[Any]:
    """The reaction with the handler that this class makes of it, in the place of one inherited by that name."""
    name = getattr(reaction.handler, "__name__", "")
    if reaction.handler is None or vars(reaction.owner or cls).get(name) is not reaction.handler:
        return reaction
    redefined = copy.copy(reaction)
    redefined.fits = set()
    redefined.handler = inspect.getattr_static(cls, name)
    return redefined


def _shared(cls: type) -> Iterator[str]:
    """Faults of attributes that can change, which all reactors of the class share on some executors only."""
    owners = {name: klass for klass in reversed(cls.__mro__) for name in vars(klass) if not name.startswith("__")}
    for name, klass in owners.items():
        kind = type(vars(klass)[name])
        if hasattr(kind, "__setitem__") or (kind.__hash__ is None and kind not in (MappingProxyType, slice)):
            written = str(getattr(klass, "__annotations__", {}).get(name)).strip("'\"")
            told = (
                f"is one {kind.__name__} that all reactors of the class share, on some executors: make it in __init__ "
                f"(self.{name} = ...), declare it as State(...), or mark a constant as ClassVar or Final"
            )
            if not re.match(r"(\w+\.)*(ClassVar|Final)\b", written):
                where = None
                with suppress(OSError, TypeError, SyntaxError):  # made without a file of Python
                    where = f"{inspect.getsourcefile(klass)}:{inspect.getsourcelines(klass)[1]}"
                yield f"{klass.__name__}.{name} {told}{located(where)}"


def _lineage(cls: type) -> Iterator[type]:
    """The base classes from left to right, each after its own bases, then the class."""
    for base in cls.__bases__:
        yield from _lineage(base)
    yield cls


def declarations_of(cls: Any) -> Declarations:
    """The declarations of a reactor class, which keeps them: they go when it goes."""
    found: Declarations | None = cls.__dict__.get("__declarations__")
    if found is None:
        found = cls.__declarations__ = Declarations(cls)
    return found


class ClassBody(dict[str, Any]):
    """The names of a class body while it runs. Refuses what is no declaration and looks like one, or what loses one."""

    def __setitem__(self, name: str, value: Any) -> None:
        kind, there, told = get_origin(value) or value, self.get(name), ""
        lost = value is not there and sum(other is there for other in self.values()) == 1  # it has no further name
        if isinstance(kind, type) and issubclass(kind, Element):
            told = f"is the class {kind.__name__}, not one of its kind: call it, as in {name} = {kind.__name__}()"
        elif "__instance__" in getattr(value, "__dict__", ()):
            told = f"is made in the class body, where no reactor contains it: make it in __init__ (self.{name} = ...)"
        elif lost and Reaction in (type(value), type(there)) and isinstance(there, Element | Reaction):
            told = f"is assigned twice, and the {there.kind} {name} would be lost"
        if told:
            raise TypeError(f"{self.get('__qualname__')}.{name} {told}")
        super().__setitem__(name, value)
