"""The environments that a pool returns in a batch: the ready ones, or the ones that logical time chooses."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush, nsmallest
from typing import Any, NamedTuple

import numpy as np


class Entry(NamedTuple):
    """A call of a pool's method, and what it asks or returns: `columns` with a value for each of the environments.

    `reset_async` has the column of seeds, `send` that of actions. `recv` has rewards, terminations, truncations and
    observations. `more` are the options of a reset, or the state of `restore`.
    """

    call: str
    ids: list[int]
    columns: list[Any]
    more: Any = None


class BatchOrder:
    """The choice of the environments in a batch: without `durations` those that are ready first.

    With them, the batches follow from logical time alone. The results of an environment that is sent to at logical time
    t are due at t plus its duration. A batch holds exactly those that are due first. Of several that are due at one
    time, the one that was sent to first is first. Subclasses also write a record of a pool, or follow one.
    """

    def __init__(self, durations: Sequence[int] | None = None) -> None:
        self._durations = durations
        self._now = self._turn = 0
        self._due: list[tuple[int, int, int]] = []  # a heap: time, turn, environment

    def note(self, entry: Entry) -> Entry:
        """Note a reset, actions that are sent, or a batch that goes to the caller. Returns it with the seeds to use."""
        if self._durations is None:
            return entry
        if entry.call == "reset_async":
            self._due.clear()
        for number in entry.ids:
            if entry.call == "recv":
                self._now = heappop(self._due)[0]
            else:
                heappush(self._due, (self._now + self._durations[number], self._turn, number))
                self._turn += 1
        return entry

    def choose(self, count: int) -> list[int] | None:
        """The next batch, for a caller that asks for `count` environments. None: any that are ready.

        A caller whose wait has timed out asks again.
        """
        return None if self._durations is None else [number for _, _, number in nsmallest(count, self._due)]

    def save(self) -> dict[str, Any]:
        """The state for `restore`."""
        return {} if self._durations is None else {"logical": (self._now, self._turn, sorted(self._due))}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        """Continue from a result of `save`, which is a part of the state of the `whole` pool."""
        if self._durations is not None:
            if "logical" not in state:
                raise ValueError("the state is of a pool whose `order` is not 'logical'")
            self._now, self._turn, due = state["logical"]
            self._due = list(due)

    def close(self) -> None:
        """Note that the pool is closed."""


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
