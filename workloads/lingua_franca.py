"""Programs in Lingua Franca, which lie beside the on_reactors.py that says the same in Python."""

from pathlib import Path
from typing import Any

from reactorlib import ExecutorName
from reactorlib import run as run_reactors
from reactorlib.lf import load, run_options
from workloads.probe import Probe


def run(
    file: Path,
    task: Any,
    probe: Probe,
    *,
    name: str | None = None,
    executor: ExecutorName = "inline",
    workers: int | None = None,
) -> None:
    """Run all rounds of the task, reporting to the probe. `name`: of the reactor, in a file without a main one."""
    program = load(file, name)
    run_reactors(program, **run_options(program), executor=executor, workers=workers, task=task, probe=probe)
