"""Environments that show what ordinary ones hide: spaces of every kind, infos that come and go, short episodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces


class AnySpace(spaces.Space[Any]):
    """A space of which Gymnasium knows nothing: pairs of a word and a number."""

    def __init__(self) -> None:
        super().__init__(None, None)

    def sample(self, mask: Any = None, probability: Any = None) -> Any:
        return ("word", int(self.np_random.integers(9)))

    def contains(self, x: Any) -> bool:
        return isinstance(x, tuple) and len(x) == 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnySpace)

    def __hash__(self) -> int:
        return 1


class Probe(gymnasium.Env[Any, Any]):
    """Draws everything from its seed: observations of a space, rewards, ends, infos."""

    def __init__(self, number: int, observation_space: Any = None, action_space: Any = None) -> None:
        self.number = number
        self.observation_space = spaces.Box(-1, 1, (3,), np.float32) if observation_space is None else observation_space
        self.action_space = spaces.Discrete(3) if action_space is None else action_space
        self.count = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self.observation_space.seed(int(self.np_random.integers(1 << 30)))
        self.count = 0
        return self.observation(), self.info()

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """The action is hashed into the reward, so that one that arrives otherwise shows."""
        self.count += 1
        end = self.np_random.random()
        return self.observation(), self.reward(action), bool(end < 0.1), bool(0.08 < end < 0.2), self.info()

    def observation(self) -> Any:
        return self.observation_space.sample()

    def reward(self, action: Any) -> Any:
        """A number that tells actions apart, by value and by type."""
        return float(self.np_random.normal()) + sum(map(ord, f"{type(action).__name__}{action!r}")) / 1024

    def info(self) -> dict[str, Any]:
        draw = self.np_random
        known: dict[str, Any] = {
            "count": self.count,
            "float": float(draw.normal()),
            "flag": bool(draw.random() < 0.5),
            "word": "abc"[: int(draw.integers(3))],
            "array": draw.normal(size=2).astype(np.float32),
            "scalar": np.float32(draw.normal()),
            "nested": {"depth": self.count, "list": [1, self.count]},
            "none": None,
        }
        return {key: value for key, value in known.items() if draw.random() < 0.4}


class Plain(Probe):
    """Always has the same numbers in its infos, as an Atari environment."""

    def info(self) -> dict[str, Any]:
        return {"lives": self.count % 4, "progress": self.count / 2, "last": self.count > 3}


class Quiet(Probe):
    """No infos at all."""

    def info(self) -> dict[str, Any]:
        return {}


class Reusing(Quiet):
    """Writes each observation into the same array."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.buffer = np.zeros(3, np.float32)

    def observation(self) -> Any:
        self.buffer[:] = super().observation()
        return self.buffer


class ShapedReward(Quiet):
    """Rewards are arrays of this shape with one element, as environments on NumPy return them; with None, floats."""

    def __init__(self, number: int, shape: tuple[int, ...] | None = ()) -> None:
        super().__init__(number)
        self.shape = shape

    def reward(self, action: Any) -> Any:
        reward = np.float32(super().reward(action))
        return float(reward) if self.shape is None else np.full(self.shape, reward)


class NumpyFlags(Quiet):
    """Ends are NumPy's booleans, rewards its integers."""

    def step(self, action: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, _, terminated, truncated, info = super().step(action)
        return observation, np.int64(self.count), np.bool_(terminated), np.bool_(truncated), info


def _of(observation_space: Callable[[], Any], action_space: Callable[[], Any] = lambda: None) -> Callable[[int], Probe]:
    return lambda number: Probe(number, observation_space(), action_space())


PROBES: dict[str, Callable[[int], Any]] = {
    "numbers in infos": Plain,
    "infos of every kind": Probe,
    "no infos": Quiet,
    "a reward that is an array": ShapedReward,
    "a reward of shape (1,)": partial(ShapedReward, shape=(1,)),
    "flags of NumPy": NumpyFlags,
    "observations in one buffer": Reusing,
    "Discrete": _of(lambda: spaces.Discrete(5, start=-2), lambda: spaces.Box(-2, 2, (2,), np.float64)),
    "MultiDiscrete": _of(lambda: spaces.MultiDiscrete([2, 3]), lambda: spaces.MultiDiscrete([3, 4])),
    "MultiBinary": _of(lambda: spaces.MultiBinary((2, 2)), lambda: spaces.MultiBinary(3)),
    "images": _of(lambda: spaces.Box(0, 255, (64, 64, 3), np.uint8)),
    "Box without dimensions": _of(lambda: spaces.Box(-1, 1, (), np.float16)),
    "Dict": _of(
        lambda: spaces.Dict(a=spaces.Box(0, 1, (2,)), b=spaces.Tuple((spaces.Discrete(3), spaces.MultiBinary(2)))),
        lambda: spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Box(0, 1, (1,))}),
    ),
    "Tuple": _of(
        lambda: spaces.Tuple((spaces.Box(0, 9, (2, 2), np.int16), spaces.Discrete(3))),
        lambda: spaces.Tuple((spaces.Discrete(2), spaces.Discrete(4))),
    ),
    "Text": _of(lambda: spaces.Text(6), lambda: spaces.Text(3)),
    "Sequence": _of(lambda: spaces.Sequence(spaces.Box(0, 1, (2,)))),
    "stacked Sequence": _of(lambda: spaces.Sequence(spaces.Discrete(4), stack=True)),
    "Graph": _of(lambda: spaces.Graph(spaces.Box(0, 1, (2,)), spaces.Discrete(3))),
    "OneOf": _of(lambda: spaces.OneOf((spaces.Discrete(2), spaces.Box(0, 1, (2,))))),
    "Text in a Dict": _of(lambda: spaces.Dict({"t": spaces.Text(4), "n": spaces.Discrete(3)})),
    "a space of its own": _of(AnySpace, AnySpace),
}
# The environments with which some probes are compared instead of themselves.
TWINS: dict[str, Callable[[int], Any]] = {
    "observations in one buffer": Quiet,
    "a reward of shape (1,)": partial(ShapedReward, shape=None),
}
