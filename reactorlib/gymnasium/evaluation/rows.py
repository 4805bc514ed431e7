"""The result of an evaluation: a row for each episode, their mean return, and the rows in which two results differ."""

from __future__ import annotations

import math
import statistics
from typing import Any, NamedTuple

TERMINATED, TRUNCATED, ERROR, TIMEOUT = "terminated", "truncated", "error", "timeout"
_Z = 1.96  # of a normal distribution, for 95 %


class EpisodeRow(NamedTuple):
    """One episode. `episode_return` is the sum of rewards, also until an error, or None if the process ended with it.

    `success` is what the last info says under `is_success` or `success`, or None. `first_observation` is a digest, or
    None where there was none. `ended` is "terminated", "truncated", "error" or "timeout", and `error` tells more.
    """

    episode: int
    seed: int
    length: int
    episode_return: float | None
    success: bool | None
    first_observation: str | None
    ended: str
    error: str | None

    @property
    def is_complete(self) -> bool:
        """Whether the episode ended by itself or by a limit of steps."""
        return self.ended in (TERMINATED, TRUNCATED)


_NO_ROW = (None,) * len(EpisodeRow._fields)


class Evaluation(NamedTuple):
    """The rows of an evaluation, in the order of their episodes. Failed episodes have no part in the mean."""

    rows: tuple[EpisodeRow, ...]

    @property
    def returns(self) -> list[float]:
        """The returns of complete episodes."""
        return [row.episode_return for row in self.rows if row.is_complete and row.episode_return is not None]

    @property
    def errors(self) -> int:
        """The number of episodes that raised, timed out, or whose process died."""
        return sum(not row.is_complete for row in self.rows)

    @property
    def mean_return(self) -> float:
        """The mean return of complete episodes, NaN if there are none."""
        return statistics.fmean(self.returns) if self.returns else math.nan

    @property
    def half_width(self) -> float:
        """The half width of the 95 % confidence interval of the mean return, NaN for less than two episodes."""
        found = self.returns
        return _quantile(len(found) - 1) * statistics.stdev(found) / len(found) ** 0.5 if len(found) > 1 else math.nan

    @property
    def success_rate(self) -> float | None:
        """The part of complete episodes that succeeded, of those whose infos say so. None if no info does."""
        said = [row.success for row in self.rows if row.is_complete and row.success is not None]
        return sum(said) / len(said) if said else None

    def differences(self, other: Evaluation) -> dict[int, dict[str, tuple[Any, Any]]]:
        """The fields that differ, with both values, of each episode whose rows are not the same in both.

        An episode that one of them lacks has None there for all its fields.
        """
        mine, theirs = ({row.episode: row for row in one.rows} for one in (self, other))
        found = {}
        for number in sorted({*mine, *theirs}):
            pairs = zip(mine.get(number, _NO_ROW), theirs.get(number, _NO_ROW), strict=True)
            fields = {name: pair for name, pair in zip(EpisodeRow._fields, pairs, strict=True) if not _alike(*pair)}
            if fields:
                found[number] = fields
        return found

    def compare(self, other: Evaluation) -> str:
        """Which rows differ and by how much, in a few lines."""
        found, n = self.differences(other), max(len(self.rows), len(other.rows))
        if not found:
            return f"all {n} rows are equal"
        first_seen = sum("first_observation" in fields for fields in found.values())
        lines = [f"{len(found)} of {n} rows differ, {first_seen} of them from the first observation on"]
        returns = [fields.get("episode_return", (0.0, 0.0)) for fields in found.values()]
        if apart := [abs(a - b) for a, b in returns if a is not None and b is not None]:
            means = f"{self.mean_return:.6g} and {other.mean_return:.6g}"
            lines.append(f"mean return {means}; the returns of an episode are up to {max(apart):.6g} apart")
        for number, fields in [*found.items()][:3]:
            values = ", ".join(f"{name} {one} and {two}" for name, (one, two) in fields.items())
            lines.append(f"episode {number}: {'only one of them has it' if 'episode' in fields else values}")
        return "\n".join(lines)

    def __str__(self) -> str:
        n, failed = len(self.returns), [row for row in self.rows if not row.is_complete]
        first = "".join(f"episode {row.episode} failed: {row.error}\n" for row in failed[:1])
        mean = f"mean return {self.mean_return:.6g}" if n else "no return"
        interval = f" ± {self.half_width:.3g} (95 %)" if n > 1 else ""
        success = "" if self.success_rate is None else f", success {100 * self.success_rate:.1f} %"
        return f"{first}{mean}{interval}{success}, {len(self.rows)} episodes, {len(failed)} failed"


def _alike(one: object, other: object) -> bool:
    return one == other or (one != one and other != other)  # NaN is NaN


def _quantile(freedom: int) -> float:
    """The 97.5 % quantile of Student's t, by the expansion of Cornish and Fisher.

    >>> round(_quantile(5), 2), round(_quantile(99), 3)
    (2.55, 1.984)
    """
    z = _Z
    return z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
