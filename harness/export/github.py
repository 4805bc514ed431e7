"""github-action-benchmark: the tools customBiggerIsBetter and customSmallerIsBetter, a file for each direction.

Format: an array of {name, unit, value, range, extra}; an empty one is an error there, and so isn't written.
"""

from pathlib import Path
from typing import Any

from harness.export.series import Measured, Series


def files(measured: Measured, output: Path) -> dict[Path, Any]:
    """`x.json` becomes `x.bigger.json` and `x.smaller.json`."""
    directions = {"bigger": True, "smaller": False}
    found = {
        output.with_name(f"{output.stem}.{word}{output.suffix or '.json'}"): [
            _entry(one) for one in measured.series if one.bigger_is_better is bigger
        ]
        for word, bigger in directions.items()
    }
    return {path: entries for path, entries in found.items() if entries}


def _entry(one: Series) -> dict[str, Any]:
    estimate = one.estimate
    return {
        "name": f"{one.name} / {one.metric}",
        "unit": one.unit,
        "value": estimate.value,
        "range": f"± {(estimate.high - estimate.low) / 2:.3g}",
        "extra": f"95 % interval {estimate.low:.6g} to {estimate.high:.6g}\ntrials: {estimate.count}\n{one.parameters}",
    }
