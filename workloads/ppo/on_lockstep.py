"""PPO whose players are on every core, in lockstep: the learner has the steps of its own core, repeated.

Actions are not sent either: players repeat random ones, whose episodes are shorter than those of a learnt policy.
"""

from itertools import cycle, islice

from workloads import environment
from workloads.lockstep import Lockstep, Part
from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task
from workloads.probe import Probe

ACTIONS = 1_000  # that are drawn before the first round


def run(task: Task, probe: Probe, *, threads: bool = False) -> None:
    """Run all rounds of the task on processes or threads, reporting to the probe."""

    def make(index: int) -> Part:
        player = Player(task, index)
        draw = environment.random_actions(player.environment, task.seed + index)
        actions = cycle([draw() for _ in range(ACTIONS)])
        return lambda: player.take(next(actions))

    with Lockstep(task.actors, make, threads) as lockstep:
        learner = task.make_learner()
        probe.ready()
        for _ in range(task.total_rounds):
            for _ in range(task.steps):
                learner.act()
                learner.see(joined(list(islice(cycle(lockstep.round()), task.actors))))
            learner.learn()
            probe.round()
