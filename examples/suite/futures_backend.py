"""A framework in the benchmark, as one function for one workload: concurrent.futures samples Gymnasium environments.

python -m harness run --workload gym_sampling --backend serial --backend examples/suite/futures_backend.py:run
"""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from workloads.probe import Probe
from workloads.sampling import Reply, Sampler, SamplingTask

SPAWN = get_context("spawn")  # no process is forked beside the threads of other pools
samplers: list[Sampler] = []


def make(task: SamplingTask, index: int) -> None:
    """Make an environment, in the process that will step it."""
    samplers.append(Sampler(task, index))


def step(step_number: int) -> Reply:
    """Answer the message of a round."""
    return samplers[0].step_message(step_number)


def run(task: SamplingTask, probe: Probe) -> None:
    """A process of concurrent.futures for each environment."""
    pools = [ProcessPoolExecutor(1, SPAWN, initializer=make, initargs=(task, index)) for index in range(task.actors)]
    try:
        for started in [pool.submit(bool) for pool in pools]:
            started.result(timeout=60)
        probe.ready()
        for round_index in range(task.total_rounds):
            coming = [pool.submit(step, round_index * task.steps_per_message) for pool in pools]
            replies = [one.result(timeout=60) for one in coming]
            if probe.verifying:
                task.record(probe.digest, replies)
            probe.round()  # a run that is measured ends in here
        probe.state(task.final_state(replies))
    finally:
        for pool in pools:
            pool.shutdown()
