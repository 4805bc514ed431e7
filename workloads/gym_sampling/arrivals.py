"""Rounds of results that arrive in any order: as many results as there are environments.

Environments that are ready go on, so one may be ahead of another. A verified round has one result of each, in the order
in which its environment gave them. The values are then those of any other backend. A timed round only counts results.
"""

from collections import deque
from collections.abc import Sequence

from workloads.probe import Probe
from workloads.sampling import Reply, SamplingTask


class Arrivals:
    """Reports the rounds of a task. `goes_on`: whether any are left."""

    def __init__(self, task: SamplingTask, probe: Probe) -> None:
        self._task, self._probe = task, probe
        self._early: list[deque[Reply]] = [deque() for _ in range(task.actors)]  # for verified rounds to come
        self._count = 0  # of results since the last timed round
        self._left = task.total_rounds
        probe.ready()

    @property
    def goes_on(self) -> bool:
        """Whether the task has further rounds."""
        return self._left > 0

    def _verifies(self) -> bool:
        return self._probe.verifying

    def take(self, numbers: Sequence[int], replies: Sequence[Reply]) -> None:
        """Take the replies of the environments with these numbers."""
        if not self._verifies():
            self._count += len(numbers)
            while self.goes_on and self._count >= self._task.actors:
                self._count -= self._task.actors
                self._end_round([])
            return
        for number, reply in zip(numbers, replies, strict=True):
            self._early[number].append(reply)
        while self.goes_on and self._verifies() and all(self._early):
            whole = [early.popleft() for early in self._early]
            self._task.record(self._probe.digest, whole)
            self._end_round(whole)

    def _end_round(self, replies: list[Reply]) -> None:
        self._left -= 1
        self._probe.round()
        if not self.goes_on:
            self._probe.state(*([self._task.final_state(replies)] if replies else []))
