"""The environments of one worker, and the operations on them: reset, step, call. Autoreset is in `written_step`."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector import AutoresetMode

from reactorlib.gymnasium.distinct import Distinct, Known, bare
from reactorlib.gymnasium.generators import forms
from reactorlib.gymnasium.infos import Info
from reactorlib.gymnasium.layout import Arrays, Layout, rows_of, rows_to_write
from reactorlib.gymnasium.saved_environment import Refused, SavedEnvironment, restore_one, save_one
from reactorlib.gymnasium.written_step import written_for

NOT_GIVEN = ...  # options that `reset` is called without
NOT_CALLED = ("reset", "step", "close", "_setattr", "_check_spaces")


class Share:
    """The environments [low, low + len(make)) of a vector environment.

    `rewards`, `terminations` and `truncations` are its own; `publish` copies them to `arrays`, which others see.
    `first` is the environment that the caller made. Only environment 0 may be that again.
    """

    def __init__(
        self,
        number: int,
        low: int,
        make: Sequence[Callable[[], Any]],
        layout: Layout,
        arrays: Arrays,
        mode: AutoresetMode,
        first: Known,
    ) -> None:
        self.low, self.count, self.arrays = low, len(make), arrays
        own = slice(low, low + self.count)
        self.inside = memoryview(arrays.inside[number : number + 1])
        columns = [one[own] for one in (arrays.rewards, arrays.terminations, arrays.truncations)]
        mine: list[Any] = [memoryview(np.zeros_like(one)) for one in columns]
        self.rewards, self.terminations, self.truncations = mine
        self._published = [memoryview(one) for one in columns]
        self.rows = [rows_to_write(layout.observation_space, batch, own) for batch in arrays.observations]
        self._actions: Any = None if arrays.actions is None else arrays.actions[own]
        # Whether the last observations are needed again: the user may have written to what lies in one place.
        self._rotates = layout.in_place or len(self.rows) != 1
        self.ended = [False] * self.count
        self.last: list[Any] = [None] * self.count  # observations
        self.envs: list[Any] = []
        self.generators: dict[str, Any] = {}  # global ones of a process without other code, when it began
        self._step, self._put = written_for(self, layout.observation_space, mode, self._rotates)
        distinct = Distinct()
        if low and (other := first()) is not None:
            distinct.add(other)
        for position, one in enumerate(make):
            self._enter(position)
            self.envs.append(one())
            distinct.add(bare(self.envs[-1]))
        self._leave()

    def _enter(self, position: int) -> None:
        """Let others see which environment is being called."""
        self.inside[0] = self.low + position

    def _leave(self) -> None:
        self.inside[0] = -1

    def publish(self) -> None:
        """Let others see rewards and ends."""
        rewards, terminations, truncations = self._published
        rewards[:], terminations[:], truncations[:] = self.rewards, self.terminations, self.truncations

    def reset(
        self, seeds: Sequence[Any], options: Sequence[Any], mask: Sequence[bool] | None, buffer: int
    ) -> list[Info]:
        """Reset all environments, or those of the mask, each with its seed and options."""
        infos: list[Info] = []
        for position, env in enumerate(self.envs):
            self._enter(position)
            if mask is None or mask[position]:
                given = {} if options[position] is NOT_GIVEN else {"options": options[position]}
                observation, info = env.reset(seed=seeds[position], **given)
                self.rewards[position] = 0.0
                self.ended[position] = self.terminations[position] = self.truncations[position] = False
                self._put(position, observation, buffer)
                if info:
                    infos.append((self.low + position, info, None))
            elif self._rotates and self.last[position] is not None:
                self._put(position, self.last[position], buffer)
        self._leave()
        self.publish()
        return infos

    def step(self, actions: Sequence[Any] | dict[int, Any], buffer: int) -> list[Info]:
        """Step all environments, or those whose positions have an action. Ended ones are reset as the mode says."""
        if isinstance(actions, dict):
            return self._step(actions, actions.values(), buffer)
        return self._step(range(self.count), actions, buffer)

    def step_all(self, buffer: int) -> list[Info]:
        """Step with the actions that lie in the arrays; an environment may keep its own."""
        return self._step(range(self.count), self._actions.copy(), buffer)

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
        now, saved = forms(), []
        drawn = [name for name, form in self.generators.items() if now[name] != form]
        for position, env in enumerate(self.envs):
            self._enter(position)
            kept = self.last[position] if self._rotates else rows_of(self.arrays.observations[0], self.low + position)
            saved.append(save_one(env, self.ended[position], kept, drawn))
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
            self.envs[position] = restored
            self.ended[position] = self.terminations[position] = one.ended
            self.truncations[position] = False
            if self._rotates:  # batches that the user keeps stay as they are
                self.last[position] = one.observation
            elif one.observation is not None:
                self._put(position, one.observation, 0)
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
