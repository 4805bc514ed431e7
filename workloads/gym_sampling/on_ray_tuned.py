"""Sampling with one Ray actor per environment, in a session as Ray advises.

A step number is far too small for the object store. A small reply is packed by one pickle, since Ray's own calls Python
for every array in it. One get per round takes all replies.
"""

from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("tuned", probe) as ray_session:
        clients = Pool(ray_session, Sampler, ((task, index) for index in range(task.actors)), apart=True)
        ray_session.await_actors()
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            replies = clients.gather("step_message", step)
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))
