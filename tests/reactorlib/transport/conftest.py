"""Exchanges for the tests: in both ways to order memory, closed at the end."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from reactorlib.transport.exchange import Exchange

MakeExchange = Callable[..., Exchange]


@pytest.fixture(params=[False, True], ids=["ordered", "fenced"])
def fenced(request: pytest.FixtureRequest) -> bool:
    """Whether memory is ordered by fences, or by the machine's store order."""
    chosen: bool = request.param
    return chosen


@pytest.fixture
def make_exchange() -> Iterator[MakeExchange]:
    """Makes exchanges that are closed at the end of the test."""
    made: list[Exchange] = []

    def make(workers: int = 2, **options: Any) -> Exchange:
        made.append(Exchange(workers, **{"capacity": 256 << 20, **options}))
        return made[-1]

    yield make
    for exchange in made:
        exchange.close()
