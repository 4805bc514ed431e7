"""Environments that depend on more than their seed and actions, each in one way; and clean ones that look as if."""

import datetime as dt
import functools
import os
import random
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from random import random as drawn
from time import perf_counter
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium import spaces

SCRATCH = Path(tempfile.gettempdir()) / f"culprits-{os.getuid()}"
_of_the_module = np.random.default_rng(0)


class Walk(gymnasium.Env[Any, Any]):
    """A walk: `draw` says how far each step leads."""

    def __init__(self) -> None:
        self.observation_space = spaces.Box(-np.inf, np.inf, (2,), np.float64)
        self.action_space = spaces.Discrete(3)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at, self.steps = 0.0, 0
        return self._observed(), {}

    def step(self, action: Any) -> Any:
        self.at += float(self.draw()) + int(action)
        self.steps += 1
        return self._observed(), self.at, self.steps == 15, False, self.info()

    def _observed(self) -> Any:
        return np.array([self.at, self.steps])

    def draw(self) -> float:
        return self.np_random.random()

    def info(self) -> dict[str, Any]:
        return {}


# The number that a step draws in each of these environments.
DRAWS: dict[str, Callable[[Walk], float]] = {
    "UsesRandom": lambda _self: drawn(),
    "UsesNumpy": lambda _self: np.random.rand(),  # noqa: NPY002
    "DrawsFromItsModule": lambda _self: _of_the_module.random(),
    "ReadsTheTime": lambda _self: time.time() % 1,
    "ReadsTheDate": lambda _self: dt.datetime.now().microsecond,  # noqa: DTZ005
    "UsesItsProcess": lambda _self: os.getpid() % 97,
    "FollowsASet": lambda _self: ord(next(iter({"left", "right", "up", "down", "jump", "duck"}))[0]),
    "HashesAName": lambda _self: hash("walk") % 101,
    "MindsItsThread": lambda _self: threading.current_thread() is threading.main_thread(),
}
for name, draw in DRAWS.items():
    globals()[name] = type(name, (Walk,), {"draw": draw})


class SeedsRandomItself(Walk):
    """Alone it is reproducible: its reset seeds what all share."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        if seed is not None:
            random.seed(seed)
        return super().reset(seed=seed)

    def draw(self) -> float:
        return random.gauss(0, 1)


class UsesTorch(Walk):
    def __init__(self) -> None:
        super().__init__()
        import torch

        self.torch = torch

    def draw(self) -> float:
        return self.torch.rand(1).item()


class CountsInItsClass(Walk):
    count: ClassVar[int] = 0

    def draw(self) -> float:
        type(self).count += 1
        return self.count % 7


class SharesAList(Walk):
    taken: ClassVar[list[int]] = []

    def __init__(self) -> None:
        super().__init__()
        self.number = len(self.taken)
        self.taken.append(self.number)

    def draw(self) -> float:
        return self.number


class MeasuresItsStep(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.last = perf_counter()

    def draw(self) -> float:
        self.last, before = perf_counter(), self.last
        return self.last - before


class HasNoSeed(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.own = np.random.default_rng()

    def draw(self) -> float:
        return self.own.random()


class NamesItself(Walk):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = float(uuid.uuid4().int % 1000)
        return self._observed(), {}


class MakesARandom(Walk):
    """Each episode has a generator that the system seeds, in C."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.own = random.Random()
        return self._observed(), {}

    def draw(self) -> float:
        return self.own.random()


class ContinuesAFile(Walk):
    path = SCRATCH / "progress"

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.path.parent.mkdir(exist_ok=True)
        known = len(self.path.read_text()) if self.path.exists() else 0
        self.path.write_text("x" * (known + 1))
        self.at = float(known)
        return self._observed(), {}


class LooksForAFile(Walk):
    """The first play differs from all later ones. It reads nothing, and is not repeated for the sake of its import."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        import colorsys  # noqa: F401

        super().reset(seed=seed)
        SCRATCH.mkdir(exist_ok=True)
        path = SCRATCH / "found"
        self.at = float(path.exists())
        path.touch()
        return self._observed(), {}


class GrowsAFile(ContinuesAFile):
    """The first plays are alike."""

    path = SCRATCH / "grown"

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.at = float(self.at > 6)
        return self._observed(), {}


class KeepsItsEpisode(Walk):
    def __init__(self) -> None:
        super().__init__()
        self.all = 0

    def draw(self) -> float:
        self.all += 1
        return self.all


class UsesItsAddress(Walk):
    """No generator, no clock: where the memory of the process lies."""

    def draw(self) -> float:
        return id(type(self)) // 4096 % 1009


# --- clean ---


class PacesItself(Walk):
    """Reads the clock, and waits, but returns nothing of it."""

    def step(self, action: Any) -> Any:
        began = time.monotonic()
        while time.monotonic() - began < 1e-5:
            time.sleep(0)
        return super().step(action)


class WritesALog(Walk):
    def step(self, action: Any) -> Any:
        SCRATCH.mkdir(exist_ok=True)
        with (SCRATCH / "log").open("a") as file:
            print(dt.datetime.now(), os.getpid(), action, file=file)  # noqa: DTZ005
        return super().step(action)


class KeepsATable(Walk):
    """Its compiled modules crash on types that are not Python's own."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        import pandas as pd

        super().reset(seed=seed)
        self.table = pd.DataFrame({"day": pd.date_range("2020-01-01", periods=3), "x": self.np_random.random(3)})
        return self._observed(), {}

    def draw(self) -> float:
        self.table["x"] *= 0.5
        return float(self.table["x"].sum() + self.table["day"].iloc[-1].day)


class HasItsOwnRandom(Walk):
    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.own = random.Random(int(self.np_random.integers(1 << 30)))
        return self._observed(), {}

    def draw(self) -> float:
        return self.own.random()


@functools.cache
def table() -> list[float]:
    return [value**0.5 for value in range(100)]


class SharesATable(Walk):
    """A cache of the module, and a counter of the class that nothing reads."""

    made: ClassVar[int] = 0

    def __init__(self) -> None:
        super().__init__()
        type(self).made += 1

    def draw(self) -> float:
        return table()[int(self.np_random.integers(100))]


class SortsASet(Walk):
    def draw(self) -> float:
        return ord(min({"left", "right", "up"})[0]) + len({object(), object()})


class TellsTheTime(Walk):
    """In infos, where it is no fault."""

    def info(self) -> dict[str, Any]:
        return {"now": time.time(), "process": os.getpid()}


class DrawsForNothing(Walk):
    """Changes a global generator, but does not follow it."""

    def step(self, action: Any) -> Any:
        np.random.rand()  # noqa: NPY002
        return super().step(action)


class TellsTheDate(Walk):
    """In infos, where it is no fault. The check does not control it."""

    def info(self) -> dict[str, Any]:
        return {"now": dt.datetime.now()}  # noqa: DTZ005


def recorded() -> Any:
    """With Gymnasium's wrapper that measures an episode's time."""
    return gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))
