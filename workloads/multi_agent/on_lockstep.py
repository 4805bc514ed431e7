"""Traffic Junction whose policies are on every core, in lockstep: agents of other cores act as those of this one do.

Observations are not sent either: the policies see the first one, which costs what others would.
"""

from functools import partial
from itertools import cycle, islice

from workloads.lockstep import Lockstep, Part
from workloads.multi_agent.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, *, threads: bool = False) -> None:
    """Run all rounds of the task on processes or threads, reporting to the probe."""

    def make(agent: int) -> Part:
        return partial(task.make_policy(agent).act, task.make_episodes().message)

    with Lockstep(task.agents, make, threads) as lockstep:
        episodes = task.make_episodes()
        probe.ready()
        for _ in range(task.total_rounds):
            _ = episodes.message
            episodes.step(list(islice(cycle(lockstep.round()), task.agents)))
            probe.round()
