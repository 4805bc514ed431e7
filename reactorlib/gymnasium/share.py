"""The environments of one worker, and what is done with them: reset, step, call. Autoreset is here."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector import AutoresetMode

from reactorlib.gymnasium.layout import Arrays, Layout, rows_of, writer
from reactorlib.gymnasium.saved_environment import Refused, SavedEnvironment, restore_one, save_one

Info = tuple[int, dict[str, Any], dict[str, Any] | None]  # an environment, its infos, and those of its end
NOT_GIVEN = ...  # options that `reset` is called without
NOT_CALLED = ("reset", "step", "close", "_setattr", "_check_spaces")


class Share:
    """The environments [low, low + len(make)) of a vector environment."""

    def __init__(
        self,
        number: int,
        low: int,
        make: Sequence[Callable[[], Any]],
        layout: Layout,
        arrays: Arrays,
        mode: AutoresetMode,
    ) -> None:
        self.low, self.arrays, self.mode = low, arrays, mode
        self.count = len(make)
        self._inside, self._number = arrays.inside, number
        self._writers = [writer(layout.observation_space, batch, low, self.count) for batch in arrays.observations]
        self._rotates = len(self._writers) != 1  # the last observations are needed again
        self._ended = [False] * self.count
        self.last: list[Any] = [None] * self.count  # observations
        self.envs: list[Any] = []
        for position, one in enumerate(make):
            self._enter(position)
            self.envs.append(one())
        self._leave()

    def _enter(self, position: int) -> None:
        """Let others see which environment is being called."""
        self._inside[self._number] = self.low + position

    def _leave(self) -> None:
        self._inside[self._number] = -1

    def _put(self, buffer: int, position: int, observation: Any) -> None:
        if self._rotates:
            self.last[position] = observation
        if self._writers:
            self._writers[buffer](position, observation)

    def reset(
        self, seeds: Sequence[Any], options: Sequence[Any], mask: Sequence[bool] | None, buffer: int
    ) -> list[Info]:
        """Reset all environments, or those of the mask, each with its seed and options."""
        infos: list[Info] = []
        arrays = self.arrays
        for position, env in enumerate(self.envs):
            self._enter(position)
            if mask is None or mask[position]:
                given = {} if options[position] is NOT_GIVEN else {"options": options[position]}
                observation, info = env.reset(seed=seeds[position], **given)
                self._ended[position] = False
                row = self.low + position
                arrays.rewards[row], arrays.terminations[row], arrays.truncations[row] = 0.0, False, False
                self._put(buffer, position, observation)
                if info:
                    infos.append((self.low + position, info, None))
            elif self._rotates:
                self._put(buffer, position, self.last[position])
        self._leave()
        return infos

    def step(self, actions: Sequence[Any] | dict[int, Any], buffer: int) -> list[Info]:
        """Step all environments, or those whose positions have an action; what has ended is reset as the mode says."""
        arrays, ended, mode, low = self.arrays, self._ended, self.mode, self.low
        rewards, terminations, truncations = arrays.rewards, arrays.terminations, arrays.truncations
        write = self._writers[buffer] if self._writers else None
        inside, number, last, rotates = self._inside, self._number, self.last, self._rotates
        infos: list[Info] = []
        envs, chosen = self.envs, actions if isinstance(actions, dict) else range(self.count)
        for position in chosen:
            env = envs[position]
            row = inside[number] = low + position
            final = None
            if not ended[position]:
                observation, reward, terminated, truncated, info = env.step(actions[position])
                try:
                    rewards[row] = reward
                except (TypeError, ValueError):  # an array with one element, as some environments return it
                    rewards[row] = np.asarray(reward).item()
                terminations[row] = terminated
                truncations[row] = truncated
                if terminated or truncated:
                    if mode is AutoresetMode.SAME_STEP:
                        final = {"final_obs": deepcopy(observation), "final_info": _kept(info)}
                        observation, info = env.reset()
                    else:
                        ended[position] = True
            elif mode is AutoresetMode.NEXT_STEP:
                observation, info = env.reset()
                rewards[row], terminations[row], truncations[row] = 0.0, False, False
                ended[position] = False
            else:
                raise AssertionError("the episode has ended: reset this environment first (autoreset_mode is disabled)")
            if write is not None:
                write(position, observation)
            if rotates:
                last[position] = observation
            if info or final:
                infos.append((row, info, final))
        inside[number] = -1
        return infos

    def step_all(self, buffer: int) -> list[Info]:
        """Step with the actions that lie in the arrays; an environment may keep its own."""
        return self.step(self.arrays.actions[self.low : self.low + self.count].copy(), buffer)

    def call(self, name: str, arguments: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The results of a method of each environment, given its own arguments, or its attributes."""
        if name in NOT_CALLED:
            raise ValueError(f"Trying to call function `{name}` with `call`, use `{name}` directly instead.")
        results = []
        for position, (env, (args, kwargs)) in enumerate(zip(self.envs, arguments, strict=True)):
            self._enter(position)
            found = env.get_wrapper_attr(name)
            results.append(found(*args, **kwargs) if callable(found) else found)
        self._leave()
        return results

    def apply(self, function: Callable[[Any], Any], chosen: Sequence[int]) -> list[Any]:
        """The results of a function for the chosen environments of this share."""
        results = []
        for position, env in enumerate(self.envs):
            if self.low + position in chosen:
                self._enter(position)
                results.append(function(env))
        self._leave()
        return results

    def set_attr(self, name: str, values: Sequence[Any]) -> None:
        """Set an attribute of each environment."""
        for position, (env, value) in enumerate(zip(self.envs, values, strict=True)):
            self._enter(position)
            env.set_wrapper_attr(name, value)
        self._leave()

    def compare(self, same: bool, observation_space: Any, action_space: Any) -> list[tuple[bool, bool]]:
        """Whether the spaces of each environment are these, or equivalent to the first."""
        rows = []
        for env in self.envs:
            alike = operator.eq if same else is_space_dtype_shape_equiv
            rows.append((bool(alike(observation_space, env.observation_space)), bool(action_space == env.action_space)))
        return rows

    def save(self) -> list[SavedEnvironment | Refused]:
        """The state of each environment."""
        saved = []
        for position, env in enumerate(self.envs):
            self._enter(position)
            kept = self.last[position] if self._rotates else rows_of(self.arrays.observations[0], self.low + position)
            saved.append(save_one(env, self._ended[position], kept))
        self._leave()
        return saved

    def restore(self, saved: Sequence[SavedEnvironment]) -> list[Refused | None]:
        """Bring each environment to its state. Returns those that do not come to it, None for the others."""
        refused: list[Refused | None] = [None] * self.count
        for position, (env, one) in enumerate(zip(self.envs, saved, strict=True)):
            self._enter(position)
            restored = restore_one(env, one.content)
            if isinstance(restored, Refused):
                refused[position] = restored
                continue
            self.envs[position], self._ended[position] = restored, one.ended
            for buffer in range(max(1, len(self._writers)) if one.observation is not None else 0):
                self._put(buffer, position, one.observation)
        self._leave()
        return refused

    def close(self) -> None:
        """Close all environments; then raises what the first of them raised that did."""
        failed: list[tuple[int, Exception]] = []
        envs, self.envs = self.envs, []
        for position, env in enumerate(envs):
            try:
                env.close()
            except Exception as error:  # noqa: BLE001  # the environment's: the others are closed all the same
                failed.append((position, error))
        if failed:
            self._enter(failed[0][0])
            raise failed[0][1]


def _kept(info: Any) -> Any:
    """A copy of infos whose arrays the environment may write to again."""
    if isinstance(info, dict):
        return {key: _kept(value) for key, value in info.items()}
    return info.copy() if isinstance(info, np.ndarray) else info


def only_numbers(infos: Sequence[Info], n: int) -> dict[str, Any] | None:
    """The infos of all environments, where all have the same plain numbers: column by column. None where not."""
    if len(infos) != n:
        return None
    first = infos[0][1]
    keys, kinds = [*first], [type(value) for value in first.values()]
    if not all(kind is int or kind is float or kind is bool for kind in kinds):
        return None
    for _, info, final in infos:
        if final is not None or [*info] != keys or [type(value) for value in info.values()] != kinds:
            return None
    merged: dict[str, Any] = {}
    for key, kind in zip(keys, kinds, strict=True):
        merged[key] = np.array([info[key] for _, info, _ in infos], dtype=kind)
        merged[f"_{key}"] = np.ones(n, dtype=np.bool_)
    return merged
