"""The plain loop on every core over its share of the environments, in lockstep: no reply is sent, so none verified."""

from functools import partial

from workloads.lockstep import Lockstep, Part
from workloads.probe import Probe
from workloads.sampling import Sampler, SamplingTask


def run(task: SamplingTask, probe: Probe, *, threads: bool = False) -> None:
    """Run all rounds of the task on processes or threads, reporting to the probe."""

    def make(index: int) -> Part:
        return partial(Sampler(task, index).step_message, 0)

    with Lockstep(task.actors, make, threads) as lockstep:
        probe.ready()
        for _ in range(task.total_rounds):
            lockstep.round()
            probe.round()
