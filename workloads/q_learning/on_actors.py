"""Q-learning with the rollout workers as actors in shares, one per core.

The driver is the learner and keeps the replay buffer, as reactors place both on the worker with the first share.
"""

import pickle

from workloads.actors.members import Members
from workloads.actors.system import load
from workloads.probe import Probe
from workloads.q_learning.task import Task


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds of the task on an actor system, reporting to the probe."""

    def largest_bytes(share: int) -> int:
        parameters = learner.parameters()
        trajectory = len(pickle.dumps(task.make_rollout_worker(0).roll(parameters), protocol=5))
        return max(len(pickle.dumps(parameters, protocol=5)), trajectory * share)

    with load(system)(probe) as actors:
        rollouts = Members(actors, task.make_rollout_worker, ((index,) for index in range(task.actors)))
        replay = task.make_replay_buffer()
        learner = task.make_learner()
        rollouts.await_actors(largest_bytes)
        probe.ready()
        for _ in range(task.total_rounds):
            minibatch, rewards = replay.exchange(rollouts.gather("roll", learner.parameters()))
            learner.learn(minibatch)
            if probe.verifying:
                task.record(probe.digest, rewards, learner)
            probe.round()
        probe.state(learner.final_state())
