"""How a run goes on, on standard error: a live bar on a terminal, plain lines elsewhere. Knows no process."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)

from harness import quantity
from harness.measure.block import Measured
from harness.measure.forecast import Budget, Forecast
from harness.measure.interim import InterimRatios
from harness.plan.grid import Point, Trial
from harness.store.measurements import Measurement

# The bar is drawn by the harness while a trial is measured: rarely, so as not to take part in it.
_REDRAWS_PER_SECOND = 1


class Display:
    """Shows a run's progress. A context manager. `budget`: the run's."""

    def __init__(
        self, console: Console, missing: Sequence[Trial], done: int, forecast: Forecast, budget: Budget | None = None
    ) -> None:
        self._began = time.monotonic()
        self._budget = budget or Budget()
        self._missing = tuple(missing)
        self._console = console
        self._left = list(missing)
        self._done = done
        self._forecast = forecast
        self._findings = InterimRatios()
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TextColumn("{task.description}"),
                TimeElapsedColumn(),
                console=self._console,
                refresh_per_second=_REDRAWS_PER_SECOND,
                transient=True,
            )
            self._bar.start()
            self._task = self._bar.add_task(
                "starting",
                total=self._done + self._forecast.within(self._left, self._budget)[0],
                completed=self._done,
            )
        return self

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def trial_begins(self, trial: Trial) -> None:
        """Say what is running."""
        if self._bar is not None:
            total, remaining = self._expected(trial, running=True)
            self._bar.update(self._task, total=total, description=f"{escape(describe(trial))}  {remaining}")

    def trial_ends(self, trial: Trial, rows: list[Measurement], duration_s: float) -> None:
        """Say what came out, and what is left."""
        self._forecast.add(trial, duration_s)
        self._left.remove(trial)
        self._done += 1
        failed = any(row.is_failure for row in rows)
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done)
        if self._bar is None or failed:
            total, remaining = self._expected(trial, running=False)
            position = f"[{self._done:{len(str(total))}}/{total}]"
            line = f"{position} {describe(trial)}: {outcome(rows)} ({duration_s:.1f} s)"
            self.note(f"{line}  {remaining}" if self._left else line)

    def block_ends(self, point: Point, found: Mapping[str, Measured]) -> None:
        """Say what is known of the point by now."""
        line = self._findings.add(point, found)
        if line:
            self.note(f"{place(point)}: {line}")

    def note(self, line: str) -> None:
        """Say something else."""
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _expected(self, trial: Trial, running: bool) -> tuple[int, str]:
        """How many trials there will be, and what is left in words. `trial`: of the block that is `running`, or whose
        trials are being told of.
        """
        left_out = {one for block in self._budget.left_out for one in block}
        self._left = [one for one in self._left if one not in left_out]
        block = [one for one in self._left if _same_block(one, trial)]
        others = [one for one in self._left if not _same_block(one, trial)]
        block_s = self._forecast.seconds(block)
        whole_s = self._forecast.seconds(one for one in self._missing if _same_block(one, trial))
        ahead = replace(self._budget, taken_s={trial.point: whole_s, **self._budget.taken_s})
        spent_s = time.monotonic() - self._began + (block_s if running else 0.0)
        count, seconds = self._forecast.within(others, ahead, spent_s)
        return self._done + len(block) + count, f"{quantity.duration_s(block_s + seconds)} left"


def _same_block(one: Trial, other: Trial) -> bool:
    return (one.point, one.index) == (other.point, other.index)


def describe(trial: Trial) -> str:
    """A trial in a few words."""
    return f"{place(trial.point)} {trial.backend} trial {trial.index}"


def place(point: Point) -> str:
    """A point in a few words."""
    size = next((f" {name}={point.values[name]}" for name in ("actors", "agents") if name in point.values), "")
    return f"{point.workload} {point.scenario}{size}"


def outcome(rows: Sequence[Measurement]) -> str:
    """A trial's main result in a few words, or why there is none."""
    missing = next((row for row in rows if not row.ok), None)
    if missing is not None:
        return f"FAILED {missing.status}" if missing.is_failure else missing.status
    by_metric = {row.metric: row for row in rows}
    row = by_metric.get("overhead") or by_metric.get("throughput") or rows[0]
    return f"{row.metric.replace('_', ' ')} {quantity.show(row.value or 0.0, row.unit)}"
