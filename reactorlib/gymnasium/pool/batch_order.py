"""The environments that a pool returns in a batch: the ready ones, or the ones that logical time chooses."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, nsmallest
from typing import Any

import numpy as np


class BatchOrder:
    """The choice of the environments in a batch: by default those that are ready first. Subclasses choose otherwise."""

    def reset(self, seeds: list[Any], options: Any) -> list[Any]:
        """Note that all environments are reset. Returns the seeds to use."""
        return seeds

    def send(self, ids: Sequence[int], actions: Sequence[Any]) -> None:
        """Note that each of these environments takes a step."""

    def choose(self, count: int) -> list[int] | None:
        """The next batch, for a caller that asks for `count` environments. None: any that are ready.

        A caller whose wait has timed out asks again.
        """
        return None

    def received(self, ids: list[int], observations: Any, *columns: Any) -> None:
        """Note a batch that goes to the caller. `columns` are rewards, terminations and truncations."""

    def save(self) -> dict[str, Any]:
        """The state for `restore`."""
        return {}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        """Continue from a result of `save`, which is a part of the state of the `whole` pool."""

    def close(self) -> None:
        """Note that the pool is closed."""


class LogicalOrder(BatchOrder):
    """Each environment has a duration, and the batches follow from logical time alone.

    The results of an environment that is sent to at logical time t are due at t plus its duration. A batch holds
    exactly those that are due first. Of several that are due at one time, the one that was sent to first is first.
    """

    def __init__(self, durations: Sequence[int]) -> None:
        self._durations = durations
        self._now = self._turn = 0
        self._due: list[tuple[int, int, int]] = []  # a heap: time, turn, environment

    def reset(self, seeds: list[Any], options: Any) -> list[Any]:
        self._due.clear()
        self.send(range(len(seeds)), ())
        return seeds

    def send(self, ids: Sequence[int], actions: Sequence[Any]) -> None:
        for number in ids:
            heappush(self._due, (self._now + self._durations[number], self._turn, number))
            self._turn += 1

    def choose(self, count: int) -> list[int]:
        return [number for _, _, number in nsmallest(count, self._due)]

    def received(self, ids: list[int], observations: Any, *columns: Any) -> None:
        for _ in ids:
            self._now = heappop(self._due)[0]

    def save(self) -> dict[str, Any]:
        return {"logical": (self._now, self._turn, sorted(self._due))}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        if "logical" not in state:
            raise ValueError("the state is of a pool whose `order` is not 'logical'")
        self._now, self._turn, due = state["logical"]
        self._due = list(due)


def check_order(order: str, durations: Any, record: Any, replay: Any) -> None:
    """Raise ValueError for arguments of a pool that contradict each other."""
    if order not in ("arrival", "logical"):
        raise ValueError(f"`order` must be 'arrival' or 'logical', got {order!r}")
    if durations is not None and order != "logical":
        raise ValueError("`durations` are for order='logical'")
    if replay is not None and (order != "arrival" or record is not None):
        raise ValueError("`replay` decides the order itself, and records nothing: neither `order` nor `record`")


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
