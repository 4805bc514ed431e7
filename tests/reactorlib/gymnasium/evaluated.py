"""Environments that are evaluated, and what each of them needs so that an episode does not depend on its slot."""

import functools
import os
import threading
import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
from gymnasium import spaces

STUCK_S = 1000.0


class Arm(gymnasium.Env[Any, Any]):
    """A walk whose episodes are of random length. Subclasses are odd in one way."""

    observation_space: Any = spaces.Box(-np.inf, np.inf, (2,), np.float64)
    action_space: Any = spaces.Discrete(3)

    def __init__(self) -> None:
        self.action_space = deepcopy(type(self).action_space)  # not one for all

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.number, self.steps, self.at = seed, 0, 0.0
        self.ends = int(self.np_random.integers(1, 30))
        return self.seen(), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        self.at += float(self.np_random.normal()) + self.odd(action)
        return self.seen(), self.at, self.steps >= self.ends, False, {"is_success": self.at > 0}

    def seen(self) -> Any:
        return np.array([self.at, self.steps])

    def odd(self, action: Any) -> float:
        return float(np.asarray(action).ravel()[0])


class Endless(Arm):
    """No episode ends by itself."""

    def step(self, action: Any) -> Any:
        observation, reward, _, _, info = super().step(action)
        return observation, reward, False, False, info


class Parts(Arm):
    """Observations and actions are dictionaries and tuples."""

    observation_space = spaces.Dict(
        {"at": spaces.Box(-np.inf, np.inf, (1,), np.float64), "more": spaces.Tuple((spaces.Discrete(99),))}
    )
    action_space = spaces.Dict({"move": spaces.Discrete(3), "grip": spaces.Box(-1, 1, (2,), np.float32)})

    def seen(self) -> Any:
        return {"at": np.array([self.at]), "more": (self.steps,)}

    def odd(self, action: Any) -> float:
        return float(action["move"]) + float(action["grip"].sum())


class Words(Arm):
    """Observations and actions are text."""

    observation_space = spaces.Text(20, charset="0123456789.-")
    action_space = spaces.Text(20, charset="0123456789.-")

    def seen(self) -> Any:
        return f"{self.at:.3f}"

    def odd(self, action: Any) -> float:
        return float(action)


class Samples(Arm):
    """Draws from its own action space, which `reset` does not seed."""

    def odd(self, action: Any) -> float:
        return float(self.action_space.sample())


class Hoards(Arm):
    """Its `reset` leaves something of the episode before."""

    episodes = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.episodes += 1
        return super().reset(seed=seed)

    def odd(self, action: Any) -> float:
        return self.episodes


class Global(Arm):
    """Draws from NumPy's global generator."""

    def odd(self, action: Any) -> float:
        return float(np.random.rand())  # noqa: NPY002


class Leaks(Arm):
    """Counts steps in its class."""

    total: ClassVar[int] = 0

    def odd(self, action: Any) -> float:
        Leaks.total += 1
        return Leaks.total


class Raises(Arm):
    """Raises in the third step of episode 7, and when episode 4 begins."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed == 4:
            raise ValueError("no start")
        observation, info = super().reset(seed=seed)
        self.ends += 3
        return observation, info

    def odd(self, action: Any) -> float:
        if self.number == 7 and self.steps == 3:
            raise RuntimeError("the arm broke")
        return 0.0


class Misshapen(Arm):
    """Its observation does not fit its space in episode 5."""

    def seen(self) -> Any:
        return np.zeros(3 if self.number == 5 and self.steps else 2)


class Hangs(Raises):
    """Takes for ever in the second step of episode 7, and when episode 9 begins."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        time.sleep(STUCK_S if seed == 9 else 0)
        return super().reset(seed=seed)

    def odd(self, action: Any) -> float:
        time.sleep(STUCK_S if self.number == 7 and self.steps == 2 else 0)
        return 0.0


class Dies(Raises):
    """Ends its process in the second step of episode 7."""

    def odd(self, action: Any) -> float:
        if self.number == 7 and self.steps == 2:
            os._exit(3)
        return 0.0


class BoundToAThread(Arm):
    """Opens in `reset` what only this thread may use, as a renderer's context."""

    thread = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        self.thread = self.thread or threading.get_ident()
        return super().reset(seed=seed)

    def odd(self, action: Any) -> float:
        if threading.get_ident() != self.thread:
            raise RuntimeError("EGL_BAD_ACCESS")
        return 0.0


class Evaluated(NamedTuple):
    """An environment, a policy for it, options for `evaluate`, and where it cannot run: then a word of the error."""

    make: Callable[[], Any]
    policy: Callable[..., Any]
    options: Mapping[str, Any] = MappingProxyType({})
    refused: Mapping[str, str] = MappingProxyType({})


def _discrete(count: int) -> Callable[..., Any]:
    def policy(observations: Any) -> Any:
        parts = observations if isinstance(observations, tuple) else (observations,)
        total = sum(np.abs(np.asarray(part, float)).reshape(len(part), -1).sum(axis=1) for part in parts)
        return (total * 7).astype(np.int64) % count

    return policy


def _continuous(observations: Any) -> Any:
    return np.tanh(observations.astype(np.float32).cumsum(axis=1)[:, -1:])


def _of_parts(observations: Any) -> Any:
    move = np.asarray(observations["more"][0]) % 3
    grip = np.repeat(np.tanh(observations["at"]), 2, axis=1).astype(np.float32)
    return {"move": move, "grip": grip}


def _of_words(observations: Any) -> Any:
    return tuple(str(len(one)) for one in observations)


def atari(name: str) -> Any:
    import ale_py

    gymnasium.register_envs(ale_py)
    return gymnasium.make(name, max_episode_steps=25)


def _id(name: str, count: int, **options: Any) -> Evaluated:
    return Evaluated(functools.partial(gymnasium.make, name, **options), _discrete(count))


_PROCESSES = {"threads": "step_limit_s", "inline": "step_limit_s"}
ALL = {
    "CartPole": _id("CartPole-v1", 2),
    "MountainCar": _id("MountainCar-v0", 3, max_episode_steps=40),
    "Acrobot": _id("Acrobot-v1", 3, max_episode_steps=40),
    "FrozenLake": _id("FrozenLake-v1", 4),
    "Taxi": _id("Taxi-v4", 6, max_episode_steps=40),
    "Blackjack": _id("Blackjack-v1", 2),
    "Pendulum": Evaluated(functools.partial(gymnasium.make, "Pendulum-v1", max_episode_steps=40), _continuous),
    "Pong": Evaluated(functools.partial(atari, "ALE/Pong-v5"), _discrete(6)),
    "Breakout": Evaluated(functools.partial(atari, "ALE/Breakout-v5"), _discrete(4)),
    "random lengths": Evaluated(Arm, _discrete(3)),
    "no end": Evaluated(Endless, _discrete(3), {"max_steps": 20}),
    "dictionaries": Evaluated(Parts, _of_parts),
    "text": Evaluated(Words, _of_words),
    "draws from its space": Evaluated(Samples, _discrete(3)),
    "keeps something": Evaluated(Hoards, _discrete(3)),
    "global generator": Evaluated(Global, _discrete(3), {"isolate": "generators"}, {"threads": "isolate"}),
    "class state": Evaluated(
        Leaks, _discrete(3), {"isolate": "processes"}, {"threads": "isolate", "inline": "isolate"}
    ),
    "raises": Evaluated(Raises, _discrete(3)),
    "misshapen": Evaluated(Misshapen, _discrete(3)),
    "hangs": Evaluated(Hangs, _discrete(3), {"step_limit_s": 1.0}, _PROCESSES),
    "dies": Evaluated(Dies, _discrete(3), {"step_limit_s": 30.0}, _PROCESSES),
    "bound to a thread": Evaluated(BoundToAThread, _discrete(3)),
}
