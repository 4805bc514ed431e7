"""Reactor and Bank: how a class becomes instances. Faults are collected here and reported by `elaborate`."""

from __future__ import annotations

import copy
import inspect
import sys
from abc import ABCMeta
from collections.abc import Callable, Iterator
from typing import Any, Generic, NamedTuple, Self, TypeVar

from reactorlib.declaration.building import building, here, raised_at
from reactorlib.declaration.class_body import ClassBody, Declarations, declarations_of
from reactorlib.declaration.connect import Ports
from reactorlib.declaration.elements import Element, Mode, Port, State, Timer
from reactorlib.declaration.instance import Bound, BoundMode, BoundPort, BoundTrigger, Instance, instance_of, refusal
from reactorlib.errors import ReactorError, did_you_mean, words_of
from reactorlib.tag import count_fault, time_fault

R = TypeVar("R", bound="Reactor")


class _ReactorType(ABCMeta):
    """Makes instances: binds the declared elements first, so that the constructor can connect them.

    It is that of abstract classes, so that a reactor class may have abstract methods, and one of them as another base.
    """

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **options: Any) -> ClassBody:
        return ClassBody()

    def __call__(cls: type[R], /, *args: Any, **kwargs: Any) -> R:  # type: ignore[misc]  # of Reactor alone
        declared = declarations_of(cls)
        if missing := sorted(cls.__abstractmethods__):
            raise refusal(f"{cls.__name__} is abstract: a subclass has to define {', '.join(missing)}", here())
        self: R = cls.__new__(cls)
        parameters, name = _parameters(self, declared, args, kwargs), cls.__name__
        parent = building.stack[-1] if building.stack else None
        instance = Instance(self, parameters, parent, building.bank_index, building.mode, building.where, name, name)
        caller = sys._getframe(1)
        if caller.f_code is _BANK and caller.f_back is not None:
            caller = caller.f_back
        instance.made_at = caller.f_code, caller.f_lasti
        building.bank_index = 0
        attributes = self.__dict__
        attributes["__instance__"] = instance
        attributes["bank_index"] = instance.index
        for key, element in declared.elements.items():
            if isinstance(element, State):
                attributes[key] = _first_value(instance, key, element)
            else:
                attributes[key] = instance.elements[key] = _bind(instance, key, element)
        if parent is not None:
            parent.children.append(instance)
        outer = building.mode, building.where
        building.stack.append(instance)
        building.mode = building.where = None
        try:
            cls.__init__(self, *args, **kwargs)
        except ReactorError:
            raise
        except Exception as error:
            where = instance.where or raised_at(error.__traceback__)
            words = f"{words_of(error)}{_near(error)}"
            raise refusal(f"the constructor raised {type(error).__name__}: {words}", where) from error
        finally:
            building.stack.pop()
            building.mode, building.where = outer
        return self


def _near(error: Exception) -> str:
    """The end of a message about an attribute that a reactor does not have."""
    if not isinstance(error, AttributeError) or not isinstance(error.obj, Reactor):
        return ""
    return did_you_mean(str(error.name), instance_of(error.obj).elements)


def _parameters(self: object, declared: Declarations, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    if declared.defaults is not None and not args and not kwargs:
        return declared.defaults.copy()
    try:
        bound = declared.signature.bind(self, *args, **kwargs)
    except TypeError as error:
        where = here() if building.stack else None  # `run` or `elaborate` makes the main reactor
        raise refusal(f"{type(self).__name__}{declared.signature}: {error}", where) from error
    bound.apply_defaults()
    parameters = dict(bound.arguments)
    del parameters[next(iter(declared.signature.parameters))]
    return parameters


def _first_value(instance: Instance, name: str, state: State[Any]) -> Any:
    try:
        return state.initial() if callable(state.initial) else copy.deepcopy(state.initial)
    except Exception as error:
        raised = f"its initial value, called or copied, raised {type(error).__name__}: {words_of(error)}"
        raise refusal(raised, state.where, instance.name, name) from error


def _bind(instance: Instance, name: str, element: Element) -> Bound:
    if isinstance(element, Port):
        width = 1
        if element.width is not None:
            width = int(evaluate(instance, element.width, f"{name}: width", element.where, count_fault) or 1)
        return BoundPort(instance, name, element, width)

    if isinstance(element, Mode):
        return BoundMode(instance, name, element)

    def time(role: str) -> int | None:
        given = getattr(element, role, None)
        return None if given is None else duration(instance, given, f"{name}: {role}", element.where)

    trigger = BoundTrigger(instance, name, element)
    trigger.delay = time("offset" if isinstance(element, Timer) else "min_delay") or 0
    trigger.period, trigger.min_spacing = time("period") or 0, time("min_spacing")
    return trigger


def duration(instance: Instance, expression: Any, what: str, where: str) -> int:
    """An expression of constructor parameters that must be a time in ns; a fault is noted and gives 0."""
    return int(evaluate(instance, expression, what, where, time_fault) or 0)


def evaluate(
    instance: Instance, expression: Any, what: str, where: str, fault_of: Callable[[Any, str], str | None]
) -> Any:
    """The value of an expression of constructor parameters. A fault, also one of the value, is noted: None."""
    value, fault = expression, None
    if isinstance(expression, str) or callable(expression):
        known = {"bank_index": instance.index, **instance.parameters}
        try:
            names = [expression] if isinstance(expression, str) else list(inspect.signature(expression).parameters)
            missing = next((name for name in names if name not in known), None)
            if missing is not None:
                fault = f"{what}: no constructor parameter {missing!r}{did_you_mean(missing, instance.parameters)}"
            else:
                given = {name: known[name] for name in names}
                value = given[expression] if isinstance(expression, str) else expression(**given)
        except Exception as error:  # noqa: BLE001  # of the user's code, reported as a fault
            fault = f"{what}: the function raised {type(error).__name__}: {words_of(error)}"
    fault = fault or fault_of(value, what)
    if fault is not None:
        instance.fault(f".{fault}", where)
    return value if fault is None else None


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

    def __repr__(self) -> str:
        return repr(instance_of(self))

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """A reactor has its place in a program: copies keep referring to it."""
        return self


def is_reactor_class(given: object) -> bool:
    """Whether this is a class of reactors."""
    return isinstance(given, type) and issubclass(given, Reactor)


class _PerMember(NamedTuple):
    value: Callable[[int], Any]


def per_member(value: Callable[[int], Any]) -> Any:
    """An argument of a Bank that is `value(bank_index)` for each member.

    >>> from reactorlib import Bank, Reactor, elaborate, per_member
    >>> class Member(Reactor):
    ...     def __init__(self, name: str):
    ...         print(name)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.members = Bank(Member, 2, name=per_member("number {}".format))
    >>> program = elaborate(Main)
    number 0
    number 1
    """
    return _PerMember(value)


class Bank(Generic[R]):
    """`width` instances of one reactor class; `bank.port` is that port of all members, for `connect`.

    A bank has an index, an iterator and `len()`, and each member its `bank_index`. The other arguments go to each
    constructor, those in `per_member` as they are for that member.

    >>> from reactorlib import Bank, Reactor, elaborate
    >>> class Member(Reactor):
    ...     def __init__(self, greeting: str):
    ...         print(greeting, self.bank_index)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.members = Bank(Member, 2, greeting="hi")
    >>> program = elaborate(Main)
    hi 0
    hi 1
    """

    def __init__(self, cls: type[R], width: int, /, *args: Any, **kwargs: Any) -> None:
        if not is_reactor_class(cls):
            raise refusal(f"Bank takes a reactor class, got {cls!r}", here())
        if not building.stack:
            raise refusal(f"Bank({cls.__name__}, ...) belongs in the constructor of a reactor", here())
        if fault := count_fault(width, f"Bank({cls.__name__}, ...): width"):
            building.stack[-1].fault(f": {fault}", here())
            width = 1
        self._members: list[R] = []
        for index in range(int(width)):
            own = [arg.value(index) if isinstance(arg, _PerMember) else arg for arg in args]
            named = {key: arg.value(index) if isinstance(arg, _PerMember) else arg for key, arg in kwargs.items()}
            building.bank_index = index
            self._members.append(cls(*own, **named))

    def __repr__(self) -> str:
        return f"<bank of {len(self)} {type(self[0]).__name__}>"

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[R]:
        return iter(self._members)

    def __getitem__(self, index: int) -> R:
        return self._members[index]

    def __getattr__(self, name: str) -> Any:
        if name == "_members" or name.startswith("__"):
            raise AttributeError(name)
        ports = Ports()
        for member in self._members:
            elements = instance_of(member).elements
            port = elements.get(name)
            if not isinstance(port, BoundPort):
                raise AttributeError(f"{type(member).__name__} has no port {name!r}{did_you_mean(name, elements)}")
            ports += port.channels
        return ports


_BANK = Bank.__init__.__code__
