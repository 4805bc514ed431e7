"""Reasons why a vector environment is slow, while it runs: slow steps, one late environment, waiting workers or caller.

A worker times every n-th round, as often as that costs it less than half a percent. Other rounds run the usual code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter_ns as clock
from typing import Any

import numpy as np
import numpy.typing as npt

from reactorlib.gymnasium.vector.groups import Groups
from reactorlib.gymnasium.vector.share import Share

KEPT = 1024  # timed rounds, the last ones
PERCENT = (50, 95, 99)
TIMING_NS = 1_500  # that a timed step takes longer, at most: new proxies, lists and two looks at the clock
COST = 0.003  # of a worker's time, that timing may take
LONGEST_PERIOD = 512
CALLER_PERIOD = 32  # rounds, of which the caller's side is timed once

Times = npt.NDArray[np.float64]


# A timed round of a share: its number, and the times of each environment's step and reset, 0 where there was none.
Timed = tuple[int, list[int], list[int]]


class _Watched:
    """An environment whose calls are timed."""

    def __init__(self, env: Any, position: int, now: Timed) -> None:
        self._env, self._position, self._now = env, position, now

    def step(self, action: Any) -> Any:
        return self._in_time(self._now[1], self._env.step, action)

    def reset(self, **given: Any) -> Any:
        return self._in_time(self._now[2], self._env.reset, **given)

    def _in_time(self, times: list[int], act: Callable[..., Any], *arguments: Any, **given: Any) -> Any:
        began = clock()
        result = act(*arguments, **given)
        times[self._position] = clock() - began
        return result


class TimedShare(Share):
    """A share that times some of its rounds, the same as other shares as far as their periods allow."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._number, self._period = 0, 1
        self._timed: deque[Timed] = deque(maxlen=KEPT)

    def _step(self, *arguments: Any) -> Any:
        return self._counted(self._period, super()._step, arguments)

    def reset(self, *arguments: Any) -> Any:
        return self._counted(1, super().reset, arguments)

    def _counted(self, period: int, act: Callable[..., Any], arguments: Any) -> Any:
        self._number += 1
        if self._number % period:
            return act(*arguments)
        now = self._number, [0] * self.count, [0] * self.count
        plain = [*self.envs]
        self.envs[:] = [_Watched(env, position, now) for position, env in enumerate(plain)]
        try:
            result = act(*arguments)
        finally:
            self.envs[:] = plain
        self._timed.append(now)
        if steps := [taken for taken in now[1] if taken]:
            wanted = TIMING_NS * len(steps) / (COST * sum(steps))
            self._period = min(LONGEST_PERIOD, 1 << max(0, int(np.ceil(np.log2(wanted)))))
        return result

    def timed(self) -> list[Timed]:
        """The rounds that were timed."""
        return [*self._timed]


class TimedGroups(Groups):
    """Groups that time, in some rounds, how long the caller waits for them and how long it does other work."""

    def __init__(self, *arguments: Any) -> None:
        self._rounds = self.waited_ns = self.own_ns = 0
        self._ended_ns = 0  # when the last round ended, if that was timed
        super().__init__(*arguments)

    def step(self) -> Any:
        self._rounds += 1
        if self._rounds % CALLER_PERIOD > 1:
            self._ended_ns = 0
            return super().step()
        return self._in_time(super().step)

    def replies(self, timeout: float | None = None) -> Any:
        return self._in_time(super().replies, timeout)

    def _in_time(self, wait: Callable[..., Any], *arguments: Any) -> Any:
        """The result of a wait. The round counts if the one before it was timed."""
        began = clock()
        result = wait(*arguments)
        ended = clock()
        if self._ended_ns:
            self.own_ns += began - self._ended_ns
            self.waited_ns += ended - began
        self._ended_ns = ended
        return result


@dataclass(frozen=True)
class Statistics:
    """The times of a ReactorVectorEnv, of the last 1,024 rounds that were timed.

    `step_ns` and `reset_ns` have a row for each environment: the 50th, 95th and 99th percentile, NaN where it has taken
    none. `last` counts the rounds in which it was last: the longest step of the worker that took longest. `waiting` is
    the part of the workers' time in a round that waits for that worker. `caller` is the part of the time that the
    caller spends between rounds. `rounds` is how many were timed.
    """

    step_ns: Times
    reset_ns: Times
    last: npt.NDArray[np.int64]
    waiting: float
    caller: float
    rounds: int

    @property
    def bottleneck(self) -> str:
        """Which of both takes more of the time: "environments" or "caller"."""
        return "caller" if self.caller > 0.5 else "environments"

    def __str__(self) -> str:
        heads = " ".join(f"{f'p{percent}':>8}" for percent in PERCENT)
        lines = [f"environment  step {heads}   reset {heads}   last"]
        for number, times in enumerate(zip(self.step_ns, self.reset_ns, strict=True)):
            steps, resets = (" ".join(f"{value / 1000:8.1f}" for value in row) for row in times)
            lines.append(f"{number:>11}      {steps}         {resets} {self.last[number]:>6}")
        lines.append(
            f"{self.rounds} rounds were timed, in us; {self.waiting:.0%} of the workers' time waits for the slowest; "
            f"the caller takes {self.caller:.0%}: the bottleneck is the {self.bottleneck}"
        )
        return "\n".join(lines)


def statistics_of(shares: Sequence[Sequence[Timed]], groups: TimedGroups) -> Statistics:
    """The statistics of what all shares and the caller have timed."""
    known = [{number: (steps, resets) for number, steps, resets in share} for share in shares]
    step_ns, reset_ns = (
        np.concatenate([_percentiles([one[part] for one in share.values()]) for share in known]) for part in (0, 1)
    )
    common = set.intersection(*map(set, known))
    last = np.zeros(len(step_ns), np.int64)
    waiting = []
    for number in common:
        taken = [np.add(*share[number]) for share in known]
        busy = [int(each.sum()) for each in taken]
        if max(busy) and any(map(any, (share[number][0] for share in known))):
            slowest = int(np.argmax(busy))
            last[sum(map(len, taken[:slowest])) + int(np.argmax(taken[slowest]))] += 1
            waiting.append(1 - float(np.mean(busy)) / max(busy))
    whole = groups.own_ns + groups.waited_ns
    return Statistics(
        step_ns, reset_ns, last, float(np.mean(waiting or [0])), groups.own_ns / whole if whole else 0.0, len(waiting)
    )


def _percentiles(rounds: list[list[int]]) -> Times:
    """Percentiles by environment, over the rounds in which it took any time."""
    columns = [[taken for taken in column if taken] for column in zip(*rounds, strict=True)]
    return np.array([np.percentile(column, PERCENT) if column else [np.nan] * len(PERCENT) for column in columns])
