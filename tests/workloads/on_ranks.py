"""On the first rank: every case of test_backends on reactor-mpi, and the serial loop's digests beside them."""

import json
import sys

from tests.workloads.test_backends import CASES, parameters
from workloads.catalogue import execute

FURTHER = {
    "q_learning": ("q_learning", {"actors": 2}),
    "multi_agent": ("multi_agent", {"agents": 3}),
}


def main() -> None:
    """Print a line of JSON for each case."""
    for name, (workload, values) in {**CASES, **FURTHER}.items():
        chosen = parameters(workload, values)
        serial = execute(workload, "serial", chosen, verify=True)
        ours = execute(workload, "reactor-mpi", chosen, verify=True)
        print(json.dumps([name, serial.digest, ours.digest]), flush=True)
    timed = execute("gym_sampling", "reactor-mpi", parameters("gym_sampling", {"actors": 3}), verify=False)
    sys.exit(timed.rounds != 8)


if __name__ == "__main__":
    main()
