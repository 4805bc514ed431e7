"""A reactor class from Lingua Franca while it makes instances: parameters, state, contained reactors, connections.

The kernel reads the class body; this is the constructor. Knows no syntax but references to ports.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import cycle, islice
from types import SimpleNamespace
from typing import Any, NamedTuple

from reactorlib import Bank, ElaborationError, Mode, Reactor, Time, connect, interleaved, per_member, where
from reactorlib.declaration.building import building
from reactorlib.declaration.connect import Ports
from reactorlib.declaration.instance import PortChannel, instance_of, refusal
from reactorlib.errors import words_of
from reactorlib.lf.bodies import AROUND, WIDTH_OF, Value, as_time
from reactorlib.lf.syntax import ConnectionTree, PortReference


class LinguaFrancaWarning(UserWarning):
    """Something in a Lingua Franca file that has no meaning here, or that is probably not meant."""


def warn(words: str, place: str) -> None:
    """Issue a LinguaFrancaWarning about what lies at a place."""
    path, _, line = place.rpartition(":")
    warnings.warn_explicit(words, LinguaFrancaWarning, path, int(line))


class Default(NamedTuple):
    """A parameter: its default, None where it must be given, and what stands for it in the constructor's signature.

    The default is evaluated after the parameters that it `needs`.
    """

    value: Value | None
    shown: Any
    where: str
    needs: frozenset[str]


class Stage(NamedTuple):
    """One step of a constructor: set a state variable, make a contained reactor, or connect ports."""

    name: str
    make: Callable[[Making], None]
    mode: Mode | None
    where: str


class Blueprint:
    """The constructor of the instances of one class."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.defaults: dict[str, Default] = {}
        self.shadowed: dict[str, Any] = {}  # of the class's preamble, named like an element
        self.states: list[Stage] = []
        self.parts: list[Stage] = []  # contained reactors, and after them connections

    def completed(self, given: dict[str, Any]) -> dict[str, Any]:
        """All parameters of an instance that is being made: those given, and the defaults of the others."""
        plain = {name: int(value) if isinstance(value, Time) else value for name, value in given.items()}
        own = SimpleNamespace(**{"bank_index": building.bank_index, **plain})
        pending = [name for name in self.defaults if name not in vars(own)]
        while pending:
            ready = (one for one in pending if self.defaults[one].needs.isdisjoint({*pending} - {one}))
            name = next(ready, pending[0])
            pending.remove(name)
            evaluate: Any = self.defaults[name].value  # not None: `bind` refuses an instance without such a parameter
            with _told(f"{self.name}.{name}", self.defaults[name].where):
                setattr(own, name, evaluate({**vars(own), "self": own}))
        return {name: getattr(own, name) for name in self.defaults}

    def constructor(self) -> Callable[..., None]:
        """The `__init__` of the class."""

        def construct(reactor: Any, /, **_given: Any) -> None:
            attributes, values = reactor.__dict__, instance_of(reactor).parameters
            attributes.update(values)
            for name, method in self.shadowed.items():
                attributes[name] = method.__get__(reactor) if hasattr(method, "__get__") else method
            making = Making(reactor, values)
            for stage in (*self.states, *self.parts):
                within: Any = nullcontext() if stage.mode is None else instance_of(reactor).elements[stage.mode.name]
                with within, where(stage.where), _told(stage.name, stage.where):
                    stage.make(making)

        construct.__signature__ = _Signature.of(self)  # type: ignore[attr-defined]  # what inspect looks for
        return construct


class _Signature(inspect.Signature):
    """The signature of a constructor. `bind` evaluates the defaults, since widths and times refer to them."""

    blueprint: Blueprint

    @classmethod
    def of(cls, blueprint: Blueprint) -> _Signature:
        """All parameters by name, after the reactor."""
        parameter, empty = inspect.Parameter, inspect.Parameter.empty
        made = cls([
            parameter("self", parameter.POSITIONAL_ONLY),
            *(parameter(name, parameter.KEYWORD_ONLY, default=empty if default.value is None else default.shown,
                        annotation=str if isinstance(default.shown, str) else empty)
              for name, default in blueprint.defaults.items()),
        ])  # fmt: skip
        made.blueprint = blueprint
        return made

    def bind(self, /, *args: Any, **kwargs: Any) -> inspect.BoundArguments:
        """The arguments of a call, and what the defaults of the other parameters are worth."""
        bound = super().bind(*args, **kwargs)
        bound.arguments.update(self.blueprint.completed(bound.arguments))
        return bound


class Making:
    """One instance whose constructor runs."""

    def __init__(self, reactor: Any, values: dict[str, Any]) -> None:
        self.reactor = reactor
        self.scope = {"bank_index": reactor.bank_index, **values, "self": reactor, WIDTH_OF: self.width}

    def contain(self, name: str, cls: type[Reactor], width: Value | None, arguments: dict[str, Value]) -> None:
        """Make a contained reactor, or a bank, whose arguments may depend on the index of each member."""
        if width is None:
            made: Any = cls(**{key: value(self.scope) for key, value in arguments.items()})
        else:
            given = {key: self._of_member(value) for key, value in arguments.items()}
            made = Bank(cls, width(self.scope), **given)
        self.reactor.__dict__[name] = made

    def _of_member(self, value: Value) -> Any:
        return per_member(lambda index: value({**self.scope, "bank_index": index, AROUND: self.scope}))

    def connect(self, link: ConnectionTree, after: Value | None) -> None:
        """Connect channels in pairs."""
        sources, targets = self._channels(link.sources), self._channels(link.targets)
        if link.iterated:
            sources = list(islice(cycle(sources), len(targets)))
        elif len(sources) != len(targets):
            warn(f"{len(sources)} channels meet {len(targets)}: those left over stay unconnected", link.where)
        count = min(len(sources), len(targets))
        delay = None if after is None else as_time(after(self.scope))
        source: Any = Ports(sources[:count])
        target: Any = Ports(targets[:count])
        connect(source, target, after=delay, physical=link.physical)

    def width(self, reference: PortReference) -> int:
        """The number of channels of a port."""
        return len(self._channels([reference]))

    def _channels(self, references: Iterable[PortReference]) -> list[PortChannel]:
        return [channel for reference in references for channel in self._of_port(reference)]

    def _of_port(self, reference: PortReference) -> list[PortChannel]:
        held: Any = self.reactor if reference.container is None else vars(self.reactor)[reference.container]
        channels = Ports()
        for member in held if isinstance(held, Bank) else [held]:
            port: Any = instance_of(member).elements[reference.name]
            channels += port.channels
        return interleaved(channels) if reference.extra else channels


@contextmanager
def _told(what: str, at: str) -> Iterator[None]:
    """An exception of an expression as a fault with its place."""
    try:
        yield
    except ElaborationError:
        raise
    except (Exception, SystemExit) as error:
        raise refusal(f"{type(error).__name__}: {words_of(error)}", at, what) from error
