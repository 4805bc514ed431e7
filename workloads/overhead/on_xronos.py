"""The shapes as reactors of xronos, a runtime in C++ with reactions in Python."""

import importlib

from workloads.overhead.task import SHAPES as NAMES
from workloads.overhead.task import Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

try:
    import xronos
except ImportError:
    raise UnsupportedError.missing("xronos") from None

SHAPES = {shape: importlib.import_module(f"{__package__}.{shape}.on_xronos") for shape in NAMES}


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe; logical time, which the timers use, runs freely."""
    SHAPES[task.shape].run(task, probe, xronos.Environment(fast=True))
