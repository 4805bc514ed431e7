"""Sampling in Lingua Franca: sampling.lf."""

from pathlib import Path

from reactorlib import ExecutorName
from reactorlib import run as run_reactors
from reactorlib.lf import load
from workloads.probe import Probe
from workloads.sampling import SamplingTask


def run(task: SamplingTask, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    program = load(Path(__file__).with_name("sampling.lf"))
    run_reactors(program, executor=executor, workers=workers, task=task, probe=probe)
