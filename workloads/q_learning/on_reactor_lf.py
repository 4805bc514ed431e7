"""Q-learning in Lingua Franca: q_learning.lf."""

from pathlib import Path

from reactorlib import ExecutorName
from reactorlib import run as run_reactors
from reactorlib.lf import load
from workloads.probe import Probe
from workloads.q_learning.task import Task


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe."""
    program = load(Path(__file__).with_name("q_learning.lf"))
    run_reactors(program, executor=executor, workers=workers, task=task, probe=probe)
