"""The process that measures one tree, lap by lap as it is told. Run as a script, with the tree on PYTHONPATH.

Standard input: an order per line as JSON, and an empty line for each lap. Output: a line of JSON for each answer:
`{}` when a warm-up is over and when an order is done, else a lap's processor and wall time in ns. While the other
tree's process has its turn this one waits, so that neither disturbs the other, and both see the same machine.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import Any

# From the tree that is measured, before this file's own tree is added: their submodules come from there too.
import reactorlib
import workloads

_TREE = Path(os.environ["PYTHONPATH"])
_OWN = Path(__file__).resolve().parents[2]


class Turns:
    """This side's laps: waits for each turn, and answers with what the lap took."""

    def __init__(self, answers: int, laps: int) -> None:
        self._answers = answers
        self._left = laps
        self._began: tuple[int, int] | None = None

    def next(self) -> bool:
        """End a lap, if one has begun, and wait for the next turn; False after the last."""
        if self._began is None:
            answer(self._answers, {})
        else:
            cpu_ns, wall_ns = process_time_ns() - self._began[0], perf_counter_ns() - self._began[1]
            answer(self._answers, {"cpu_ns": cpu_ns, "wall_ns": wall_ns})
        if not self._left:
            return False
        self._left -= 1
        if not sys.stdin.readline():
            os._exit(1)  # nobody is left to measure for; an exception would have to pass through what is measured
        self._began = process_time_ns(), perf_counter_ns()
        return True


def answer(descriptor: int, content: Mapping[str, Any]) -> None:
    """Write a line."""
    os.write(descriptor, json.dumps(content).encode() + b"\n")


def measure_kernel(name: str, count: int, turns: Turns) -> None:
    """Laps of `count` tags, or repetitions, of a hot path."""
    from benchmarks.meter import Meter
    from benchmarks.regress.kernel import KERNEL

    class Metered(Meter):
        def next_lap(self) -> int:
            return count if turns.next() else 0

    KERNEL[name](Metered(warmup=count, tags=count))


def measure_workload(workload: str, backend: str, parameters: Mapping[str, Any], count: int, turns: Turns) -> None:
    """Laps of `count` rounds of a workload."""
    from workloads import catalogue
    from workloads.probe import Probe

    class Metered(Probe):
        passed = 0

        def round(self) -> None:
            super().round()
            self.passed += 1
            if self.passed % count == 0:
                turns.next()

    task = catalogue.make_task(workload, parameters)
    chosen = catalogue.BACKENDS[backend]
    run = importlib.import_module(f"{catalogue.WORKLOADS[workload].module}.{chosen.module}").run
    run(task, Metered(task.rounds, task.warmup_rounds, verify=False), **chosen.options)


def obey(order: Mapping[str, Any], answers: int) -> None:
    """Carry out an order: warm up with as much as a lap has, then the laps."""
    count, laps = order["count"], order["laps"]
    gc.collect()
    turns = Turns(answers, laps)
    if "kernel" in order:
        measure_kernel(order["kernel"], count, turns)
    else:
        parameters = {**order["parameters"], "warmup_rounds": count, "rounds": laps * count}
        measure_workload(order["workload"], order["backend"], parameters, count, turns)
    answer(answers, {})


def main() -> int:
    """Obey until the input ends."""
    for module in (reactorlib, workloads):
        if not Path(str(module.__file__)).resolve().is_relative_to(_TREE.resolve()):
            raise ImportError(f"{module.__name__} comes from {module.__file__}, not from {_TREE}")
    sys.path.append(str(_OWN))
    answers = os.dup(1)
    os.dup2(2, 1)  # what the measured code prints is no answer
    for line in sys.stdin:
        obey(json.loads(line), answers)
    return 0


if __name__ == "__main__":
    sys.exit(main())
