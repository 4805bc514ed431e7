"""Sampling with one Ray actor per environment, in a session as Ray advises. `on_ray_pooled` has them in shares.

A step number is far too small for the object store. A small reply is packed by one pickle, since Ray's own calls Python
for every array in it. One get per round takes all replies.
"""

import pickle

from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session
from workloads.sampling import Reply, Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe, style: str = "tuned", *, apart: bool = True) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session(style, probe) as ray_session:
        clients = Pool(ray_session, Sampler, ((task, index) for index in range(task.actors)), apart=apart)
        ray_session.await_actors()
        if style == "compiled":
            with ray_session.free_of_charge():
                reply_bytes = len(pickle.dumps(Sampler(task, 0).step_message(0), protocol=5))
            clients.compile(ray_session, reply_bytes * clients.share_size)
        replies: list[Reply] = []
        probe.ready()
        for round_index in range(task.total_rounds):
            step = round_index * task.steps_per_message
            # A reply occupies memory of Ray's for as long as its arrays live.
            replies.clear()
            replies += clients.gather("step_message", step)
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()
        probe.state(task.final_state(replies))
