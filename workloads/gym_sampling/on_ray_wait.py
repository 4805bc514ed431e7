"""Sampling with a Ray actor per core, which has a share of the environments and goes on as soon as it is ready.

The driver waits for the first replies (`ray.wait`) and calls those actors again before it looks at them.
"""

import pickle

import ray

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from workloads.columns import rows_of
from workloads.gym_sampling.arrivals import Arrivals
from workloads.probe import Probe
from workloads.ray_pool import Share
from workloads.ray_session import session
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    workers = min(task.actors, available_cpus())
    shares: list[list[int]] = [[] for _ in range(workers)]
    for number in range(task.actors):
        shares[worker_of_member(number, task.actors, workers)].append(number)
    with session("tuned", probe) as ray_session:
        actors = ray_session.start(Share, ((Sampler, [(task, number) for number in share]) for share in shares))
        ray_session.await_actors()
        pending = {actor.batch.remote("step_message", 0): at for at, actor in enumerate(actors)}
        arrivals = Arrivals(task, probe)
        while arrivals.goes_on:
            ready, _ = ray.wait(list(pending), num_returns=1)
            for reply in ready:
                at = pending.pop(reply)
                pending[actors[at].batch.remote("step_message", 0)] = at
                batch = ray.get(reply)
                replies = rows_of(pickle.loads(batch) if isinstance(batch, bytes) else batch)
                arrivals.take(shares[at], replies)
