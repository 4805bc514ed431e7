"""The cost of `statistics` and `isolate` of ReactorVectorEnv: `python -m benchmarks.cost_of_options`.

Vectors with and without the option are stepped in turns. A line shows the median of the ratios of their processor time,
and the quartiles. It is for guidance: one start, one process, `executor="inline"`.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from reactorlib.gymnasium import Finding, Isolation, ReactorVectorEnv
from workloads import environment

TURNS, ENVS = 200, 16
ENVIRONMENTS = {"CartPole-v1": 100, "busy:200us": 4}  # the rounds of a turn
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "statistics=True": {"statistics": True},
    "isolate='generators'": {"isolate": "generators"},
    "isolate, of random alone": {"isolate": Isolation("", (Finding("random", 1, "reward"),), (), (), (), 1, 0.0)},
}


def main() -> None:
    """Print a line for each option and environment."""
    for name, rounds in ENVIRONMENTS.items():
        make = partial(environment.make, name, {})
        for option, given in OPTIONS.items():
            plain, other = (ReactorVectorEnv([make] * ENVS, executor="inline", **one) for one in ({}, given))
            actions = np.array([plain.single_action_space.sample() for _ in range(ENVS)])
            for envs in (plain, other):
                envs.reset(seed=0)
                turn(envs, actions, 10 * rounds)
            ratios = []
            for number in range(TURNS):
                order = (plain, other) if number % 2 else (other, plain)
                took = {envs: turn(envs, actions, rounds) for envs in order}
                ratios.append(took[other] / took[plain])
            low, middle, high = np.percentile(ratios, [25, 50, 75])
            print(f"{name}, {option}: {middle:.3f} [{low:.3f}, {high:.3f}] times as long", flush=True)
            plain.close()
            other.close()


def turn(envs: ReactorVectorEnv, actions: Any, rounds: int) -> int:
    """The processor time of this thread for `rounds` rounds, in ns."""
    began = time.thread_time_ns()
    for _ in range(rounds):
        envs.step(actions)
    return time.thread_time_ns() - began


if __name__ == "__main__":
    main()
