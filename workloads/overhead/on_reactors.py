"""The shapes as reactors."""

from reactorlib import ExecutorName, Reactor
from reactorlib import run as run_reactors
from workloads.overhead.chain.on_reactors import Chain
from workloads.overhead.counting.on_reactors import Counting
from workloads.overhead.fan_out.on_reactors import FanOut
from workloads.overhead.ping_pong.on_reactors import PingPong
from workloads.overhead.task import Task
from workloads.overhead.thread_ring.on_reactors import ThreadRing
from workloads.overhead.timers.on_reactors import Timers
from workloads.probe import Probe

SHAPES: dict[str, type[Reactor]] = {
    "ping_pong": PingPong,
    "thread_ring": ThreadRing,
    "counting": Counting,
    "fan_out": FanOut,
    "chain": Chain,
    "timers": Timers,
}


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds of the task, reporting to the probe; logical time, which the timers use, runs freely."""
    run_reactors(SHAPES[task.shape], fast=True, executor=executor, workers=workers, task=task, probe=probe)
