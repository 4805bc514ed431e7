"""Tianshou's vector environment on ours. Imported where it is wanted: Tianshou brings torch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import iterate
from tianshou.env import BaseVectorEnv

from reactorlib.gymnasium.seeding import seeds_of
from reactorlib.gymnasium.vector import NOT_GIVEN, ListedVectorEnv


class ReactorTianshouEnv(BaseVectorEnv):
    """In the place of DummyVectorEnv or ShmemVectorEnv, under `Collector`: `ReactorTianshouEnv([make_env] * 16)`.

    `options` are those of ReactorVectorEnv, such as `workers`. Results are those of DummyVectorEnv. There is no
    `wait_num` and no `timeout`: `step` waits for all environments that it steps.
    """

    def __init__(self, env_fns: Sequence[Callable[[], Any]], **options: Any) -> None:
        self.is_closed = True  # until there is something to close
        self.envs = ListedVectorEnv(env_fns, autoreset_mode=AutoresetMode.DISABLED, **options)
        self.env_num = self.wait_num = self.envs.num_envs
        self.is_async = self.is_closed = False
        self.waiting_id: list[int] = []
        self.ready_id = list(range(self.env_num))

    def reset(self, env_id: Any = None, **kwargs: Any) -> tuple[Any, Any]:
        """Reset these environments, each with the same arguments: observations and infos."""
        seeds = [kwargs.get("seed")] * self.env_num
        return self._reset(self._rows(env_id), seeds, kwargs.get("options", NOT_GIVEN))

    def _reset(self, rows: list[int], seeds: list[Any], options: Any = NOT_GIVEN) -> tuple[Any, Any]:
        mask = [row in set(rows) for row in self.ready_id]
        observations, said = self.envs.reset_each(seeds, [options] * self.env_num, mask)
        return self._observed(observations, rows), self._infos(rows, said)

    def step(self, action: Any, id: Any = None) -> tuple[Any, Any, Any, Any, Any]:  # noqa: A002  # as Tianshou's
        """Step these environments: observations, rewards, terminations, truncations and infos."""
        rows = self._rows(id)
        if len(action) != len(rows):
            raise ValueError(f"{len(action)} actions for {len(rows)} environments")
        if rows == self.ready_id and isinstance(action, np.ndarray) and self.envs.groups.arrays.actions is not None:
            *columns, said = self.envs.step(action)
        else:
            *columns, said = self.envs.step_some(dict(zip(rows, action, strict=True)))
        observations, *ends = columns
        rewards, terminations, truncations = (column[rows] for column in ends)
        said = self._infos(rows, said, numbered=True)
        return self._observed(observations, rows), rewards, terminations, truncations, said

    def seed(self, seed: Any = None) -> list[Any]:
        """Reset environment i, and its action space, with its seed by the rule of `seeds`, or its own of a list."""
        seeds = seeds_of(seed, self.env_num, self.envs.seeds)
        for row, one in enumerate(seeds):
            self.envs.apply(partial(_seed_actions, seed=one), [row])
        self._reset(self.ready_id, seeds)
        return [[one] for one in seeds]

    def get_env_attr(self, key: str, id: Any = None) -> list[Any]:  # noqa: A002
        """An attribute of these environments."""
        return self.envs.apply(lambda env: env.get_wrapper_attr(key), self._rows(id))

    def set_env_attr(self, key: str, value: Any, id: Any = None) -> None:  # noqa: A002
        """Set an attribute of these environments."""
        self.envs.apply(lambda env: setattr(env.unwrapped, key, value), self._rows(id))

    def render(self, **kwargs: Any) -> list[Any]:
        """The pictures of the environments."""
        return self.envs.apply(lambda env: env.render(**kwargs))

    def close(self) -> None:
        """Close all environments."""
        self.envs.close()
        self.is_closed = True

    def _rows(self, chosen: Any) -> list[int]:
        rows: list[int] = np.arange(self.env_num)[slice(None) if chosen is None else np.atleast_1d(chosen)].tolist()
        return rows

    def _observed(self, observations: Any, rows: list[int]) -> Any:
        """The observations of these environments in one array, of objects where they are no arrays."""
        if isinstance(observations, np.ndarray):
            return observations[rows]
        each = list(iterate(self.envs.observation_space, observations))
        chosen = [each[row] for row in rows]
        try:
            return np.stack(chosen)
        except ValueError:  # they have different shapes
            return np.array(chosen, dtype=object)

    @staticmethod
    def _infos(rows: list[int], said: Any, numbered: bool = False) -> Any:
        by_row: dict[int, Any] = {row: info for row, info, _ in said}
        infos = np.empty(len(rows), object)
        infos[:] = [by_row.get(row, {}) | ({"env_id": row} if numbered else {}) for row in rows]
        return infos


def _seed_actions(env: Any, seed: Any) -> None:
    env.action_space.seed(seed)
