"""Timers in shares, a heap each: the driver holds the first, an actor each of the others, with one call per round."""

from collections.abc import Sequence
from typing import Any

from workloads.overhead.ray_graphs import MESSAGE_BYTES
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import Task, TimerHeap
from workloads.probe import Probe
from workloads.ray_pool import Pool, Share
from workloads.ray_session import Session


class HeapShare(Share):
    """The timers of one process, which share a heap."""

    def __init__(self, member_class: type[TimerHeap], arguments: Sequence[tuple[Task, int]]) -> None:
        super().__init__(member_class, [(arguments[0][0], [index for _, index in arguments])])


def run(task: Task, probe: Probe, ray_session: Session, style: str) -> None:
    """Run all rounds of the task, reporting to the probe."""
    timers = Pool(ray_session, TimerHeap, ((task, index) for index in range(task.actors)), HeapShare)
    ray_session.await_actors()
    if style == "compiled":
        timers.compile(ray_session, MESSAGE_BYTES + 8 * task.actors)

    def play(value: int) -> int:
        fired: list[int] = timers.gather("play_round")
        return value + sum(fired)

    play_rounds(task, probe, play, counts_follow=True)
    counts: list[Any] = timers.gather("retrieve")
    probe.state([count for share in counts for count in share])
