"""Environments that several tests use: the probes, and one that fails in a given way."""

import functools
import os
import signal
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from reactorlib.gymnasium.contract import probes

WAYS: dict[str, dict[str, Any]] = {
    "inline": {"executor": "inline"},
    "threads": {"executor": "threads", "workers": 2},
    "one process": {"workers": 1, "caller_steps": False},
    "two, of which one is the caller's": {"workers": 2, "caller_steps": True},
    "two processes": {"workers": 2, "caller_steps": False},
    "three": {"workers": 3, "caller_steps": True},
}


def made(probe: str, count: int = 3) -> list[Callable[[], Any]]:
    """Functions that make probes of this name."""
    return [functools.partial(probes.PROBES[probe], number) for number in range(count)]


class Held(probes.Quiet):
    """The first of them waits in a step until it may go on, if its action is 2."""

    def __init__(self, number: int, go: Any) -> None:
        super().__init__(number)
        self.go = go

    def step(self, action: Any) -> Any:
        if self.number == 0 and action == 2:
            assert self.go.wait(60)
        return super().step(action)


class Failing(probes.Quiet):
    """Fails in this way, the third of them, when it is made, reset with options, closed, or when its action is 2."""

    def __init__(self, number: int, at: str, how: str) -> None:
        self.at, self.how = at, how
        if at == "make" and number == 2:
            self._fail()
        super().__init__(number)

    def _fail(self) -> Any:
        if self.how == "raise":
            raise ZeroDivisionError("by nought")
        if self.how == "exit":
            os._exit(7)
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "hang":
            time.sleep(60)

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        if self.at == "reset" and self.number == 2 and options:
            self._fail()
        return super().reset(seed=seed, options=options)

    def step(self, action: Any) -> Any:
        observation, *rest = super().step(action)
        if self.at == "step" and self.number == 2 and action == 2:
            self._fail()
            if self.how == "shape":
                observation = observation[:2]
            if self.how == "dtype":
                observation = np.array(["a", "b", "c"])
            if self.how == "reward":
                rest[0] = "much"
        return (observation, *rest)

    def close(self) -> None:
        if self.at == "close" and self.number == 2:
            self._fail()


def failing(at: str, how: str) -> list[Callable[[], Any]]:
    """Functions that make four of them."""
    return [functools.partial(Failing, number, at, how) for number in range(4)]
