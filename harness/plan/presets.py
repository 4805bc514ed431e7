"""The presets of `run`: parameter sweeps, sized for two slow cores.

`presets.toml` lists the presets, and `facts.toml` of each workload its sweeps.

Every value there can be replaced by `--set`. Numbers of workers grow with the cores (see `ByCores`), but for those of
the paper's figures.
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reactorlib.cpus import available_cpus
from workloads import memory
from workloads.catalogue import WORKLOADS, workload_of

# How often each point starts afresh on each backend, unless a preset has another number.
TRIALS = 5
# The most that an actor of Ray's holds in `results/`, where it imports torch, is 260 MiB.
WORKER_BYTES = 300 * 2**20
_MEMORY_SHARE = 0.5  # of the machine's, for the workers of one backend
# The most workers, for every preset: 1,024 actors of Ray would take longer to start than a trial may take.
_MOST = 256


@dataclass(frozen=True)
class ByCores:
    """A number of workers: `each` for every core, but at least `least` where cores or memory are few, at most 256."""

    least: int
    each: int

    def here(self) -> tuple[int, str]:
        """The number on this machine, and why it is less than the cores ask for; empty where it is not."""
        wanted = max(self.least, min(_MOST, self.each * available_cpus()))
        fitting = int(_MEMORY_SHARE * memory.total() / WORKER_BYTES)
        count = max(self.least, min(wanted, fitting))
        return count, f"{count} workers instead of {wanted}: memory has no room for more" if count < wanted else ""


class Sweep:
    """Values of some parameters of a workload, the others at default. A value that is a table is a `ByCores`."""

    def __init__(self, workload: str, **values: Any) -> None:
        self.workload = workload
        read = {name: ByCores(**value) if isinstance(value, dict) else value for name, value in values.items()}
        self.values = {name: value if isinstance(value, list) else [value] for name, value in read.items()}


@dataclass(frozen=True)
class Preset:
    """Sweeps and the backends on which they run. `time_limit_s`: for each thing that a trial is asked. `budget_s`: for
    the run. It may allow fewer trials, but at least one of each point. `predicts`: each point's speed-up is predicted
    before it is measured, and the run ends with a file to contribute.
    """

    summary: str
    backends: Sequence[str]
    sweeps: Sequence[Sweep]
    trials: int = TRIALS
    time_limit_s: float = 180
    budget_s: float | None = None
    predicts: bool = False


def sweeps_of(preset: str, workload: str) -> list[Sweep]:
    """The sweeps of a workload in a preset, which its folder lists."""
    return [Sweep(workload, **values) for values in workload_of(workload).points.get(preset, ())]


_TABLES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PRESETS = {
    name: Preset(sweeps=[sweep for workload in WORKLOADS for sweep in sweeps_of(name, workload)], **table)
    for name, table in _TABLES.items()
}
