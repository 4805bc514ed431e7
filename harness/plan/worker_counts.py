"""How many workers a preset has on a machine: enough for all its cores, and no more than its memory holds."""

from dataclasses import dataclass

import psutil

from reactorlib.cpus import available_cpus

# The most that an actor of Ray's holds in `results/`, where it imports torch, is 260 MiB.
_WORKER_BYTES = 300 * 2**20
_MEMORY_SHARE = 0.5  # of the machine's, for the workers of one backend


@dataclass(frozen=True)
class ByCores:
    """A number of workers: `each` for every core, but at least `least`, where cores or memory are few."""

    least: int
    each: int = 4

    @property
    def wanted(self) -> int:
        return max(self.least, self.each * available_cpus())

    def here(self) -> int:
        fitting = int(_MEMORY_SHARE * psutil.virtual_memory().total / _WORKER_BYTES)
        return max(self.least, min(self.wanted, fitting))

    def shortfall(self) -> str:
        """Why there are fewer than the cores ask for; empty where there are as many."""
        count = self.here()
        return f"{count} workers instead of {self.wanted}: memory has no room for more" if count < self.wanted else ""
