"""Q-learning with the rollout workers in shares: the driver holds the first, an actor each of the others.

The driver is the learner and keeps the replay buffer, as reactors place both on the worker with the first share.
"""

import pickle

from workloads.probe import Probe
from workloads.q_learning.learner import Learner
from workloads.q_learning.ray_actors import Rollout
from workloads.q_learning.task import Task
from workloads.ray_pool import Pool
from workloads.ray_session import session


def run(task: Task, probe: Probe, style: str = "tuned") -> None:
    """Run all rounds on actors of this machine."""
    with session(style, probe) as ray_session:
        rollouts = Pool(ray_session, Rollout, ((task, index) for index in range(task.actors)))
        replay = task.make_replay_buffer()
        learner = task.make_learner()
        ray_session.await_actors()
        if style == "compiled":
            with ray_session.free_of_charge():
                message_bytes = _message_bytes(task, learner, rollouts.share_size)
            rollouts.compile(ray_session, message_bytes)
        probe.ready()
        for _ in range(task.total_rounds):
            minibatch, rewards = replay.exchange(rollouts.gather("roll", learner.parameters()))
            learner.learn(minibatch)
            if probe.verifying:
                task.record(probe.digest, rewards, learner)
            probe.round()
        probe.state(learner.final_state())


def _message_bytes(task: Task, learner: Learner, share: int) -> int:
    """The larger of parameters and the trajectories of a share, as pickled."""
    parameters = learner.parameters()
    trajectory = len(pickle.dumps(task.make_rollout_worker(0).roll(parameters), protocol=5))
    return max(len(pickle.dumps(parameters, protocol=5)), trajectory * share)
