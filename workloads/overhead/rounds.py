"""The rounds of a shape, as every backend reports them: their values, their ends and the final state."""

from collections.abc import Callable

from workloads.overhead.task import Task
from workloads.probe import Probe


class Rounds:
    """Reports the rounds to the probe; belongs to whoever sees their ends.

    `counts_follow`: whether the shape adds to the final state how often each timer fired.
    """

    def __init__(self, task: Task, probe: Probe, *, counts_follow: bool = False) -> None:
        self.probe = probe
        self.left = task.total_rounds
        self.counts_follow = counts_follow

    def more(self, value: int) -> bool:
        """Report a round that ended with this value; after the last one, report the final state and answer False."""
        self.probe.digest.add(0, value)
        self.probe.round()
        self.left -= 1
        if not self.left:
            self.probe.state(value, *(() if self.counts_follow else (None,)))
        return self.left > 0


def play_rounds(task: Task, probe: Probe, play: Callable[[int], int], *, counts_follow: bool = False) -> None:
    """All rounds, each of which `play` takes from the value before it to the value after it."""
    rounds = Rounds(task, probe, counts_follow=counts_follow)
    probe.ready()
    value = play(task.seed)
    while rounds.more(value):
        value = play(value)
