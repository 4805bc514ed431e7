"""Connections between ports, as a constructor declares them: endpoints flattened to channels, nothing resolved yet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from reactorlib.declaration.building import building
from reactorlib.declaration.elements import Element, Port
from reactorlib.declaration.instance import Bound, BoundPort, Channel, Connection, Instance
from reactorlib.declaration.source_position import here
from reactorlib.errors import ElaborationError
from reactorlib.tag import time_fault


class Ports(list[Channel]):
    """Channels in the order in which they are connected: of the ports of a bank bank-major, unless interleaved."""


def interleaved(ports: Any) -> Any:
    """The channels of a bank's multiport in channel-major order, for `connect`.

    A bank of 2 with ports of width 3 flattens bank-major to a0 a1 a2 b0 b1 b2, interleaved to a0 b0 a1 b1 a2 b2.

    >>> from reactorlib import Bank, Input, Output, Reactor, connect, interleaved, reaction, run, startup
    >>> class Pair(Reactor):
    ...     out = Output[str](width=2)
    ...     @reaction(startup, effects=out)
    ...     def begin(self, out):
    ...         for channel, port in enumerate(out):
    ...             port.set(f"{self.bank_index}{channel}")
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.pairs, self.show = Bank(Pair, 2), Show()
    ...         connect(interleaved(self.pairs.out), self.show.inp)
    >>> class Show(Reactor):
    ...     inp = Input[str](width=4)
    ...     @reaction(inp)
    ...     def show(self, inp):
    ...         print([port.value for port in inp])
    >>> result = run(Main)
    ['00', '10', '01', '11']
    """
    channels = _channels(ports, "interleaved()", here())
    rows: dict[BoundPort, list[Channel]] = {}
    for channel in channels:
        rows.setdefault(channel[0], []).append(channel)
    width = max((len(row) for row in rows.values()), default=0)
    return Ports(row[i] for i in range(width) for row in rows.values() if i < len(row))


def connect(source: Any, target: Any, after: int | None = None, physical: bool = False, repeat: bool = True) -> None:
    """Connect ports, multiports, ports of banks, or lists of them, in a constructor.

    The left side repeats until the right side is full (broadcast). With `repeat=False` both are as wide. `after` is a
    delay in ns (0: one microstep), None the same tag. With `physical=True` the value arrives at physical time. An
    endpoint that is no port raises at once; `elaborate` reports all other faults together.

    >>> from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup
    >>> class Hub(Reactor):
    ...     out = Output[int]()
    ...     @reaction(startup, effects=out)
    ...     def begin(self, out):
    ...         out.set(7)
    >>> class Client(Reactor):
    ...     inp = Input[int]()
    ...     @reaction(inp)
    ...     def hear(self, inp):
    ...         print(self.bank_index, inp.value)
    >>> class Main(Reactor):
    ...     def __init__(self):
    ...         self.hub, self.clients = Hub(), Bank(Client, 2)
    ...         connect(self.hub.out, self.clients.inp)
    >>> result = run(Main)
    0 7
    1 7
    """
    where = here()
    if not building.stack:
        raise ElaborationError([f"{where}: connect() belongs in the constructor of a reactor"])
    container = building.stack[-1]
    fault = None if after is None else time_fault(after, "after")
    if fault is not None:
        container.fault(f": connect({_name(source)}, {_name(target)}): {fault}", where)
        after = None
    container.connections.append(
        Connection(
            _channels(source, "connect()", where),
            _channels(target, "connect()", where),
            None if after is None else int(after),
            physical,
            repeat,
            container.open_mode,
            where,
        )
    )


def _channels(endpoint: Any, call: str, where: str) -> list[Channel]:
    if isinstance(endpoint, BoundPort):
        return endpoint.channels
    if isinstance(endpoint, Ports):
        return endpoint
    if isinstance(endpoint, Channel):
        return [endpoint]
    if isinstance(endpoint, Iterable) and not isinstance(endpoint, str | Bound | Element):
        return [channel for part in endpoint for channel in _channels(part, call, where)]
    raise ElaborationError([f"{where}: {inside()}{call} takes ports of reactors, got {_portless(endpoint)}"])


def inside() -> str:
    """Whose constructor is running, for messages."""
    return f"in {'.'.join(record.name for record in building.stack)}, " if building.stack else ""


def _portless(endpoint: Any) -> str:
    """The endpoint that is no port, and the port that may be meant."""
    record = getattr(endpoint, "__instance__", None)
    if isinstance(record, Instance):
        ports = [name for name, element in record.elements.items() if isinstance(element, BoundPort)]
        hint = f"name one of its ports, {', '.join(ports)}" if ports else "it has no ports"
        return f"the reactor {record.name}: {hint}"
    if isinstance(endpoint, Port):
        return f"the declaration {endpoint!r}: write self.{endpoint.name or '<port>'}, or that of a contained reactor"
    return _name(endpoint)


def _name(endpoint: Any) -> str:
    if isinstance(endpoint, BoundPort):
        return f"{endpoint.owner.name}.{endpoint.name}"
    return repr(endpoint) if not isinstance(endpoint, list) else f"{len(endpoint)} channels"
