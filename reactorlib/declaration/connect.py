"""Connections between ports, as a constructor declares them: endpoints flattened to channels, nothing resolved yet."""

from __future__ import annotations

from collections.abc import Iterable
from operator import itemgetter
from typing import Any, Protocol, TypeVar

from reactorlib.declaration.building import building, here
from reactorlib.declaration.elements import Element, Port
from reactorlib.declaration.instance import Bound, BoundPort, Connection, Instance, PortChannel, refusal
from reactorlib.tag import time_fault

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Ports(list[PortChannel]):
    """Channels in the order in which they are connected: of the ports of a bank bank-major, unless interleaved."""


def interleaved(ports: Any) -> Any:
    """The channels of a bank's multiport in channel-major order, for `connect`.

    The ports of width 3 of a bank of 2 are a0 a1 a2 b0 b1 b2. Interleaved, they are a0 b0 a1 b1 a2 b2.

    >>> from reactorlib import Bank, Output, Reactor, elaborate, interleaved
    >>> class Pair(Reactor):
    ...     out = Output[str](width=2)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.pairs = Bank(Pair, 2)
    ...         print([(port.owner.index, channel) for port, channel in interleaved(self.pairs.out)])
    >>> program = elaborate(Main)
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    return Ports(sorted(_channels(ports, "interleaved()", here()), key=itemgetter(1)))


class _Sends(Protocol[T_co]):
    """A port as a source: a type checker lets its values go to ports of a wider type."""

    @property
    def value(self) -> T_co: ...
    @property
    def is_present(self) -> bool: ...


def connect(
    source: _Sends[T] | Iterable[_Sends[T]],
    target: Port[T] | Iterable[Port[T]],
    after: int | None = None,
    physical: bool = False,
    repeat: bool = True,
) -> None:
    """Connect ports, multiports, ports of banks, or lists of them, in a constructor.

    The left side repeats until the right side, a multiple of it, is full (broadcast). With `repeat=False` both are as
    wide. `after` is a delay with a unit, such as `3 * MSEC` (0: one microstep), None the same tag. With `physical=True`
    the value arrives at physical time. An endpoint that is no port raises at once; `elaborate` reports all other
    faults together.

    >>> from reactorlib import Input, Output, Reactor, connect, reaction, run, startup
    >>> class Hub(Reactor):
    ...     out = Output[int]()
    ...     @reaction(startup, effects=out)
    ...     def begin(self, out):
    ...         out.set(7)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.hub, self.client = Hub(), Client()
    ...         connect(self.hub.out, self.client.inp)
    >>> class Client(Reactor):
    ...     inp = Input[int]()
    ...     @reaction(inp)
    ...     def hear(self, inp):
    ...         print(inp.value)
    >>> result = run(Main)
    7
    """
    where = here()
    if not building.stack:
        raise refusal("connect() belongs in the constructor of a reactor", where)
    container: Instance = building.stack[-1]
    ends = _channels(source, "connect()", where), _channels(target, "connect()", where)
    if after is not None and (fault := time_fault(after, "after")):
        container.fault(f": connect(): {fault}", where)
        after = 0  # still meant as a delay: a cycle through the connection is no second fault
    delay = None if after is None else int(after)
    container.connections.append(Connection(*ends, delay, physical, repeat, building.mode, where))


def _channels(endpoint: Any, call: str, where: str, whole: Any = None) -> list[PortChannel]:
    if isinstance(endpoint, BoundPort):
        return endpoint.channels
    if isinstance(endpoint, Ports):
        return endpoint
    if isinstance(endpoint, PortChannel):
        return [endpoint]
    if isinstance(endpoint, Iterable) and not isinstance(endpoint, str | Bound | Element):
        whole = None if isinstance(endpoint, list | tuple) else endpoint  # such as a bank
        return [channel for part in endpoint for channel in _channels(part, call, where, whole)]
    instance = getattr(endpoint, "__instance__", None)
    ports = [name for name, one in instance.elements.items() if isinstance(one, BoundPort)] if instance else []
    hint = f": name a port of it, {' or '.join(ports)}" if ports else ""
    raise refusal(f"{call} takes ports of reactors, got {whole or endpoint!r}{hint}", where)
