"""On the first rank: every case of test_backends on reactor-mpi, and the serial loop's digests beside them."""

import json
import sys

from tests.workloads.test_backends import CASES, parameters
from workloads.catalogue import execute, make_task, run
from workloads.probe import Probe

FURTHER = {
    "q_learning": ("q_learning", {"actors": 2}),
    "multi_agent": ("multi_agent", {"agents": 3}),
    "ppo": ("ppo", {"actors": 2, "steps": 5}),
}


def main() -> None:
    """Print a line of JSON for each case."""
    for name, (workload, values) in {**CASES, **FURTHER}.items():
        chosen = parameters(workload, values)
        serial = execute(workload, "serial", chosen, verify=True)
        task = make_task(workload, chosen)
        probe = Probe(task.rounds, task.warmup_rounds, verify=True)
        run(workload, "reactor-mpi", task, probe, workers=2)  # told, for what one rank could do is not run otherwise
        print(json.dumps([name, serial.digest, probe.outcome().digest]), flush=True)
    timed = execute("gym_sampling", "reactor-mpi", parameters("gym_sampling", {"actors": 3}), verify=False)
    sys.exit(timed.rounds != 8)


if __name__ == "__main__":
    main()
