"""The paper's values. Owns reading them; where the file isn't installed, figures are drawn without."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from harness.stats.intervals import Estimate

PATH = Path(__file__).resolve().parent.parent / "results" / "paper" / "published.csv"
_NAMES = {"ray": "Ray, published", "lf": "Lingua Franca, published"}


@dataclass(frozen=True)
class Series:
    """One published curve: `points` maps the axis value, as text, to the value and its 99 % interval, if it
    had one.
    """

    system: str
    label: str
    metric: str
    points: dict[str, Estimate]

    def numeric(self, factor: float = 1.0) -> dict[float, Estimate]:
        """The points by axis value as a number, in another unit."""
        return {float(x) * factor: value for x, value in self.points.items()}


def figures() -> list[str]:
    """The names of all figures with published values; none without the file."""
    return list(pd.read_csv(PATH, usecols=["figure"])["figure"].unique()) if PATH.is_file() else []


def series(figure: str, scenario: str | None = None) -> list[Series]:
    """What the paper shows in `figure` (and `scenario`), one series per system; empty without the file."""
    if not PATH.is_file():
        return []
    table = pd.read_csv(PATH, dtype={"x": str})
    table = table[table["figure"] == figure]
    if scenario is not None:
        table = table[table["scenario"] == scenario]
    return [
        Series(
            str(system),
            _NAMES[str(system)],
            str(group["metric"].iloc[0]),
            {row["x"]: _estimate(row) for row in group.to_dict("records")},
        )
        for system, group in table.groupby("system", sort=False)
    ]


def _estimate(row: Mapping[Any, Any]) -> Estimate:
    value, half_width = row["value"], row["ci99_half_width"]
    if pd.isna(half_width):
        return Estimate(value, value, value, 1)
    return Estimate(value, value - half_width, value + half_width, 1)
