"""Broadcast and gather in Lingua Franca: broadcast_gather.lf."""

from pathlib import Path

from reactorlib import ExecutorName
from reactorlib import run as run_reactors
from reactorlib.lf import load
from workloads.broadcast_gather.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    program = load(Path(__file__).with_name("broadcast_gather.lf"))
    run_reactors(program, executor=executor, workers=workers, task=task, probe=probe)
