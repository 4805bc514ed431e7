"""Made-up work of a given processor time, and an environment of it with a given size of observation."""

import re
from time import thread_time_ns
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.spaces import Box, Discrete

from workloads.parameter import ParameterError

Observation = npt.NDArray[np.uint8]

_UNITS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_EPISODE = 1_000  # steps
_LARGEST_BYTES = 2**30


def keep_busy(began_ns: int, for_ns: float) -> None:
    """Compute until this thread has had `for_ns` of processor time since `began_ns`, as read from `thread_time_ns`.

    Threads and processes that share a processor take turns, as they do with real work.
    """
    while thread_time_ns() - began_ns < for_ns:
        pass


class Busy(gymnasium.Env[Observation, np.int64]):
    """Computes for `step_ns` of processor time in each step, or for a time drawn between that and `longest_ns`.

    An observation is a uint8 array of `shape`, new in every step. All its elements are the number of the step. An
    episode has 1,000 steps.
    """

    def __init__(self, step_ns: int, shape: tuple[int, ...] = (4,), longest_ns: int = 0) -> None:
        self.observation_space = Box(0, 255, shape, np.uint8)
        self.action_space = Discrete(2)
        self._step_ns = step_ns
        self._longest_ns = longest_ns
        self._shape = shape
        self._step = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin the next episode; takes no time."""
        super().reset(seed=seed, options=options)
        self._step = 0
        return self._observation(), {}

    def step(self, action: np.int64) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Compute; the reward is the action."""
        began = thread_time_ns()
        self._step += 1
        observation = self._observation()
        is_even = self._longest_ns <= self._step_ns
        keep_busy(began, self._step_ns if is_even else self.np_random.uniform(self._step_ns, self._longest_ns))
        return observation, float(action), False, self._step == _EPISODE, {}

    def _observation(self) -> Observation:
        return np.full(self._shape, self._step % 256, np.uint8)


def parsed(text: str) -> tuple[int, tuple[int, ...], int]:
    """Step time in ns, shape, and the longest step time, of "2ms:84x84x4" or "1ms-4ms"; raises ParameterError."""
    time = r"(\d+(?:\.\d+)?)(ns|us|ms|s)"
    found = re.fullmatch(rf"{time}(?:-{time})?(?::(\d+(?:x\d+)*))?", text)
    if found is None:
        raise ParameterError(
            f"env: expected a time and a shape such as busy:2ms, busy:1ms-4ms or busy:20us:84x84x4, got busy:{text}"
        )
    step_ns = int(float(found[1]) * _UNITS[found[2]])
    longest_ns = int(float(found[3]) * _UNITS[found[4]]) if found[3] else step_ns
    shape = tuple(int(length) for length in (found[5] or "4").split("x"))
    if not 0 < int(np.prod(shape, dtype=object)) <= _LARGEST_BYTES:
        raise ParameterError(f"env: an observation has 1 to {_LARGEST_BYTES:,} bytes, got {found[5]}")
    if not step_ns <= longest_ns <= 10 * _UNITS["s"]:
        raise ParameterError(
            f"env: a step takes at most 10 s, and its longest time no less than its shortest, got {text}"
        )
    return step_ns, shape, longest_ns
