"""Sampling with the environments in shares: the driver steps the first, an actor each of the others."""

from workloads.gym_sampling.on_ray_compiled import reply_bytes
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session
from workloads.sampling import Reply, Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session(style, probe) as ray_session:
        clients = Pool(ray_session, Sampler, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        if style == "compiled":
            clients.compile(ray_session, reply_bytes(task) * len(clients.own.members))
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
