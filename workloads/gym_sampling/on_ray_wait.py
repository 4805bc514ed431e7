"""Sampling with a Ray actor per core, which has a share of the environments and goes on as soon as it is ready.

The driver waits for the first replies (`ray.wait`) and calls those actors again before it looks at them.
"""

import ray

from workloads.actors.members import Share, shares_of
from workloads.actors.ray_pooled import PackingActor, unpacked
from workloads.columns import rows_of
from workloads.gym_sampling.arrivals import Arrivals
from workloads.probe import Probe
from workloads.ray_session import session
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    shares = shares_of(list(range(task.actors)))
    with session("tuned", probe) as ray_session:
        arguments = [(Share, (Sampler, [(task, number) for number in share])) for share in shares]
        actors = ray_session.start(PackingActor, arguments)
        ray_session.await_actors()
        pending = {actor.call.remote("batch", "step_message", 0): at for at, actor in enumerate(actors)}
        arrivals = Arrivals(task, probe)
        while arrivals.goes_on:
            ready, _ = ray.wait(list(pending), num_returns=1)
            for reply in ready:
                at = pending.pop(reply)
                pending[actors[at].call.remote("batch", "step_message", 0)] = at
                arrivals.take(shares[at], rows_of(unpacked(ray.get(reply))))
