"""ReactorPool compared with the dispatch of TorchRL (extra `vectors`): environment steps per second, in turns.

    python -m benchmarks.pool_dispatch [STARTS]

Each series has environments of one kind. Each start has fresh processes of the pool and of every way that TorchRL has.
They take turns. A line shows the ratio of steps per second. A series ends with the ratio to TorchRL's best way.
"""

import multiprocessing
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.spaces import Box, Discrete

from benchmarks.meter import Meter
from benchmarks.ray_options import gain, shown, starts
from harness.measure.block import Effort
from harness.stats import intervals
from harness.stats.intervals import Estimate
from reactorlib.gymnasium import ReactorPool
from reactorlib.tool import standard_output

POOL = "ReactorPool"
EFFORT = Effort(sweeps=5, turn_ns=500_000_000, warmup_s=(0.4, 2.0))  # a turn has several resets of 200 ms

Makers = Sequence[Callable[[], Any]]


class Waiting(gymnasium.Env[Any, Any]):
    """Waits in each step and each reset, as for another machine."""

    observation_space, action_space = Box(-1, 1, (4,), np.float32), Discrete(2)

    def __init__(self, step_s: float, reset_s: float, episode: int) -> None:
        self._step_s, self._reset_s, self._episode, self._steps = step_s, reset_s, episode, 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._steps = 0
        time.sleep(self._reset_s)
        return np.zeros(4, np.float32), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._steps += 1
        time.sleep(self._step_s)
        return np.zeros(4, np.float32), 1.0, self._steps == self._episode, False, {}


class Series(NamedTuple):
    """Environments, and the workers that the pool has for them: one for each environment that waits."""

    title: str
    make: Makers
    workers: int | None


_SLOW = [partial(Waiting, 0.001, 0.2, 100 + 13 * number) for number in range(32)]
_SKEWED = [partial(Waiting, 0.001 if number % 4 else 0.01, 0.0, 200) for number in range(16)]
SERIES = {
    "cheap": Series("8 environments without latency (CartPole-v1)", [partial(gymnasium.make, "CartPole-v1")] * 8, None),
    "latency": Series("32 environments, steps of 1 ms and resets of 200 ms", _SLOW, 32),
    "skewed": Series("16 environments, steps of 1 ms, of every fourth 10 ms", _SKEWED, 16),
}


# A way steps some of its environments and returns how many. Its second function closes them.
Way = tuple[Callable[[], int], Callable[[], object]]


def pool(make: Makers, workers: int | None) -> Way:
    """Batches of at least half of the environments."""
    envs = ReactorPool(make, workers=workers, autoreset_mode="SameStep")
    actions, ids = np.zeros(len(make), np.int64), np.arange(len(make))
    envs.reset(seed=1)

    def step() -> int:
        nonlocal ids
        envs.send(actions[: len(ids)], ids)
        ids = envs.recv(len(make) // 2)[-1]["env_id"]
        return len(ids)

    return step, envs.close


def asynchronous(make: Makers, **options: Any) -> Way:
    """The same with TorchRL's AsyncEnvPool."""
    import torch
    from torchrl.envs import AsyncEnvPool

    envs = AsyncEnvPool([partial(_wrapped, one) for one in make], **options)
    values, actions = envs.reset(), torch.zeros(len(make), dtype=torch.int64)

    def step() -> int:
        nonlocal values
        values["action"] = actions[: len(values)]
        envs.async_step_and_maybe_reset_send(values)
        _, values = envs.async_step_and_maybe_reset_recv(min_get=len(make) // 2)
        return len(values)

    def close() -> None:
        while envs._current_step_reset:
            envs.async_step_and_maybe_reset_recv(min_get=1)
        envs.close()

    return step, close


def lockstep(make: Makers, workers: int) -> Way:
    """Step all environments at once with TorchRL's ParallelEnv. With 0 `workers` each environment has its own."""
    import torch
    from torchrl.envs import ParallelEnv, SerialEnv

    wrapped = [partial(_wrapped, one) for one in make]
    each = len(make) // (workers or len(make))
    if workers:
        wrapped = [partial(SerialEnv, each, wrapped[at : at + each]) for at in range(0, len(make), each)]
    envs = ParallelEnv(len(wrapped), wrapped)
    values = envs.reset()
    actions = torch.zeros(values.shape, dtype=torch.int64)

    def step() -> int:
        nonlocal values
        values["action"] = actions
        _, values = envs.step_and_maybe_reset(values)
        return len(make)

    return step, envs.close


SLOTS: dict[str, Any] = {"backend": "multiprocessing", "exchange": "shm"}
TORCHRL: dict[str, Callable[[Makers], Way]] = {
    "AsyncEnvPool, shared slots": partial(asynchronous, **SLOTS),
    "AsyncEnvPool, shared slots, 4 per worker": partial(asynchronous, **SLOTS, envs_per_worker=4),
    "AsyncEnvPool, threads": partial(asynchronous, backend="threading"),
    "ParallelEnv": partial(lockstep, workers=0),
    "ParallelEnv, 2 workers": partial(lockstep, workers=2),
}


def _wrapped(make: Callable[[], Any]) -> Any:
    from torchrl.envs import GymWrapper

    return GymWrapper(make(), categorical_action_encoding=True)


def run(meter: Meter, way: str, series: str) -> None:
    """Step with a way. A round is as many steps as there are environments."""
    warnings.simplefilter("ignore")
    multiprocessing.set_start_method("fork", force=True)  # workers that each import torch start a minute later
    _, make, workers = SERIES[series]
    step, close = pool(make, workers) if way == POOL else TORCHRL[way](make)
    rounds, over = meter.warmup, 0
    while rounds:
        taken = over
        while taken < rounds * len(make):
            taken += step()
        over = taken - rounds * len(make)
        rounds = meter.next_lap()
    close()


@standard_output.ended
def main(arguments: Sequence[str]) -> int:
    """Measure all series, and print a table."""
    count = int(arguments[0]) if arguments else 5
    for name, series in SERIES.items():
        print(f"{series.title}: steps per second of {POOL}, as a ratio to TorchRL's", flush=True)
        orders = {way: {"way": way, "series": name} for way in (POOL, *TORCHRL)}
        blocks = starts("benchmarks.pool_dispatch:run", orders, POOL, EFFORT, count)
        ratios = {way: gain(blocks, POOL, way) for way in TORCHRL}
        if known := [one for one in ratios.values() if isinstance(one, Estimate)]:
            ratios["the best of these"] = intervals.least(known)
        for way, ratio in ratios.items():
            print(f"  {way:42} {shown(ratio)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
