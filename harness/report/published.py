"""The paper's values, from `results/paper/published.csv`."""

import csv
from dataclasses import dataclass
from pathlib import Path

from harness.stats.intervals import Estimate

PATH = Path(__file__).resolve().parents[2] / "results" / "paper" / "published.csv"


@dataclass(frozen=True)
class PublishedSeries:
    """One published curve: `points` maps the axis value, as text, to the value with its 99 % interval, if known."""

    metric: str
    points: dict[str, Estimate]


def series(figure: str) -> dict[str, PublishedSeries]:
    """The paper's series in a figure, by system: `ray` and `lf`."""
    found: dict[str, PublishedSeries] = {}
    for row in csv.DictReader(PATH.read_text(encoding="utf-8").splitlines()):
        if row["figure"] == figure:
            value, reach = float(row["value"]), float(row["ci99_half_width"] or 0)
            known = found.setdefault(row["system"], PublishedSeries(row["metric"], {}))
            known.points[row["x"]] = Estimate(value, value - reach, value + reach, 1)
    return found
