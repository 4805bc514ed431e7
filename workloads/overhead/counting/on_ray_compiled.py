"""Counting with a Ray actor in a compiled graph: the driver is the producer, and heeds the last sum only."""

from workloads.overhead.ray_graphs import IN_FLIGHT, MESSAGE_BYTES, last
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Counter, Task
from workloads.probe import Probe
from workloads.ray_graph import Execute, compile_graph
from workloads.ray_session import Session


class TellingCounter(Counter):
    """Every call in a graph has a result, so this one tells the sum at once."""

    def count(self, increment: int) -> int:
        """The sum, this increment included."""
        self.add(increment)
        return self.retrieve()


def run(task: Task, probe: Probe, ray_session: Session) -> None:
    """Run all rounds of the task, reporting to the probe."""
    (counter,) = ray_session.start(TellingCounter, [()])
    ray_session.await_actors()
    execute: Execute = compile_graph(ray_session, counter.count.bind, MESSAGE_BYTES, IN_FLIGHT)

    def play(_value: int) -> int:
        return last(execute, range(1, task.messages_per_round + 1))

    play_rounds(task, probe, play)
