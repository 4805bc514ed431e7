"""Q-learning with one Ray actor per core, each with its share of the rollout workers, and the replay buffer in its own.

The driver is the learner; it hands the batches' references to the replay buffer without fetching what is behind them.
"""

import ray

from workloads.probe import Probe
from workloads.q_learning.ray_actors import Replay, Rollout
from workloads.q_learning.task import Task
from workloads.q_learning.transition import Drawn
from workloads.ray_pool import Batch, Pool, replies
from workloads.ray_session import session


class BatchReplay(Replay):
    """The replay buffer, which is given the trajectories in batches."""

    def exchange_batches(self, *batches: Batch) -> Drawn:
        """Append what all workers produced and draw a minibatch."""
        return self.exchange(*replies(batches))


def run(task: Task, probe: Probe) -> None:
    """Run all rounds on actors of this machine."""
    with session("tuned", probe) as ray_session:
        rollouts = Pool(ray_session, Rollout, ((task, index) for index in range(task.actors)))
        (replay,) = ray_session.start(BatchReplay, [(task,)])
        learner = task.make_learner()
        ray_session.await_actors()
        probe.ready()
        for _ in range(task.total_rounds):
            batches = rollouts.ask("roll", learner.parameters())
            minibatch, rewards = ray.get(replay.exchange_batches.remote(*batches))
            learner.learn(minibatch)
            if probe.verifying:
                task.record(probe.digest, rewards)
            probe.round()
        probe.state(learner.final_state())
