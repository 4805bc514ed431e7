"""The rounds of a shape, as every backend reports them: their values, their ends and the final state."""

from collections.abc import Callable

from workloads.overhead.task import Task
from workloads.probe import Probe


class Rounds:
    """Reports the rounds to the probe; belongs to whoever sees their ends.

    The final state is the last value and None. In the shape `timers` it is how often each timer fired, and not None:
    those who count add that.
    """

    def __init__(self, task: Task, probe: Probe) -> None:
        self.probe = probe
        self.left = task.total_rounds
        self.counts = () if task.shape == "timers" else (None,)

    def more(self, value: int) -> bool:
        """Report a round that ended with this value; after the last one, report the final state and answer False."""
        self.probe.digest.add(0, value)
        self.probe.round()
        self.left -= 1
        if not self.left:
            self.probe.state(value, *self.counts)
        return self.left > 0


def play_rounds(task: Task, probe: Probe, play: Callable[[int], int]) -> None:
    """All rounds, each of which `play` takes from the value before it to the value after it."""
    rounds = Rounds(task, probe)
    probe.ready()
    value = play(task.seed)
    while rounds.more(value):
        value = play(value)
