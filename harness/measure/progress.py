"""The progress of a run, on standard error: a live bar on a terminal, plain lines elsewhere. Knows no process."""

import math
import time
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from harness import quantity
from harness.measure.block import AGAIN, Measured, log_ratios
from harness.measure.forecast import Forecast
from harness.plan.grid import Point, Trial
from harness.stats import intervals
from harness.store.digests import REFERENCE_BACKEND
from harness.store.measurement_table import Measurement

# The bar is drawn while a trial is measured: rarely, so as not to take part in it.
_REDRAWS_PER_SECOND = 1


class Display:
    """Shows a run's progress. A context manager. `budget_s`: the time after which a run with a budget ends."""

    def __init__(
        self, console: Console, missing: Sequence[Trial], done: int, forecast: Forecast, budget_s: float | None = None
    ) -> None:
        self._gives_up = time.monotonic() + (math.inf if budget_s is None else budget_s)
        self._console = console
        self._left = list(missing)
        self._done = done
        # A budget decides how many trials there will be.
        self._total = done + len(missing) if budget_s is None else None
        self._forecast = forecast
        self._ratios: dict[Point, dict[str, list[list[float]]]] = {}  # of each subject's blocks, by its name
        self._bar = Progress(
            SpinnerColumn(), BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"),
            TimeElapsedColumn(), console=console, refresh_per_second=_REDRAWS_PER_SECOND, transient=True,
            disable=not console.is_terminal,
        )  # fmt: skip
        self._task = self._bar.add_task("starting", total=self._total, completed=done)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bar.stop()

    def trial_begins(self, trial: Trial) -> None:
        self._bar.update(self._task, description=f"{escape(describe(trial))}  {self._time_left()}")

    def trial_ends(self, trial: Trial, rows: list[Measurement], duration_s: float) -> None:
        """Show a trial's outcome, and how much is left."""
        self._forecast.add(trial, duration_s)
        self._left.remove(trial)
        self._done += 1
        self._bar.update(self._task, completed=self._done)
        if self._bar.disable or any(row.is_failure for row in rows):
            position = f"[{self._done}]" if self._total is None else f"[{self._done}/{self._total}]"
            line = f"{position} {describe(trial)}: {outcome(rows)} ({duration_s:.1f} s)"
            self.note(f"{line}  {self._time_left()}" if self._left else line)

    def block_ends(self, point: Point, found: Mapping[str, Measured]) -> None:
        """Show the speeds at the point, from all its blocks, unless it simulates work."""
        if point.values.get("work_seconds"):
            return
        known = self._ratios.setdefault(point, {})
        whole = {name: measured for name, measured in found.items() if not measured.failure}
        for name, measured in whole.items():
            baseline = whole.get(name.removesuffix(AGAIN) if name.endswith(AGAIN) else REFERENCE_BACKEND)
            if baseline is not None and baseline is not measured and (logs := log_ratios(baseline, measured)):
                known.setdefault(name, []).append(logs)
        order = sorted(known, key=lambda name: (name.endswith(AGAIN), -fmean(map(fmean, known[name]))))
        told = [
            f"{name} {quantity.ratio(intervals.ratio_of_turns(known[name]))}"
            + (" of itself" if name.endswith(AGAIN) else "")
            for name in order
        ]
        if any(not name.endswith(AGAIN) for name in order):
            self.note(f"{place(point)}: by now, in times the speed of {REFERENCE_BACKEND}: {', '.join(told)}")

    def note(self, line: str) -> None:
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def _time_left(self) -> str:
        seconds = min(self._forecast.seconds(self._left), max(0.0, self._gives_up - time.monotonic()))
        return f"{quantity.duration_s(seconds)} left"


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
