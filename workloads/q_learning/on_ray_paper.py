"""Q-learning as Ray actors, rollout workers and replay buffer: trajectories pass through the driver, the learner."""

import ray

from workloads.probe import Probe
from workloads.q_learning.task import Task
from workloads.q_learning.transition import Drawn, Parameters, Trajectory
from workloads.ray_session import session


class Rollout:
    """A rollout worker."""

    def __init__(self, task: Task, index: int) -> None:
        self.worker = task.make_rollout_worker(index)

    def roll(self, parameters: Parameters) -> Trajectory:
        """Play with the new parameters."""
        return self.worker.roll(parameters)


class Replay:
    """The replay buffer."""

    def __init__(self, task: Task) -> None:
        self.buffer = task.make_replay_buffer()

    def exchange(self, *trajectories: Trajectory) -> Drawn:
        """Append what all workers produced and draw a minibatch."""
        return self.buffer.exchange(trajectories)


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("paper", probe) as ray_session:
        rollouts = ray_session.start(Rollout, ((task, index) for index in range(task.actors)))
        (replay,) = ray_session.start(Replay, [(task,)])
        learner = task.make_learner()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            parameters = learner.parameters()
            trajectories = ray.get([rollout.roll.remote(parameters) for rollout in rollouts])
            minibatch, rewards = ray.get(replay.exchange.remote(*trajectories))
            learner.learn(minibatch)
            if probe.verifying:
                task.record(probe.digest, rewards, learner)
            probe.round()
        probe.state(learner.final_state())
