"""PPO with one Ray actor per environment; the driver is the learner. `on_ray_pooled` has the environments in shares.

Actions and replies are far too small for the object store. They are packed by one pickle.
"""

import pickle

from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import session


def run(task: Task, probe: Probe, style: str = "tuned", *, apart: bool = True) -> None:
    """Run all rounds on actors of this machine."""
    with session(style, probe) as ray_session:
        learner = task.make_learner()
        players = Pool(ray_session, Player, ((task, index) for index in range(task.actors)), apart=apart)
        ray_session.await_actors()
        first = players.gather("begin")
        learner.begin(joined(first))
        if style == "compiled":
            reply_bytes = len(pickle.dumps(first[0], protocol=5))
            players.compile(ray_session, reply_bytes * players.share_size + task.actors * 8)
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                # Joined at once: a reply may occupy the graph's buffer for as long as it lives.
                learner.see(joined(players.gather("step", learner.act())))
            if probe.verifying:
                task.record(probe.digest, learner)
            learner.learn()
            probe.round()
        probe.state(learner.final_state())
