"""The shapes as reactors in Lingua Franca: shapes.lf."""

from pathlib import Path
from typing import Any

from workloads import lingua_franca
from workloads.overhead.task import Task
from workloads.probe import Probe


def run(task: Task, probe: Probe, **options: Any) -> None:
    """Run all rounds of the task by the reactor of its shape, reporting to the probe."""
    lingua_franca.run(Path(__file__).with_name("shapes.lf"), task, probe, name=task.shape, **options)
