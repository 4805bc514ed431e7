"""A chain of reactors of xronos: a ring in which the whole way is one tag."""

import xronos

from workloads.overhead.task import Task
from workloads.overhead.thread_ring.on_xronos import run as run_ring
from workloads.probe import Probe


def run(task: Task, probe: Probe, environment: xronos.Environment) -> None:
    """Run all rounds of the task, reporting to the probe."""
    run_ring(task, probe, environment, hop=None)
