"""Q-learning as Ray actors, rollout workers and replay buffer: references pass through the driver, the learner.

It doesn't unpickle what is behind them, though Ray passes small values on through its process. The parameters are
small, 776 bytes as an array: a `ray.put`, which Ray advises from 100 KiB, would cost more than it saves.
"""

import ray

from workloads.columns import unpacked
from workloads.probe import Probe
from workloads.q_learning.ray_actors import PackingReplay, PackingRollout
from workloads.q_learning.task import Task
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("tuned", probe) as ray_session:
        rollouts = ray_session.start(PackingRollout, ((task, index) for index in range(task.actors)))
        (replay,) = ray_session.start(PackingReplay, [(task,)])
        learner = task.make_learner()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            parameters = learner.parameters()
            trajectories = [rollout.roll.remote(parameters) for rollout in rollouts]
            minibatch, rewards = ray.get(replay.exchange.remote(*trajectories))
            learner.learn(unpacked(minibatch))
            if probe.verifying:
                task.record(probe.digest, rewards, learner)
            probe.round()
        probe.state(learner.final_state())
