"""The cost of the options of ReactorVectorEnv and of ReactorPool: `python -m benchmarks.cost_of_options`.

Vectors or pools with an option take turns with a plain one. A line shows the median of the ratios to the plain one's
time or speed, and the quartiles. It is for guidance: one start. Vectors are measured in processor time, in one process.
"""

import sys
import time
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from reactorlib.gymnasium import Finding, Isolation, ReactorPool, ReactorVectorEnv
from reactorlib.tool import standard_output
from workloads import environment

TURNS, POOL_TURNS, BATCHES = 200, 9, 400  # the batches of a pool's turn
ENVS, ENVIRONMENTS = 16, {"CartPole-v1": 100, "busy:200us": 4}  # the rounds of a vector's turn
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "nothing": {},
    "isolate='generators'": {"isolate": "generators"},
    "isolate, of random alone": {"isolate": Isolation("", (Finding("random", 1, "reward"),), (), (), (), 1, 0.0)},
}
POOLS = {"CartPole-v1": 16, "ale_py:ALE/Pong-v5": 8}  # the environments of a pool
Turns = Mapping[str, Callable[[], float]]  # by way: take a turn, and return its time


@standard_output.ended
def main() -> int:
    """Print a line for each environment and option."""
    for name, rounds in ENVIRONMENTS.items():
        make = [partial(environment.make, name, {})] * ENVS
        vectors = {option: ReactorVectorEnv(make, executor="inline", **given) for option, given in OPTIONS.items()}
        for envs in vectors.values():
            envs.reset(seed=0)
            stepping_ns(envs, 10 * rounds)
        turns = {option: partial(stepping_ns, envs, rounds) for option, envs in vectors.items()}
        for option, (low, middle, high) in quartiles(turns, TURNS).items():
            print(f"{name}, {option}: {middle:.3f} [{low:.3f}, {high:.3f}] times as long", flush=True)
        for envs in vectors.values():
            envs.close()
    for name, count in POOLS.items():
        for way, (low, middle, high) in quartiles(pools(name, count), POOL_TURNS).items():
            speeds = f"{1 / middle:.2f} of the plain pool, quartiles {1 / high:.2f} to {1 / low:.2f}"
            print(f"{name.rpartition(':')[2]} x {count}, {way}: {speeds}", flush=True)
    return 0


def pools(name: str, count: int) -> Turns:
    """The turns of each kind of pool."""
    ways: dict[str, dict[str, Any]] = {
        "plain": {},
        "order='logical'": {"order": "logical", "durations": [1] * count},
        "resumable": {"resumable": True},
    }
    make = [partial(environment.make, name, {})] * count
    return {way: partial(step_ns, partial(ReactorPool, make, **given)) for way, given in ways.items()}


def quartiles(turns: Turns, count: int) -> dict[str, Any]:
    """The quartiles of the time of each but the first as a ratio to the first one's, over turns to and fro."""
    taken: dict[str, list[float]] = {way: [] for way in turns}
    for number in range(count):
        for way in list(turns)[:: -1 if number % 2 else 1]:
            taken[way].append(turns[way]())
    (_, plain), *others = taken.items()
    return {way: np.percentile(np.divide(each, plain), [25, 50, 75]) for way, each in others}


def stepping_ns(envs: ReactorVectorEnv, rounds: int) -> float:
    """The processor time of this thread for `rounds` rounds."""
    actions = np.zeros(envs.num_envs, np.int64)
    began = time.thread_time_ns()
    for _ in range(rounds):
        envs.step(actions)
    return time.thread_time_ns() - began


def step_ns(make: Callable[[], ReactorPool]) -> float:
    """The time of an environment's step in batches of half of the environments, after the first ones."""
    pool = make()
    pool.reset_async(seed=1)
    began = stepped = 0
    for batch in range(BATCHES):
        ids = pool.recv(pool.num_envs // 2)[-1]["env_id"]
        pool.send(np.zeros(len(ids), np.int64), ids)
        if batch < BATCHES // 10:
            began = time.perf_counter_ns()
        else:
            stepped += len(ids)
    taken = (time.perf_counter_ns() - began) / stepped
    pool.close()
    return taken


if __name__ == "__main__":
    sys.exit(main())
