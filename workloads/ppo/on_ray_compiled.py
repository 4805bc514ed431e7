"""PPO with one Ray actor per environment, all calls of a step in one compiled graph; the driver is the learner."""

import pickle

import ray

from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe
from workloads.ray_graph import broadcast_graph
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("compiled", probe) as ray_session:
        learner = task.make_learner()
        players = ray_session.start(Player, ((task, index) for index in range(task.actors)))
        ray_session.await_actors()
        first = ray.get([player.begin.remote() for player in players])
        learner.begin(joined(first))
        message_bytes = len(pickle.dumps(first[0], protocol=5)) + task.actors * 8
        execute = broadcast_graph(ray_session, [player.step for player in players], message_bytes)
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                # Joined at once: a reply occupies the graph's buffer for as long as it lives.
                learner.see(joined(ray.get(execute(learner.act()))))
            learner.learn()
            if probe.verifying:
                task.record(probe.digest, learner)
            probe.round()
        probe.state(learner.final_state())
