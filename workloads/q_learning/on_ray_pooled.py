"""Q-learning with the rollout workers in shares: the driver holds the first, an actor each of the others.

The driver is the learner and keeps the replay buffer, as reactors place both on the worker with the first share.
"""

from workloads.probe import Probe
from workloads.q_learning.ray_actors import Rollout
from workloads.q_learning.task import Task
from workloads.ray_pool import Pool
from workloads.ray_session import session


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("tuned", probe) as ray_session:
        rollouts = Pool(ray_session, Rollout, ((task, index) for index in range(task.actors)))
        replay = task.make_replay_buffer()
        learner = task.make_learner()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            minibatch, rewards = replay.exchange(rollouts.gather("roll", learner.parameters()))
            learner.learn(minibatch)
            if probe.verifying:
                task.record(probe.digest, rewards)
            probe.round()
        probe.state(learner.final_state())
