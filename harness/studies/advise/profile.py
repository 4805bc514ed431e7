"""An environment by itself: how long its steps take, how they vary, what an observation weighs.

`measure` runs in a process of its own: an environment is anybody's code.
"""

import pickle
import resource
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workloads import environment
from workloads.catalogue import make_task
from workloads.sampling import Sampler

WORKLOAD = "gym_sampling"
_LONGEST_S = 4.0
_MOST_STEPS = 20_000
_FEWEST_STEPS = 10
# An environment waits instead of computing if two things hold. Its processor time is less than this part of the time
# that passed. It also gave the processor away by itself in as many steps. Where it was taken away, others compute.
_COMPUTES, _GAVE_AWAY = 0.6, 0.5


@dataclass(frozen=True)
class Profile:
    """`step_ns`: time of each step, including the reset that follows it. It is processor time, or wall time if the
    environment `waits` rather than computes. `message_bytes`: a step's observation, reward and flags, as pickled.
    """

    step_ns: list[int]
    message_bytes: int
    waits: bool

    @property
    def mean_ns(self) -> float:
        return float(np.mean(self.step_ns))

    def percentile_ns(self, percent: float) -> float:
        """The time that so many percent of the steps don't exceed."""
        return float(np.percentile(self.step_ns, percent))


def measure(env: str, seed: int) -> dict[str, Any]:
    """The profile of an environment; raises what making or stepping it raises."""
    task = make_task(WORKLOAD, {"env": env, "seed": seed})
    environment.check(task.make_environment(), seed)
    sampler = Sampler(task, 0)
    reply = sampler.step_message(0)
    passed, computed = list[int](), list[int]()
    until, gave_away = time.monotonic() + _LONGEST_S, _switches()
    while len(passed) < _FEWEST_STEPS or (len(passed) < _MOST_STEPS and time.monotonic() < until):
        wall, cpu = time.perf_counter_ns(), time.process_time_ns()
        sampler.step_message(0)
        computed.append(time.process_time_ns() - cpu)
        passed.append(time.perf_counter_ns() - wall)
    gave_away = _switches() - gave_away
    waits = sum(computed) < _COMPUTES * sum(passed) and gave_away > _GAVE_AWAY * len(passed)
    message_bytes = len(pickle.dumps(reply, protocol=5))
    return asdict(Profile(passed if waits else computed, message_bytes, waits))


def _switches() -> int:
    """How often this process has let others have its processor because it waited."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw
