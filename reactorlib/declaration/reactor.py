"""Reactor and Bank: how a class becomes instances. Faults are collected here and reported by `elaborate`."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any, Generic, Self, TypeVar, overload

from reactorlib.declaration.building import building
from reactorlib.declaration.class_body import Body, Declarations, declarations_of
from reactorlib.declaration.connect import Ports, inside
from reactorlib.declaration.elements import Action, Element, Port, State, Timer
from reactorlib.declaration.instance import (
    Bound,
    BoundAction,
    BoundMode,
    BoundPort,
    BoundTimer,
    Instance,
    instance_of,
    name_in,
    typo,
)
from reactorlib.declaration.source_position import here, located, raised_at
from reactorlib.errors import ElaborationError, ReactorError, did_you_mean, words_of
from reactorlib.tag import is_count, time_fault

R = TypeVar("R", bound="Reactor")


class _ReactorType(type):
    """Makes instances: binds the declared elements first, so that the constructor can connect them."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **options: Any) -> Body:
        return Body()

    def __call__(cls: type[R], /, *args: Any, **kwargs: Any) -> R:  # type: ignore[misc]  # of Reactor alone
        declared = declarations_of(cls)
        parent = building.stack[-1] if building.stack else None
        self: R = cls.__new__(cls)
        parameters = _parameters(cls, declared, self, args, kwargs)
        instance = Instance(self, parent, parameters, building.bank_index)
        building.bank_index = 0
        attributes = self.__dict__
        attributes["__instance__"] = instance
        attributes["bank_index"] = instance.index
        for name, element in declared.elements.items():
            if isinstance(element, State):
                attributes[name] = _first_value(instance, name, element)
            else:
                attributes[name] = instance.elements[name] = _bind(instance, name, element)
        if parent is not None:
            parent.children.append(instance)
        building.stack.append(instance)
        try:
            cls.__init__(self, *args, **kwargs)
        except ReactorError:
            raise
        except Exception as error:
            path = ".".join(record.name for record in building.stack)
            raised = f"{type(error).__name__}: {words_of(error)}{typo(error, instance)}"
            where = instance.where or raised_at(error.__traceback__)
            raise ElaborationError([f"{path}: the constructor raised {raised}{located(where)}"]) from error
        finally:
            building.stack.pop()
        if instance.made:
            _refuse(instance)
        return self


def _parameters(
    cls: type, declared: Declarations, self: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    if declared.plain:
        if args or kwargs:
            got = ", ".join([*map(repr, args), *kwargs])
            fault = f" has no constructor of its own and takes no parameters, got {got}"
            raise ElaborationError([f"{_path_of(cls)}{fault}{_made_at()}"])
        return {}
    try:
        bound = declared.signature.bind(self, *args, **kwargs)
    except TypeError as error:
        names = list(declared.signature.parameters)[1:]
        hint = next((did_you_mean(name, names) for name in kwargs if name not in names), "")
        raise ElaborationError([f"{_path_of(cls)}{declared.signature}: {error}{hint}{_made_at()}"]) from error
    bound.apply_defaults()
    parameters = dict(bound.arguments)
    del parameters[next(iter(declared.signature.parameters))]
    for name, value in parameters.items():
        if isinstance(value, _PerMember):
            raise ElaborationError([f"{_path_of(cls)}: {name}=per_member(...) is for a Bank{_made_at()}"])
    return parameters


def _refuse(instance: Instance) -> None:
    """Note elements made in a constructor. Those with a name belong to a class body in the constructor."""
    for element in instance.made:
        if not element.name:
            name = next((f".{key}" for key, value in vars(instance.reactor).items() if value is element), "")
            told = f"{element.kind} made in the constructor: what a reactor has is declared in the body of its class"
            instance.fault(f"{name}: {'an' if element.kind[0] in 'aio' else 'a'} {told}", element.where)


def _path_of(cls: type) -> str:
    """Where in the tree a reactor of this class is being made, by the names of classes."""
    return ".".join([record.name for record in building.stack] + [cls.__name__])


def _made_at() -> str:
    """The line that makes a contained reactor; the top-level one is made by `run` or `elaborate`."""
    return located(here()) if building.stack else ""


def _first_value(instance: Instance, name: str, state: State[Any]) -> Any:
    try:
        return state.initial() if callable(state.initial) else copy.deepcopy(state.initial)
    except Exception as error:
        path = _path_of(type(instance.reactor))
        doing = (
            "calling its initial value, without arguments," if callable(state.initial) else "copying its initial value"
        )
        raised = f"{type(error).__name__}: {words_of(error)}"
        raise ElaborationError([f"{path}.{name}: {doing} raised {raised}{located(state.where)}"]) from error


def _bind(instance: Instance, name: str, element: Element) -> Bound:
    if isinstance(element, Port):
        if element.width is None:
            return BoundPort(instance, name, element, 1, multi=False)
        before = len(instance.faults)
        width = evaluate(instance, element.width, f"{name}: width", element.where)
        if is_count(width):
            return BoundPort(instance, name, element, int(width), multi=True)
        if len(instance.faults) == before:
            instance.fault(f".{name}: width must be a positive integer, got {width!r}", element.where)
        return BoundPort(instance, name, element, 1, multi=True)
    if isinstance(element, Timer):
        timer = BoundTimer(instance, name, element)
        period = 0 if element.period is None else element.period
        timer.offset = duration(instance, element.offset, f"{name}: offset", element.where)
        timer.period = duration(instance, period, f"{name}: period", element.where)
        return timer
    if isinstance(element, Action):
        action = BoundAction(instance, name, element)
        action.min_delay = duration(instance, element.min_delay, f"{name}: min_delay", element.where)
        if element.min_spacing is None:
            action.min_spacing = None
        else:
            action.min_spacing = duration(instance, element.min_spacing, f"{name}: min_spacing", element.where)
        return action
    return BoundMode(instance, name, element)


def evaluate(instance: Instance, expression: Any, what: str, where: str) -> Any:
    """The value of an expression of constructor parameters; a fault is noted, as one of `where`, and gives None."""
    if not isinstance(expression, str) and not callable(expression):
        return expression
    known = {"bank_index": instance.index, **instance.parameters}
    if isinstance(expression, str):
        name = name_in(known, expression)
        if name not in known:
            hint = did_you_mean(expression, instance.parameters)
            instance.fault(f".{what} names no constructor parameter, got {expression!r}{hint}", where)
        return known.get(name)
    try:
        names = inspect.signature(expression).parameters
    except ValueError:  # some built-in functions have no signature
        instance.fault(f".{what} must be a value or a function of parameters, got {expression!r}", where)
        return None
    missing = [name for name in names if name not in known]
    if missing:
        hint = did_you_mean(missing[0], instance.parameters)
        instance.fault(f".{what} uses {', '.join(missing)}, no constructor parameter{hint}", where)
        return None
    try:
        return expression(**{name: known[name] for name in names})
    except Exception as error:  # noqa: BLE001  # of the user's code, told as a fault
        instance.fault(f".{what}: the function raised {type(error).__name__}: {words_of(error)}", where)
        return None


def duration(instance: Instance, expression: Any, what: str, where: str) -> int:
    """An expression of constructor parameters that must be a time in ns; a fault is noted and gives 0."""
    before = len(instance.faults)
    value = evaluate(instance, expression, what, where)
    fault = time_fault(value, what) if len(instance.faults) == before else None
    if fault is not None:
        instance.fault(f".{fault}", where)
        return 0
    return int(value) if len(instance.faults) == before else 0


class Reactor(metaclass=_ReactorType):
    """The base of every reactor class. It reserves no attribute but `bank_index`.

    >>> from reactorlib import Reactor, reaction, run, startup
    >>> class Hello(Reactor):
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print("hello")
    >>> result = run(Hello)
    hello
    """

    bank_index: int

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """A reactor has its place in a program: copies keep referring to it."""
        return self


def is_reactor_class(given: object) -> bool:
    """Whether this is a class of reactors."""
    return isinstance(given, type) and issubclass(given, Reactor)


class _PerMember:
    """The argument of a Bank that `per_member` makes."""

    def __init__(self, value: Callable[[int], Any]) -> None:
        self.value = value


def per_member(value: Callable[[int], Any]) -> Any:
    """An argument of a Bank that is `value(bank_index)` for each member.

    >>> from reactorlib import Bank, Reactor, per_member, reaction, run, startup
    >>> class Member(Reactor):
    ...     def __init__(self, name: str):
    ...         self.name = name
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(self.name)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.members = Bank(Member, 2, name=per_member("number {}".format))
    >>> result = run(Main)
    number 0
    number 1
    """
    if not callable(value):
        raise TypeError(f"per_member takes a function of the bank index, got {value!r}")
    return _PerMember(value)


def _of_member(index: int, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    def own(argument: Any) -> Any:
        return argument.value(index) if isinstance(argument, _PerMember) else argument

    return [own(argument) for argument in args], {name: own(argument) for name, argument in kwargs.items()}


class Bank(Generic[R]):
    """`width` instances of one reactor class; `bank.port` is that port of all members, for `connect`.

    Members are indexed and iterated; each knows its `bank_index`. The other arguments go to each constructor, those in
    `per_member` as they are for that member.

    >>> from reactorlib import Bank, Reactor, reaction, run, startup
    >>> class Member(Reactor):
    ...     def __init__(self, greeting: str):
    ...         self.greeting = greeting
    ...     @reaction(startup)
    ...     def begin(self):
    ...         print(self.greeting, self.bank_index)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.members = Bank(Member, 3, greeting="hi")
    >>> result = run(Main)
    hi 0
    hi 1
    hi 2
    """

    def __init__(self, cls: type[R], width: int, /, *args: Any, **kwargs: Any) -> None:
        if not is_reactor_class(cls):
            found: Any = cls
            got = f"a reactor: write Bank({type(found).__name__}, ...)" if isinstance(found, Reactor) else repr(found)
            raise ElaborationError([f"{here()}: {inside()}Bank takes a reactor class, got {got}"])
        if not building.stack:
            raise ElaborationError([f"{here()}: Bank({cls.__name__}, ...) belongs in the constructor of a reactor"])
        if not is_count(width):
            building.stack[-1].fault(f": Bank({cls.__name__}, {width!r}): width must be a positive integer", here())
            width = 1
        width = int(width)
        self._members: list[R] = []
        alike = not any(isinstance(argument, _PerMember) for argument in (*args, *kwargs.values()))
        for index in range(width):
            own, named = (args, kwargs) if alike else _of_member(index, args, kwargs)
            building.bank_index = index
            self._members.append(cls(*own, **named))

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[R]:
        return iter(self._members)

    @overload
    def __getitem__(self, index: int) -> R: ...
    @overload
    def __getitem__(self, index: slice) -> list[R]: ...
    def __getitem__(self, index: int | slice) -> R | list[R]:
        return self._members[index]

    def __getattr__(self, name: str) -> Any:
        if name == "_members" or name.startswith("__"):
            raise AttributeError(name)
        ports = Ports()
        for member in self._members:
            port = instance_of(member).elements.get(name)
            if not isinstance(port, BoundPort):
                known = [key for key, bound in instance_of(member).elements.items() if isinstance(bound, BoundPort)]
                told = f"{type(member).__name__} has no port {name!r}{did_you_mean(name, known)}"
                raise AttributeError(f"a bank offers the ports of its members, and {told}")
            ports += port.channels
        return ports
