"""The throughput of a ReactorPool with each way to decide its batches, as a ratio to the plain pool, in turns.

    python -m benchmarks.pool_orders [--env CartPole-v1] [--envs 16] [--turns 9] [--batches 400]

Each turn runs every way once, so that a change of the machine meets all. A ratio is the median of those of the turns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import quantiles
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import gymnasium
import numpy as np

from reactorlib.gymnasium import ReactorPool

PLAIN = "plain"


def make_env(name: str) -> Any:
    """An environment of Gymnasium or of the Arcade Learning Environment."""
    if name.startswith("ALE/"):
        import ale_py

        gymnasium.register_envs(ale_py)
    return gymnasium.make(name)


@contextmanager
def ways(name: str, envs: int) -> Iterator[dict[str, Callable[[], ReactorPool]]]:
    """Functions that make the pools. A replay needs a record: the way `record` has run before."""
    make = [partial(make_env, name)] * envs
    with TemporaryDirectory() as directory:
        record = Path(directory) / "record"
        yield {
            PLAIN: partial(ReactorPool, make),
            "order='logical'": partial(ReactorPool, make, order="logical", durations=[1] * envs),
            "record": partial(ReactorPool, make, record=record),
            "replay": partial(ReactorPool, make, replay=record),
            "resumable": partial(ReactorPool, make, resumable=True),
        }


def seconds_a_step(made: Callable[[], ReactorPool], batches: int) -> float:
    """The time of an environment's step in batches of half of the environments, after the first ones."""
    pool = made()
    pool.reset_async(seed=1)
    began, stepped = perf_counter(), 0
    for batch in range(batches):
        ids = pool.recv(pool.num_envs // 2)[-1]["env_id"]
        pool.send(np.zeros(len(ids), np.int64), ids)
        if batch < batches // 10:
            began = perf_counter()
        else:
            stepped += len(ids)
    taken = (perf_counter() - began) / stepped
    pool.close()
    return taken


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--env", default="CartPole-v1")
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--batches", type=int, default=400)
    options = parser.parse_args()
    with ways(options.env, options.envs) as several:
        taken: dict[str, list[float]] = {way: [] for way in several}
        for _ in range(options.turns):
            for way, made in several.items():
                taken[way].append(seconds_a_step(made, options.batches))
    for way, each in taken.items():
        ratios = [plain / own for plain, own in zip(taken[PLAIN], each, strict=True)]
        low, middle, high = quantiles(ratios, n=4)
        print(
            f"{options.env} x {options.envs}, {way}: {middle:.2f} of the plain pool, quartiles {low:.2f} to {high:.2f}"
        )


if __name__ == "__main__":
    main()
