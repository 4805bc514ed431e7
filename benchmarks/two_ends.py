"""Messages between two workers whose ends are in one process, so that processor time measures them."""

from collections.abc import Iterator
from contextlib import contextmanager

from reactorlib.transport.exchange import Endpoint, Exchange

CAPACITY = 1 << 30  # bytes of shared memory


@contextmanager
def two_ends() -> Iterator[tuple[Endpoint, Endpoint]]:
    """The ends of workers 0 and 1 of an exchange."""
    exchange = Exchange(2, capacity=CAPACITY)
    try:
        yield Endpoint(exchange, 0, lambda: None), Endpoint(exchange, 1, lambda: None)
    finally:
        exchange.close()
