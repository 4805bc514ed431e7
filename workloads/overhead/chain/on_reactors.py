"""A chain of reactors: a ring in which the whole way is one tag."""

from workloads.overhead.task import Task
from workloads.overhead.thread_ring.on_reactors import ThreadRing
from workloads.probe import Probe


class Chain(ThreadRing):
    """Members that hand a value on within a tag."""

    def __init__(self, task: Task, probe: Probe) -> None:
        super().__init__(task, probe, after=None)
