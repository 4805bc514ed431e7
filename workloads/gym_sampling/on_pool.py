"""Sampling with reactorlib's pool: a share of the environments on each core, which goes on as soon as it is ready."""

from functools import partial

import numpy as np
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import iterate

from reactorlib.gymnasium import ReactorPool
from workloads.gym_sampling.arrivals import Arrivals
from workloads.gym_sampling.on_gymnasium import SelfActing, check_observations, results
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    check_observations(task)
    if task.steps_per_message > 1:
        raise UnsupportedError("an environment of a pool takes one step per message")
    makers = [partial(SelfActing, task, index) for index in range(task.actors)]
    pool = ReactorPool(makers, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        pool.reset(seed=task.seed)  # environment i takes seed + i
        actions = np.array(list(iterate(pool.action_space, pool.action_space.sample())))
        pool.send(actions, np.arange(task.actors))
        arrivals = Arrivals(task, probe)
        while arrivals.goes_on:
            step = pool.recv(1)
            numbers = step[-1]["env_id"]
            pool.send(actions[numbers], numbers)
            arrivals.take(numbers.tolist(), results(pool, step) if probe.verifying else ())
    finally:
        pool.close()
