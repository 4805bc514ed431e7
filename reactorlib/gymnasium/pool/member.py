"""One worker of a pool: its environments, in a session of their own, of which some are asked at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from reactorlib.gymnasium.vector import EnvironmentTimeoutError, Info, ListedVectorEnv, rows_of


class Part(NamedTuple):
    """Results of some environments of a member, with a row for each in every array."""

    ids: Any
    observations: Any  # a batch; where they are no arrays, an array of objects
    rewards: Any
    terminations: Any
    truncations: Any
    infos: list[Info]

    def where(self, mask: Any) -> Part:
        """The rows at which a mask is True."""
        if mask.all():
            return self
        *columns, infos = self
        ids = {*self.ids[mask].tolist()}
        return Part._make([*(rows_of(one, mask) for one in columns), [info for info in infos if info[0] in ids]])


class Member:
    """The environments [low, low + len(env_fns)) of `pool`; `options` are for their ListedVectorEnv."""

    def __init__(self, pool: str, low: int, env_fns: Sequence[Callable[[], Any]], **options: Any) -> None:
        self.low, self.count = low, len(env_fns)
        self.envs = ListedVectorEnv(env_fns, copy=False, workers=1, caller_steps=False, **options)
        self.groups = self.envs.groups
        self.groups.whole, self.groups.first = lambda: pool, low
        self._arrays = self.groups.arrays
        self.parts: list[Part] = []  # that can be received
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
        self.parts.clear()
        self._next.clear()

    def take(self, wanted: Any) -> list[Part]:
        """Take out the results of the environments whose number has True in `wanted`, or of all if that is None."""
        if wanted is None:
            taken, self.parts = self.parts, []
            return taken
        taken, kept = ([part.where(mask[part.ids]) for part in self.parts] for mask in (wanted, ~wanted))
        self.parts = [part for part in kept if len(part.ids)]
        return [part for part in taken if len(part.ids)]

    def step(self, actions: dict[int, Any]) -> None:
        """Step the environments at these positions, as soon as the worker can."""
        self._next |= actions
        self.advance()

    def advance(self) -> int:
        """Take finished steps and begin those that wait. Returns how many environments can be received."""
        if self._under_way and self._arrays.answered[0] != self._answered:
            self._finish()
        if self._next and not self._under_way:
            actions, self._next = dict(sorted(self._next.items())), {}
            self._begin("step", (actions, 0), list(actions))
        return sum(len(part.ids) for part in self.parts)

    def look(self) -> None:
        """Raise WorkerError if the worker has died."""
        if self._under_way:
            with suppress(EnvironmentTimeoutError):
                self._finish(0.0)

    def close(self, timeout: float | None, terminate: bool) -> None:
        """Close all; at once, if the step that is under way takes longer than `timeout` seconds."""
        self.envs.close(terminate=terminate or (bool(self._under_way) and not self.groups.ends(timeout)))

    def _begin(self, method: str, arguments: tuple[Any, ...], positions: list[int]) -> None:
        self._answered = int(self._arrays.answered[0])
        self.groups.begin(method, [arguments])
        self._under_way = positions

    def _finish(self, timeout: float | None = None) -> None:
        try:
            said = self.groups.finish(timeout)[0]
        except EnvironmentTimeoutError:
            raise
        except BaseException:
            self._under_way = []
            raise
        positions, self._under_way = self._under_way, []
        arrays = self._arrays
        if arrays.observations:
            observations = rows_of(arrays.observations[0], positions)
        else:
            said, last = said
            observations = np.empty(len(positions), object)
            for at, position in enumerate(positions):
                observations[at] = last[position]
        columns = (arrays.rewards[positions], arrays.terminations[positions], arrays.truncations[positions])
        infos = [(self.low + position, info, final) for position, info, final in said]
        self.parts.append(Part(self.low + np.array(positions), observations, *columns, infos))
