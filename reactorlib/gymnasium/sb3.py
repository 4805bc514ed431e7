"""Stable-Baselines3's VecEnv on our vector environment. Imported where it is wanted: Stable-Baselines3 brings torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from stable_baselines3.common.env_util import is_wrapped
from stable_baselines3.common.vec_env.base_vec_env import VecEnv
from stable_baselines3.common.vec_env.patch_gym import _patch_env

from reactorlib.gymnasium.saving import set_as_user
from reactorlib.gymnasium.seeding import seeds_of
from reactorlib.gymnasium.vector import NOT_GIVEN, ListedVectorEnv


class ReactorVecEnv(VecEnv):
    """In the place of DummyVecEnv or SubprocVecEnv: `make_vec_env("CartPole-v1", 16, vec_env_cls=ReactorVecEnv)`.

    `start_method` says how processes start; `vec_env_kwargs` may hold what ReactorVectorEnv takes, such as `workers`.
    Results are those of DummyVecEnv, bit for bit.
    """

    reset_infos: list[dict[str, Any]]

    def __init__(self, env_fns: Sequence[Callable[[], Any]], start_method: str | None = None, **options: Any) -> None:
        make = [partial(_patched, one) for one in env_fns]
        self.env = ListedVectorEnv(make, autoreset_mode=AutoresetMode.SAME_STEP, start_method=start_method, **options)
        super().__init__(self.env.num_envs, self.env.single_observation_space, self.env.single_action_space)
        self.metadata = {key: value for key, value in self.env.metadata.items() if key != "autoreset_mode"}

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The seeds of the next reset, by the rule of `seeds`."""
        first, *_ = super().seed(seed)
        self._seeds = seeds_of(first, self.num_envs, self.env.seeds)
        return self._seeds

    def reset(self) -> Any:
        """Reset with the values of `seed` and `set_options`. Returns observations; the infos are in `reset_infos`."""
        options = [one or NOT_GIVEN for one in self._options]  # some environments of Stable-Baselines3 take none
        observations, said = self.env.reset_each(list(self._seeds), options)
        given = {row: info for row, info, _ in said}
        self.reset_infos = [given.get(row, {}) for row in range(self.num_envs)]
        self._reset_seeds()
        self._reset_options()
        return observations

    def step_async(self, actions: Any) -> None:
        """Begin to step."""
        self.env.step_async(actions)

    def step_wait(self) -> tuple[Any, Any, Any, list[dict[str, Any]]]:
        """Observations, rewards, ends, and a dictionary for each environment."""
        said: Any
        observations, rewards, terminations, truncations, said = self.env.step_wait()
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for row, info, final in said:
            infos[row] = deepcopy(info if final is None else final["final_info"])
            if final is not None:
                infos[row]["terminal_observation"], self.reset_infos[row] = final["final_obs"], info
        for info, terminated, truncated in zip(infos, terminations, truncations, strict=True):
            info["TimeLimit.truncated"] = bool(truncated and not terminated)
        return observations, rewards.astype(np.float32), np.logical_or(terminations, truncations), infos

    def close(self) -> None:
        """Close all environments."""
        self.env.close()

    def get_images(self) -> Sequence[Any]:
        """The pictures of the environments."""
        return self.env.apply(lambda env: env.render())

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of these environments."""
        return self.env.apply(lambda env: env.get_wrapper_attr(attr_name), self._chosen(indices))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set an attribute of these environments."""
        self.env.apply(partial(set_as_user, name=attr_name, value=value), self._chosen(indices))

    def env_method(self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any) -> list[Any]:
        """Call a method of these environments."""
        return self.env.apply(
            lambda env: env.get_wrapper_attr(method_name)(*method_args, **method_kwargs), self._chosen(indices)
        )

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Whether these environments have such a wrapper."""
        return self.env.apply(partial(is_wrapped, wrapper_class=wrapper_class), self._chosen(indices))

    def _chosen(self, indices: int | Iterable[int] | None) -> list[int]:
        return [range(self.num_envs)[row] for row in self._get_indices(indices)]


def _patched(make: Callable[[], Any]) -> Any:
    """An environment of today's Gymnasium, whatever the function makes."""
    return _patch_env(make())
