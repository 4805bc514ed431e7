"""A study of a finished run: the points that run again, how often and for how many rounds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.plan.grid import Grid, Point


@dataclass(frozen=True)
class Study:
    """The directory, id and grid of a run, and those of its points that run again.

    `most_rounds`: the limit for a trial, or None. `tell`: shows the progress.
    """

    path: Path
    run_id: str
    grid: Grid
    points: Sequence[Point]
    trials: int
    most_rounds: int | None
    tell: Callable[[str], None]
