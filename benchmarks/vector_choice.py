"""The choice of `executor=None` for vector environments, compared with both executors, in turns.

`python -m benchmarks.vector_choice [STARTS]` prints a row for each step time and number of environments. The last line
has the median and the worst ratio of the chosen speed and the best one. Each start makes new environments.
"""

import sys
from functools import partial
from statistics import median
from time import perf_counter

from reactorlib import ExecutorName
from reactorlib.gymnasium import ReactorVectorEnv
from reactorlib.tool import standard_output
from workloads import environment

STEPS = ("busy:2us", "busy:8us", "busy:30us", "busy:200us", "busy:2ms")
COUNTS = (2, 4, 16, 64)
CHOICES: tuple[ExecutorName | None, ...] = ("inline", "processes", None)
TURN_S, TURNS = 0.1, 8  # the length of a turn, and the turns of each choice in a start


@standard_output.ended
def main(starts: int) -> int:
    """Measure all cells and print the table."""
    print(f"{'step':>10} {'environments':>12} {'chosen':>10} {'inline/s':>10} {'processes/s':>12} {'chosen/best':>11}")
    ratios = []
    for name in STEPS:
        for n in COUNTS:
            rounds: dict[ExecutorName | None, list[float]] = {choice: [] for choice in CHOICES}
            for _ in range(starts):
                chosen = _start(name, n, rounds)
            speeds = {choice: median(taken) for choice, taken in rounds.items()}
            ratios.append(speeds[None] / max(speeds["inline"], speeds["processes"]))
            inline, processes = (n * speeds[choice] for choice in ("inline", "processes"))
            print(f"{name:>10} {n:>12} {chosen:>10} {inline:>10.0f} {processes:>12.0f} {ratios[-1]:>11.2f}", flush=True)
    print(f"median {median(ratios):.2f}, worst {min(ratios):.2f}, {starts} starts")
    return 0


def _start(name: str, n: int, rounds: dict[ExecutorName | None, list[float]]) -> str:
    """Add the rounds per second of each turn. Returns the executor that was chosen."""
    vectors = {
        choice: ReactorVectorEnv([partial(environment.make, name, {})] * n, executor=choice) for choice in CHOICES
    }
    try:
        for one in vectors.values():
            one.reset(seed=1)
            one.action_space.seed(1)
        for _ in range(TURNS):
            for choice, one in vectors.items():
                rounds[choice].append(_turn(one))
        return str(vectors[None].plan.executor)
    finally:
        for one in vectors.values():
            one.close()


def _turn(envs: ReactorVectorEnv) -> float:
    actions = envs.action_space.sample()
    envs.step(actions)  # the workers are awake
    count, began = 0, perf_counter()
    while perf_counter() - began < TURN_S:
        envs.step(actions)
        count += 1
    return count / (perf_counter() - began)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 5))
