"""PPO with one Ray actor per environment, the actions in every call; the driver is the learner."""

import ray

from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("paper", probe) as ray_session:
        learner = task.make_learner()
        players = ray_session.start(Player, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        learner.begin(joined(ray.get([player.begin.remote() for player in players])))
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                actions = learner.act()
                learner.see(joined(ray.get([player.step.remote(actions) for player in players])))
            if probe.verifying:
                task.record(probe.digest, learner)
            learner.learn()
            probe.round()
        probe.state(learner.final_state())
