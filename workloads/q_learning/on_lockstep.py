"""Q-learning whose rollouts are on every core, in lockstep: the learner has those of its own core, repeated.

Parameters are not sent either: the rollout workers play with the first ones, which costs what others would.
"""

from functools import partial
from itertools import cycle, islice

from workloads.lockstep import Lockstep, Part
from workloads.probe import Probe
from workloads.q_learning.task import Task


def run(task: Task, probe: Probe, *, threads: bool = False) -> None:
    """Run all rounds of the task on processes or threads, reporting to the probe."""

    def make(index: int) -> Part:
        return partial(task.make_rollout_worker(index).roll, task.make_learner().parameters())

    with Lockstep(task.actors, make, threads) as lockstep:
        learner = task.make_learner()
        replay = task.make_replay_buffer()
        probe.ready()
        for _ in range(task.total_rounds):
            learner.parameters()
            minibatch, _ = replay.exchange(list(islice(cycle(lockstep.round()), task.actors)))
            learner.learn(minibatch)
            probe.round()
