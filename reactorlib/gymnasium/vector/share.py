"""The environments of one worker, and the operations on them: reset, step, call."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, NamedTuple

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from reactorlib.gymnasium.isolation import forms
from reactorlib.gymnasium.saving import Refused, SavedEnvironment, restore_one, save_one
from reactorlib.gymnasium.vector.infos import Info
from reactorlib.gymnasium.vector.layout import Arrays, Layout, rows_of, writer

NOT_GIVEN = ...  # options that `reset` is called without


class Setup(NamedTuple):
    """The facts that all shares know from the start. cloudpickle takes them to a process that is spawned."""

    make: list[Callable[[], Any]]
    bounds: Sequence[int]  # of shares
    layout: Layout
    mode: AutoresetMode
    process: int  # the caller's
    forked: bool  # whether other processes have what the main script defines
    apart: bool  # whether they share no memory with the caller's

    def __reduce__(self) -> Any:
        return _setup, (cloudpickle.dumps(tuple(self)),)


def _setup(pickled: bytes) -> Setup:
    return Setup._make(pickle.loads(pickled))


class Share:
    """The environments of one share of a vector environment, the `number`-th.

    Its rewards go to `arrays` once a round, as workers that write to one cache line wait for each other.
    """

    def __init__(self, setup: Setup, number: int, arrays: Arrays) -> None:
        low, high = setup.bounds[number : number + 2]
        self.low, self.count, self.arrays, layout = low, high - low, arrays, setup.layout
        own = slice(low, low + self.count)
        self.inside = memoryview(arrays.inside[number : number + 1])
        columns: list[Any] = [
            np.zeros(self.count),
            arrays.rewards[own],
            arrays.terminations[own],
            arrays.truncations[own],
        ]
        views: list[Any] = [memoryview(column) for column in columns]
        self.rewards, self._published, self.terminations, self.truncations = views
        writers = [writer(layout.observation_space, batch, own) for batch in arrays.observations]
        self._actions: Any = None if arrays.actions is None else arrays.actions[own]
        # Whether the last observations are needed again: the user may have written to what lies in one place.
        self._rotates = layout.in_place or len(writers) != 1
        # The rows that `_step` writes without a call, which costs as much as writing a small one.
        self._space: Any = layout.observation_space
        is_single = isinstance(self._space, spaces.Box) and not self._rotates
        self._rows = [arrays.observations[0][row, ...] for row in range(low, high)] if is_single else []
        self._mode = setup.mode
        self.ended = [False] * self.count  # whether its last step ended an episode
        self.last: list[Any] = [None] * self.count  # observations
        # For each batch, the function that puts an observation at a position.
        keeping = [partial(_put_and_keep, put, self.last) for put in writers] if self._rotates else writers
        self._puts = keeping or [self.last.__setitem__]
        self.envs: list[Any] = []
        self.generators: dict[str, Any] = {}  # global ones of a process without other code, when it began
        for _, make in self._each(setup.make[low:high]):
            self.envs.append(make())

    def _each(self, things: Sequence[Any] | None = None) -> Iterator[tuple[int, Any]]:
        """Each position and its environment, or thing. Others see which one is being called, also one that raises."""
        for position, thing in enumerate(self.envs if things is None else things):
            self.inside[0] = self.low + position
            yield position, thing
        self.inside[0] = -1

    def reset(
        self, seeds: Sequence[Any], options: Sequence[Any], mask: Sequence[bool] | None, buffer: int
    ) -> list[Info]:
        """Reset all environments, or those of the mask, each with its seed and options."""
        infos: list[Info] = []
        for position, env in self._each():
            if mask is None or mask[position]:
                given = {} if options[position] is NOT_GIVEN else {"options": options[position]}
                self._begin(position, env.reset(seed=seeds[position], **given), buffer, infos)
            elif self._rotates and self.last[position] is not None:
                self._puts[buffer](position, self.last[position])
        self._published[:] = self.rewards
        return infos

    def _begin(self, position: int, result: tuple[Any, Any], buffer: int, infos: list[Info]) -> None:
        """Begin an episode with this result of `reset`."""
        observation, info = result
        self.rewards[position] = 0.0
        self.ended[position] = self.terminations[position] = self.truncations[position] = False
        self._puts[buffer](position, observation)
        if info:
            infos.append((self.low + position, info, None))

    def step(self, actions: Sequence[Any] | dict[int, Any], buffer: int) -> list[Info]:
        """Step all environments, or those whose positions have an action. Ended ones are reset as the mode says."""
        if isinstance(actions, dict):
            return self._step(actions, actions.values(), buffer)
        return self._step(range(self.count), actions, buffer)

    def step_all(self, buffer: int) -> list[Info]:
        """Step with the actions that lie in the arrays; an environment may keep its own."""
        return self._step(range(self.count), self._actions.copy(), buffer)

    def _step(self, positions: Iterable[int], actions: Iterable[Any], buffer: int) -> list[Info]:
        infos: list[Info] = []
        envs, ended, low, inside, rewards = self.envs, self.ended, self.low, self.inside, self.rewards
        rows, shape, put = self._rows, self._space.shape, self._puts[buffer]
        dtype = self._space.dtype if rows else None  # which no array has
        for position, action in zip(positions, actions):  # noqa: B905  # as many
            env = envs[position]
            inside[0] = low + position
            if ended[position] and self._is_reset(position, buffer, infos):
                continue
            observation, reward, terminated, truncated, info = env.step(action)
            try:
                rewards[position] = reward
            except (TypeError, ValueError):  # an array with one element or None, as some environments return it
                rewards[position] = np.asarray(reward, float).item()
            if terminated or truncated:  # else both are False already
                ended[position] = True
                self.terminations[position], self.truncations[position] = terminated, truncated
                if self._mode is AutoresetMode.SAME_STEP:
                    final = {"final_obs": deepcopy(observation), "final_info": _kept(info)}
                    observation, info = env.reset()
                    infos.append((low + position, info, final))
                elif info:
                    infos.append((low + position, info, None))
            elif info:
                infos.append((low + position, info, None))
            if observation.__class__ is np.ndarray and observation.dtype is dtype and observation.shape == shape:
                rows[position][...] = observation  # as `put` does
            else:
                put(position, observation)
        inside[0] = -1
        self._published[:] = rewards
        return infos

    def _is_reset(self, position: int, buffer: int, infos: list[Info]) -> bool:
        """Whether this step, after the end of an episode, resets the environment."""
        if self._mode is AutoresetMode.DISABLED:
            raise AssertionError("the episode has ended: reset this environment first (autoreset_mode is disabled)")
        if self._mode is AutoresetMode.SAME_STEP:
            self.ended[position] = self.terminations[position] = self.truncations[position] = False
            return False
        self._begin(position, self.envs[position].reset(), buffer, infos)
        return True

    def call(self, name: str, arguments: Sequence[tuple[Any, Any]]) -> list[Any]:
        """The results of a method of each environment, given its own arguments, or its attributes."""
        results = []
        for position, env in self._each():
            (args, kwargs), found = arguments[position], env.get_wrapper_attr(name)
            results.append(found(*args, **kwargs) if callable(found) else found)
        return results

    def apply(self, function: Callable[[Any], Any], chosen: Sequence[int]) -> list[Any]:
        """The results of a function for the chosen environments of this share."""
        return [function(env) for position, env in self._each() if self.low + position in chosen]

    def save(self) -> list[SavedEnvironment | Refused]:
        """The state of each environment."""
        now, saved = forms(), []
        drawn = [name for name, form in self.generators.items() if now[name] != form]
        for position, env in self._each():
            kept = self.last[position] if self._rotates else rows_of(self.arrays.observations[0], self.low + position)
            saved.append(save_one(env, self.ended[position], kept, drawn))
        return saved

    def restore(self, saved: Sequence[SavedEnvironment]) -> list[Refused | None]:
        """Bring each environment to its state. Returns those that do not come to it, None for the others."""
        refused: list[Refused | None] = [None] * self.count
        for position, env in self._each():
            one = saved[position]
            restored = restore_one(env, one)
            if isinstance(restored, Refused):
                refused[position] = restored
                continue
            self.envs[position] = restored
            self.ended[position] = self.terminations[position] = one.ended
            self.truncations[position] = False
            if self._rotates:  # batches that the user keeps stay as they are
                self.last[position] = one.observation
            elif one.observation is not None:
                self._puts[0](position, one.observation)
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
            position, first = failed[0]
            self.inside[0] = self.low + position
            raise first


def _put_and_keep(put: Callable[[int, Any], None], last: list[Any], position: int, observation: Any) -> None:
    put(position, observation)
    last[position] = observation


def _kept(infos: Any) -> Any:
    """A copy of infos, to whose dictionaries and arrays the environment may write again."""
    if isinstance(infos, dict):
        return {key: _kept(value) for key, value in infos.items()}
    return infos.copy() if isinstance(infos, np.ndarray) else infos
