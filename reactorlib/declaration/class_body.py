"""The declarations of a reactor class: elements and reactions, read once. `elaborate` reports the faults."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from types import MappingProxyType
from typing import Any, Generic, ParamSpec, TypeVar, get_args, get_origin

from reactorlib.declaration.building import building
from reactorlib.declaration.elements import Element, Expression, Mode, Signal, Transition
from reactorlib.declaration.source_position import located, said

P = ParamSpec("P")
D = TypeVar("D")
Named = Element | Signal | str
Effect = Element | Transition | str


class Reaction(Generic[P]):
    """One reaction as a class declares it: triggers, uses, effects."""

    def __init__(
        self,
        body: Callable[P, None],
        triggers: tuple[Named, ...],
        uses: tuple[Named, ...],
        effects: tuple[Effect, ...],
        deadline: Expression | None,
        nested: bool,
    ) -> None:
        self.body = body
        self.owner: type | None = None  # once its class is complete
        self.name = body.__name__
        self.triggers = triggers
        self.uses = uses
        self.effects = effects
        self.deadline = deadline
        self.nested = nested
        self.handler: Callable[P, None] | None = None
        self.fits: set[int] = set()  # numbers of arguments that its method and its handler were found to take
        self.mode: Mode | None = building.mode
        self.where = said() or f"{body.__code__.co_filename}:{body.__code__.co_firstlineno}"
        self.__doc__ = body.__doc__

    def missed(self, handler: Callable[P, None]) -> Callable[P, None]:
        """Decorate the method that runs instead of the body when the deadline is missed. Same arguments.

        A subclass that defines a method of that name has its own handler.
        """
        owner = self.owner
        if owner is not None:
            raise TypeError(
                f"{owner.__name__}.{self.name} is complete: in a subclass, a method with the name of its handler "
                "takes the handler's place, undecorated; or declare the reaction anew"
            )
        fault = _body_fault(handler)
        if fault is not None:
            raise TypeError(f"@{self.name}.missed {fault}")
        self.handler = handler
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
    elements of the class. A string such as "worker.out" names the port of a contained reactor. They are the method's
    arguments, in that order; `startup`, `shutdown` and `reset` trigger and are not passed.

    `deadline` is in ns, or a constructor parameter's name, or a function of parameters. When physical time is later
    than the tag by more than that, the method decorated with `.missed` runs instead, or nothing.

    Reactions of one reactor run in the order of its class. Base classes come first, from left to right. A redefined
    reaction keeps its place.

    "workers.out" of a bank or list is one argument, the flat list of the channels of all members, bank-major;
    "workers[0].out" is the port of one. With `nested=True` a contained reactor is one argument that has the ports named
    of it: `workers[0].out` for "workers.out", `worker.out` for "worker.out". A Mode in `effects` is entered by reset:
    `history(mode)` says otherwise.

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

    def declare(body: Callable[P, None]) -> Reaction[P]:
        fault = _body_fault(body)
        if fault is not None:
            raise TypeError(f"@reaction {fault}")
        return Reaction(body, triggers, _tuple("uses", uses), _tuple("effects", effects), deadline, nested)

    if len(triggers) == 1 and inspect.isfunction(triggers[0]):
        raise TypeError("@reaction needs its triggers: write @reaction(startup) or @reaction(some_input)")
    return declare


def _body_fault(body: Any) -> str | None:
    """Why a reaction or a handler cannot be made of this, or None. A call of a generator or coroutine runs nothing."""
    if not inspect.isfunction(body):
        return f"decorates a method, got {body!r}"
    if inspect.isgeneratorfunction(body) or inspect.isasyncgenfunction(body):
        return f"decorates a plain method: {body.__qualname__} contains yield, which would keep it from running"
    if inspect.iscoroutinefunction(body):
        return f"decorates a plain method: {body.__qualname__} is async, which would keep it from running"
    return None


def _tuple(role: str, given: Any) -> tuple[Any, ...]:
    if isinstance(given, Element | Signal | Transition | str):
        return (given,)
    if not isinstance(given, Iterable) or get_origin(given) is not None:
        raise TypeError(f"{role}= takes elements of the class or their names, got {given!r}")
    return tuple(given)


_OF_NOTHING = inspect.Signature([inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)])


class Declarations:
    """The declarations of a class, read once. Base classes come first, from left to right, each after its own bases.

    A redefined declaration keeps its place.
    """

    def __init__(self, cls: type) -> None:
        elements: dict[str, Element] = {}
        reactions: dict[str, Reaction[Any]] = {}
        self.faults: list[str] = []
        overridden: dict[str, str] = {}
        for klass in reversed(cls.__mro__):
            for name, declared in vars(klass).items():
                if name in reactions and not isinstance(declared, Reaction):
                    where = reactions[name].where
                    overridden[name] = f"overrides a reaction with something that is none: decorate it{located(where)}"
                elif name in elements and not isinstance(declared, Element):
                    overridden[name] = (
                        f"overrides the {elements[name].kind} {name} with something that is no such declaration: "
                        f"declare it as one, or name it otherwise{located(elements[name].where)}"
                    )
                elif isinstance(declared, Element | Reaction):
                    overridden.pop(name, None)
                    if isinstance(declared, Element):
                        elements[name] = declared
                    else:
                        reactions[name] = declared
        self.faults += [f"{cls.__name__}.{name} {how}" for name, how in overridden.items()]
        self.faults += _undeclared(cls)
        self.elements = _in_place(cls, Element, elements)
        in_place = _in_place(cls, Reaction, reactions).values()
        self.reactions = tuple(self._with_handler_of(cls, reaction) for reaction in in_place)
        constructor = cls.__init__  # type: ignore[misc]  # read, never called
        # Of object's own inspect would parse a text, which takes as long as all else that a small program does.
        self.signature = _OF_NOTHING if constructor is object.__init__ else inspect.signature(constructor)
        self.plain = cls.__init__ is object.__init__  # type: ignore[misc]  # as above

    def _with_handler_of(self, cls: type, reaction: Reaction[Any]) -> Reaction[Any]:
        """The reaction with the handler that this class makes of it, in the place of one inherited by that name."""
        handler, owner = reaction.handler, reaction.owner
        if handler is None or owner is None:
            return reaction
        name = handler.__name__
        if vars(owner).get(name) is not handler or (found := inspect.getattr_static(cls, name)) is handler:
            return reaction
        fault = _body_fault(found)
        if fault is not None:
            self.faults.append(
                f"{cls.__name__}.{name} overrides the handler of {reaction.name}'s missed deadline with "
                f"something that is no plain method{located(reaction.where)}"
            )
            return reaction
        redefined = copy.copy(reaction)
        redefined.fits = set()
        redefined.handler = found
        return redefined


def _in_place(cls: type, kind: type, found: dict[str, D]) -> dict[str, D]:
    """The declarations of this kind, each where its name was declared first."""
    declared = ((name, given) for klass in _lineage(cls) for name, given in vars(klass).items())
    return {name: found[name] for name, given in declared if isinstance(given, kind) and name in found}


def _lineage(cls: type) -> Iterator[type]:
    """The base classes, each after its own bases, then the class."""
    for base in cls.__bases__:
        yield from _lineage(base)
    yield cls


def _undeclared(cls: type) -> Iterator[str]:
    """Faults of attributes that were meant as declarations, or that all reactors of the class would share."""
    held = {name: (klass, value) for klass in reversed(cls.__mro__) for name, value in vars(klass).items()}
    for name, (klass, value) in held.items():
        kind = get_origin(value) or value
        if isinstance(kind, type) and issubclass(kind, Element):
            told = f"is the class {kind.__name__}, not one of its kind: call it, {name} = {_source(kind, value)}()"
        elif "__instance__" in getattr(value, "__dict__", ()):
            told = f"is made in the class body, where no reactor contains it: make it in __init__ (self.{name} = ...)"
        elif name.startswith("__") or not _is_mutable(value) or _is_constant(klass, name):
            continue
        else:
            told = (
                f"is one {type(value).__name__} that all reactors of the class share, on some executors: make it in "
                f"__init__ (self.{name} = ...), declare it as State(...), or mark a constant as ClassVar or Final"
            )
        yield f"{klass.__name__}.{name} {told}{located(_line_of(klass))}"


def _source(kind: type, value: Any) -> str:
    """An element's class as it was written, such as Output[int]."""
    inner = ", ".join(getattr(argument, "__name__", repr(argument)) for argument in get_args(value))
    return f"{kind.__name__}[{inner}]" if inner else kind.__name__


def _is_mutable(value: Any) -> bool:
    kind = type(value)
    return hasattr(kind, "__setitem__") or (kind.__hash__ is None and kind not in (MappingProxyType, slice))


def _is_constant(klass: type, name: str) -> bool:
    """Whether a class marks an attribute as ClassVar or Final; the annotation may be a string."""
    annotation = getattr(klass, "__annotations__", {}).get(name)
    written = annotation if isinstance(annotation, str) else repr(annotation)
    return re.match(r"['\"]?(\w+\.)*(ClassVar|Final)\b", written) is not None


def _line_of(klass: type) -> str | None:
    try:
        return f"{inspect.getsourcefile(klass)}:{inspect.getsourcelines(klass)[1]}"
    except (OSError, TypeError, SyntaxError):  # made without a file of Python
        return None


def declarations_of(cls: Any) -> Declarations:
    """The declarations of a reactor class, which keeps them: they go when it goes."""
    found: Declarations | None = cls.__dict__.get("__declarations__")
    if found is None:
        found = cls.__declarations__ = Declarations(cls)
    return found


class Body(dict[str, Any]):
    """The names of a class body while it runs. No reaction may take the name of another declaration."""

    def __setitem__(self, name: str, value: Any) -> None:
        there = self.get(name)
        if (
            isinstance(value, Reaction)
            and (isinstance(there, Element) or (isinstance(there, Reaction) and there.body is not value.body))
            and not any(other is there for key, other in self.items() if key != name)
        ):
            kind = there.kind if isinstance(there, Element) else "reaction"
            raise TypeError(f"{self.get('__qualname__')}.{name} is assigned twice, and the {kind} {name} would be lost")
        super().__setitem__(name, value)
