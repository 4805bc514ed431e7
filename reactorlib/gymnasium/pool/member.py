"""One worker of a pool: its environments, in a session of their own, of which some are asked at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from reactorlib.gymnasium.vector import EnvironmentTimeoutError, ListedVectorEnv, rows_of


class Member:
    """The environments [low, low + len(env_fns)) of `pool`; `options` are for their ListedVectorEnv."""

    def __init__(self, pool: str, low: int, env_fns: Sequence[Callable[[], Any]], **options: Any) -> None:
        self.low, self.count = low, len(env_fns)
        self.envs = ListedVectorEnv(env_fns, copy=False, workers=1, caller_steps=False, **options)
        self.groups = self.envs.groups
        self.groups.whole, self.groups.first = lambda: pool, low
        self._under_way: list[int] = []  # positions
        self._next: dict[int, Any] = {}  # actions of those that wait, by position
        self._answered = 0  # questions, before the one that is under way

    def reset(self, seeds: list[Any], options: Any) -> None:
        """Begin to reset all."""
        self.forget()
        each = [deepcopy(options) for _ in seeds]
        self._begin("reset", (seeds, each, None, 0), list(range(self.count)))

    def forget(self) -> None:
        """Drop what is under way: it is for nobody any more."""
        if self._under_way:
            self._under_way = []
            self.groups.replies()
        self._next.clear()

    def step(self, number: int, action: Any) -> None:
        """Let this environment take a step, which `advance` begins as soon as the worker can."""
        self._next[number - self.low] = action

    def advance(self, look: bool = False) -> tuple[Any, Any] | None:
        """Begin the steps that wait. Returns the environments whose step has ended, with rows of Results, or None.

        With `look`, it also raises WorkerError if the worker has died.
        """
        ended = None
        if self._under_way and (look or self.groups.arrays.answered[0] != self._answered):
            ended = self._ended(0.0 if look else None)
        if self._next and not self._under_way:
            actions, self._next = dict(sorted(self._next.items())), {}
            self._begin("step", (actions, 0), list(actions))
        return ended

    def close(self, timeout: float | None, terminate: bool) -> None:
        """Close all; at once, if the step that is under way takes longer than `timeout` seconds."""
        self.envs.close(terminate=terminate or (bool(self._under_way) and not self.groups.ends(timeout)))

    def _begin(self, method: str, arguments: tuple[Any, ...], positions: list[int]) -> None:
        self._answered = int(self.groups.arrays.answered[0])
        self.groups.begin(method, [arguments])
        self._under_way = positions

    def _ended(self, timeout: float | None) -> tuple[Any, Any] | None:
        positions, self._under_way = self._under_way, []
        try:
            replies = self.groups.replies(timeout)
        except EnvironmentTimeoutError:
            self._under_way = positions
            return None
        (said,), arrays = self.groups.results(replies), self.groups.arrays
        if arrays.observations:
            observations = arrays.observations[0]
        else:
            said, last = said
            observations = np.fromiter(last, object, self.count)
        infos = np.empty(self.count, object)
        for position, info, final in said:
            infos[position] = self.low + position, info, final
        columns = observations, arrays.rewards, arrays.terminations, arrays.truncations, infos
        return self.low + np.array(positions), rows_of(columns, positions)
