"""The Ray actors of Q-learning, however they are called: rollout workers and the replay buffer."""

from typing import Any

from workloads.columns import packed, unpacked
from workloads.q_learning.task import Task
from workloads.q_learning.transition import Drawn, Parameters, Trajectory


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


class PackingRollout(Rollout):
    """A rollout worker whose single transitions, if it replies with such, go by column."""

    def roll(self, parameters: Parameters) -> Any:
        """The packed trajectory."""
        return packed(super().roll(parameters))


class PackingReplay(Replay):
    """The replay buffer that takes and gives packed transitions."""

    def exchange(self, *trajectories: Any) -> Any:
        """The packed minibatch, and the rewards."""
        minibatch, rewards = super().exchange(*map(unpacked, trajectories))
        return packed(minibatch), rewards
