"""Whole runs of equal code on this machine: floors, the rate of intervals, widths, the time a run takes.

SOAK_RUNS (10) is the number of runs, SOAK_RUN ("--preset quick") their arguments. Only in `make soak`, as it takes
hours. Results are printed, and kept in SOAK_OUTPUT (results/runs/soak), whose runs are not measured again.
"""

import json
import math
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pytest

from harness.report import report_tables
from harness.report.summary import summarise
from harness.stats.intervals import CONFIDENCE
from harness.stats.noise_floor import SelfComparison

RUNS = int(os.environ.get("SOAK_RUNS", "10"))
RUN = shlex.split(os.environ.get("SOAK_RUN", "--preset quick"))
OUTPUT = Path(os.environ.get("SOAK_OUTPUT", "results/runs/soak"))
MOST_S = 25 * 60
FLOOR = 1.05
WIDTHS = {"serial": 1.06, "ray-": 1.10}

pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def runs():
    """The directories of the runs, and how long each took, where it was measured now."""
    found = {}
    for index in range(RUNS):
        path, began = OUTPUT / f"{index}", time.monotonic()
        if not (path / "measurements.csv").exists():
            command = [sys.executable, "-m", "harness", "run", *RUN, "--output", str(path)]
            assert subprocess.run(command, check=False).returncode == 0
            (path / "soak.json").write_text(json.dumps({"seconds": time.monotonic() - began}))
        found[path] = json.loads((path / "soak.json").read_text())["seconds"]
    return found


def half_width(estimate):
    return math.sqrt(estimate.high / estimate.low)


def at_most(containing, comparisons):
    """The chance that no more than so many intervals contain 1, where each does with its confidence."""
    return sum(
        math.comb(comparisons, count) * CONFIDENCE**count * (1 - CONFIDENCE) ** (comparisons - count)
        for count in range(containing + 1)
    )


def test_a_run_takes_at_most_25_minutes(runs):
    print({str(path): f"{seconds / 60:.1f} min" for path, seconds in runs.items()})
    assert max(runs.values()) <= MOST_S


def test_equal_code_is_told_apart_by_5_percent_at_most_and_by_no_more_than_the_intervals_say(runs):
    rows: list[SelfComparison] = [row for path in runs for row in summarise(path).noise]
    for row in rows:
        print(f"{row.backend}: {row.ratio.value:.3f} [{row.ratio.low:.3f}, {row.ratio.high:.3f}]")
    containing = sum(row.contains_one for row in rows)
    print(f"{containing} of {len(rows)} intervals contain 1: chance {at_most(containing, len(rows)):.3f}")
    assert at_most(containing, len(rows)) >= 0.025
    of_kind = {}
    for row in rows:
        of_kind.setdefault(row.backend, []).append(row.half_width)
    print({backend: report_tables.percent(median(widths)) for backend, widths in of_kind.items()})
    assert all(median(widths) <= FLOOR for widths in of_kind.values())


@pytest.mark.parametrize("baseline", WIDTHS)
def test_ratios_are_as_narrow_as_a_decision_needs(runs, baseline):
    widths = [
        half_width(speedup)
        for path in runs
        for point in summarise(path).points
        for cell in point.cells
        if cell.backend.startswith("reactor-")
        for name, speedup in cell.speedups.items()
        if name.startswith(baseline)
    ]
    if not widths:
        pytest.skip(f"the runs have no {baseline}")
    print(f"against {baseline}: {report_tables.percent(median(widths))} in the median of {len(widths)}")
    assert median(widths) <= WIDTHS[baseline]
