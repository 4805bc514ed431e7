"""Sampling in lock step over two nodes, on one engine: `... sampling ENGINE WORKLOAD ENV ACTORS ROUNDS [ADDRESS]`.

Engines: `serial`, `reactor-mpi` (as a module of `workloads.ranks`), and over a cluster of Ray `ray-paper`, an actor for
each environment, and `ray-pooled`, an actor for each core with its share of the environments. Half of the environments
are on each node, the hub on the first. Prints JSON: the digest of VERIFIED rounds, and what a measured round takes.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from workloads import catalogue
from workloads.probe import Probe
from workloads.sampling import Reply, Sampler, SamplingTask

VERIFIED = 20


def main() -> None:
    """Verify, then measure."""
    engine, workload, environment, actors, rounds, *address = sys.argv[1:]
    values = {"env": environment, "actors": int(actors)}
    verified = catalogue.make_task(workload, {**values, "rounds": VERIFIED, "warmup_rounds": 0})
    timed = catalogue.make_task(workload, {**values, "rounds": int(rounds), "warmup_rounds": max(2, int(rounds) // 10)})
    if engine.startswith("ray-"):
        run = over_ray(engine, address[0])
    else:
        run = lambda task, probe: catalogue.run(workload, engine, task, probe)  # noqa: E731
    found = []
    for task in (verified, timed):
        probe = Probe(task.rounds, task.warmup_rounds, verify=task is verified)
        run(task, probe)
        found.append(probe.outcome())
    print(json.dumps({"digest": found[0].digest, "us": found[1].elapsed_ns / found[1].rounds / 1e3}), flush=True)


class Pool:
    """Environments of one actor."""

    def __init__(self, task: SamplingTask, members: Sequence[int]) -> None:
        self.samplers = [Sampler(task, member) for member in members]

    def step(self, number: int) -> list[Reply]:
        """Step each."""
        return [sampler.step_message(number) for sampler in self.samplers]


def over_ray(engine: str, address: str) -> Callable[[Any, Probe], None]:
    """Runs tasks on a cluster whose nodes have the resources `near` and `far`."""
    import ray

    ray.init(address=address, log_to_driver=False, configure_logging=False)

    def run(task: Any, probe: Probe) -> None:
        shares = _shares(task.actors, 1 if engine == "ray-paper" else -(-task.actors // 2))
        half = -(-task.actors // 2)
        remote: Any = ray.remote(Pool)
        actors = [
            remote.options(num_cpus=0, resources={"near" if share[0] < half else "far": 0.001}).remote(task, share)
            for share in shares
        ]
        ray.get([actor.__ray_ready__.remote() for actor in actors])
        probe.ready()
        values: list[Reply] = []
        for number in range(task.total_rounds):
            values = [reply for part in ray.get([actor.step.remote(number) for actor in actors]) for reply in part]
            if probe.verifying:
                task.record(probe.digest, values)
            probe.round()
        probe.state(task.final_state(values))
        for actor in actors:
            ray.kill(actor)
        time.sleep(0.2)  # they end in their own time

    return run


def _shares(members: int, size: int) -> list[range]:
    return [range(first, min(members, first + size)) for first in range(0, members, size)]


if __name__ == "__main__":
    main()
