"""The progress of a run, on standard error: a line after each block, and a live bar on a terminal. Knows no process."""

import math
import time
from collections.abc import Sequence
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness import quantity
from harness.measure.forecast import Forecast
from harness.plan.grid import Point, Trial
from harness.store.trial_records import TrialRecord

# The bar is drawn while a trial is measured: rarely, so as not to take part in it.
_REDRAWS_PER_SECOND = 1


class Display:
    """Shows a run's progress. A context manager. `budget_s`: the time after which a run with a budget ends."""

    def __init__(
        self, console: Console, missing: Sequence[Trial], forecast: Forecast, budget_s: float | None = None
    ) -> None:
        self._gives_up = time.monotonic() + (math.inf if budget_s is None else budget_s)
        self._console, self._left, self._forecast = console, list(missing), forecast
        self._bar = Progress(
            SpinnerColumn(), BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"),
            TimeElapsedColumn(), console=console, refresh_per_second=_REDRAWS_PER_SECOND, transient=True,
            disable=not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=len(missing))

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def trial_begins(self, trial: Trial) -> None:
        self._bar.update(self._task, description=f"{escape(str(trial.key))}  {self._time_left()}")

    def trial_ends(self, trial: Trial, record: TrialRecord) -> None:
        self._forecast.add(trial, record.duration_s)
        self._left.remove(trial)
        self._bar.advance(self._task)
        if record.is_failure:
            self.note(f"{trial.key}: FAILED {record.status}")

    def block_ends(self, point: Point) -> None:
        """Show the point, and how much of the run is left."""
        self.note(f"{point.name}: {self._time_left()}")

    def note(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        seconds = min(self._forecast.seconds(self._left), max(0.0, self._gives_up - time.monotonic()))
        return f"{quantity.duration_s(seconds)} left"
