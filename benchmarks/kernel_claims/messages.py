"""The cost of a message by its size: claims that it is a line, without a step, for rows, environments and bytes."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, cycle
from typing import Any

import numpy as np

from benchmarks.kernel_claims.claim import Claim
from benchmarks.kernel_claims.table import Size
from benchmarks.two_ends import two_ends

VALUES = 12  # that are sent in turns
LEAST_S = 0.001  # of the processor, for one reading
AT_MOST = 1.3


@dataclass(frozen=True)
class Regime:
    """A message that grows along one axis: its sizes, and the values at each of them, of a size and a number."""

    name: str
    sizes: Sequence[int]
    make: Callable[[int, int], Any]


Row = Callable[[int], Any]


def reply(number: int) -> Any:
    """A step's result: observation, reward, terminated, truncated."""
    return np.full(4, number, "f4"), 1.0, number % 50 == 0, False


def varied(number: int) -> Any:
    """A row of a dict, of an array whose shape varies, and of a value that some rows lack."""
    return {"at": np.full(3, number, "f4"), "n": number}, np.ones(number % 3), None if number % 2 else "text"


def _steps(row: Row) -> Callable[[int, int], Any]:
    return lambda steps, number: tuple(tuple(map(row, range(number + one, number + one + steps))) for one in range(8))


def _members(row: Row) -> Callable[[int, int], Any]:
    return lambda members, number: tuple(map(row, range(number, number + members)))


STEPS = (1, 4, 10, 13, 20, 50, 200, 1000)  # of 8 environments
MEMBERS = (4, 16, 64, 100, 104, 160, 256, 1024)
KILOBYTES = (1, 8, 32, 128, 512)
MEGABYTES = (4, 8, 16, 32, 64)  # apart from kilobytes, which stay in the processor's cache
REGIMES = (
    Regime("steps of 8 environments", STEPS, _steps(reply)),
    Regime("environments", MEMBERS, _members(reply)),
    Regime("rows of many forms", MEMBERS, _members(varied)),
    Regime("rows of plain values", MEMBERS, _members(lambda number: (float(number), number, str(number), None))),
    Regime("kilobytes of an array", KILOBYTES, lambda size, _number: np.ones(size * 128)),
    Regime("megabytes of an array", MEGABYTES, lambda size, _number: np.ones(size * 131_072)),
)


def messages(size: Size) -> Iterator[Claim]:
    """For each regime, how far the cost of a message to another worker and back into a value is from a line."""
    for regime in REGIMES:
        factors = []
        for _ in range(size.blocks):
            found = costs(regime, size.sweeps)
            factors.append(bend(found))
        each = ", ".join(f"{number:,}: {1e6 * cost / number:.3g}" for number, cost in found.items())
        yield Claim(f"a message by {regime.name}: off a line", factors, "x", AT_MOST, note=f"us for each, {each}")


def costs(regime: Regime, sweeps: int) -> dict[int, float]:
    """Seconds of the processor, by size: the least of some readings, which take turns."""
    least: dict[int, float] = {}
    values = {size: cycle([regime.make(size, number) for number in range(VALUES)]) for size in regime.sizes}
    with two_ends() as (one, other):
        encoders = {size: one.codec.encoder([1]) for size in values}
        for sweep in range(-3, sweeps):  # the first ones compile
            for size, each in values.items():
                reading = _reading(partial(_journey, other.codec.decode, encoders[size], each))
                least[size] = min(least.get(size, reading), reading) if sweep > 0 else reading
    return least


def bend(costs: Mapping[int, float]) -> float:
    """The largest factor between a cost and the line that fits best: a fixed cost and one for each of a number."""
    factors = list[float]()
    for (few, cheap), (many, dear) in combinations(costs.items(), 2):
        each = (dear - cheap) / (many - few)
        fixed = max(0.0, cheap - few * each)
        ratios = [cost / (fixed + max(each, 0.0) * number) for number, cost in costs.items()]
        factors.append((max(ratios) / min(ratios)) ** 0.5)
    return min(factors)


def _journey(decode: Callable[[bytes], Any], encode: Callable[[Any], bytes], values: Iterator[Any]) -> None:
    decode(encode(next(values)))


def _reading(act: Callable[[], object]) -> float:
    calls, taken = 0, 0.0
    begun = time.thread_time()
    while taken < LEAST_S:
        act()
        calls += 1
        taken = time.thread_time() - begun
    return taken / calls
