"""The environments of each batch of a pool: the ready ones, or those that logical time or the caller chooses."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush, nsmallest
from operator import index
from typing import Any

import numpy as np


class BatchOrder:
    """The order of arrival: the environments that are ready first. Subclasses choose others."""

    def begin(self, n: int) -> None:
        """Note that all `n` environments are reset."""

    def sent(self, ids: Iterable[int]) -> None:
        """Note that these environments are sent to."""

    def received(self) -> None:
        """Note that the batch that was chosen goes to the caller."""

    def choose(self, count: int, most: int, pending: Any) -> list[int] | None:
        """The next batch, for a caller that asks for `count` environments, and for `most` of them at most.

        `pending`: bool array (n,), of those that were sent to. Returns None for any that are ready. A caller whose wait
        has timed out asks again.
        """
        return None

    def save(self) -> dict[str, Any]:
        """The state for `restore`."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a result of `save`."""


class LogicalOrder(BatchOrder):
    """The batches follow from logical time alone.

    The results of an environment that is sent to at logical time t are due at t plus its duration. A batch holds
    exactly those that are due first. Of several that are due at one time, the one that was sent to first is first.
    """

    def __init__(self, durations: Sequence[int]) -> None:
        self._durations = durations
        self._now = self._turn = self._count = 0
        self._due: list[tuple[int, int, int]] = []  # a heap: time, turn, environment

    def begin(self, n: int) -> None:
        self._due.clear()
        self.sent(range(n))

    def sent(self, ids: Iterable[int]) -> None:
        for number in ids:
            heappush(self._due, (self._now + self._durations[number], self._turn, number))
            self._turn += 1

    def received(self) -> None:
        for _ in range(self._count):
            self._now = heappop(self._due)[0]

    def choose(self, count: int, most: int, pending: Any) -> list[int]:
        self._count = count
        return [number for _, _, number in nsmallest(count, self._due)]

    def save(self) -> dict[str, Any]:
        return {"logical": (self._now, self._turn, sorted(self._due))}

    def restore(self, state: dict[str, Any]) -> None:
        if "logical" not in state:
            raise ValueError("the state is of a pool whose `order` is not 'logical'")
        self._now, self._turn, due = state["logical"]
        self._due = list(due)


class GivenOrder(BatchOrder):
    """The batches of another run, one after the other, from the state that the other run began with."""

    def __init__(self, batches: Any, n: int) -> None:
        try:
            self._batches, self._at = [[*map(index, ids)] for ids in batches], 0
        except TypeError:
            expected = "expected 'arrival', 'logical' or the numbers of each batch"
            raise ValueError(f"`order`: {expected}, got {batches!r}") from None
        for at, ids in enumerate(self._batches):
            if not ids or len({*ids}) < len(ids) or not {*ids} <= {*range(n)}:
                raise ValueError(f"batch {at} of `order`: expected different numbers below {n}, got {ids}")

    def received(self) -> None:
        self._at += 1

    def choose(self, count: int, most: int, pending: Any) -> list[int]:
        if self._at == len(self._batches):
            raise ValueError(f"`order` ends after {self._at} batches")
        ids = self._batches[self._at]
        if not count <= len(ids) <= most:
            asked = f"{count} environments" if count == most else f"{count} to {most} environments"
            raise ValueError(f"{asked} are asked for, batch {self._at} of `order` has {len(ids)}")
        if not pending[ids].all():
            raise ValueError(f"batch {self._at} of `order` has environments {ids}, of which not all were sent to")
        return ids

    def save(self) -> dict[str, Any]:
        return {"batches": self._at}

    def restore(self, state: dict[str, Any]) -> None:
        self._at = state.get("batches", self._at)


Order = str | Iterable[Iterable[int]]


def order_of(
    order: Order, durations: Sequence[Any] | None, n: int, declared: Callable[[], Sequence[Any]]
) -> BatchOrder:
    """The order that a pool of `n` environments is asked for. `declared` returns the environments' own durations.

    Raises ValueError where the arguments contradict each other.
    """
    name = order if isinstance(order, str) else ""
    if durations is not None and name != "logical":
        raise ValueError("`durations` are for order='logical'")
    if name == "logical":
        return LogicalOrder(checked_durations(declared() if durations is None else durations, n))
    return BatchOrder() if name == "arrival" else GivenOrder(order, n)


def checked_durations(durations: Sequence[Any], n: int) -> list[int]:
    """The durations of `n` environments. Raises ValueError where they are not positive integers."""
    if len(durations) != n:
        raise ValueError(f"{len(durations)} durations for {n} environments")
    for number, duration in enumerate(durations):
        if duration is None:
            raise ValueError(f"environment {number} has no attribute `duration`: give `durations`")
        if not isinstance(duration, int | float | np.number) or duration != int(duration) or duration < 1:
            raise ValueError(f"the duration of environment {number} must be a positive integer, got {duration!r}")
    return [int(duration) for duration in durations]
