"""Bencher Metric Format: {benchmark: {measure: {value, lower_value, upper_value}}}, measures named by slugs."""

import re
from pathlib import Path
from typing import Any

from harness.export.series import Measured

_NAME_CHARACTERS = 1024


def files(measured: Measured, output: Path) -> dict[Path, Any]:
    """One file of all benchmarks."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for one in measured.series:
        estimate = one.estimate
        found.setdefault(one.name[:_NAME_CHARACTERS], {})[_slug(one.metric)] = {
            "value": estimate.value,
            "lower_value": estimate.low,
            "upper_value": estimate.high,
        }
    return {output: found}


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
