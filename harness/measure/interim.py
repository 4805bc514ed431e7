"""What a run has found so far of each point: a line after every block, while it goes on. Reads and writes no file."""

from collections.abc import Mapping
from statistics import fmean

from harness import quantity
from harness.measure.block import Measured, log_ratios
from harness.plan.grid import Point
from harness.stats import intervals
from harness.store.digests import REFERENCE_BACKEND

AGAIN = " again"  # in the name of a second subject of a backend, by which a run measures its own noise


class InterimRatios:
    """The log ratios of neighbouring turns, by point, subject and block."""

    def __init__(self) -> None:
        self._found: dict[Point, dict[str, list[list[float]]]] = {}

    def add(self, point: Point, found: Mapping[str, Measured]) -> str:
        """Take in a block; what is known of the point by now, in a line. Nothing where there is nothing to compare."""
        if point.values.get("work_seconds"):  # what counts is what a round takes beyond that
            return ""
        known = self._found.setdefault(point, {})
        whole = {name: measured for name, measured in found.items() if not measured.failure}
        for name, measured in whole.items():
            baseline = whole.get(name.removesuffix(AGAIN) if name.endswith(AGAIN) else REFERENCE_BACKEND)
            if baseline is not None and baseline is not measured and (logs := log_ratios(baseline, measured)):
                known.setdefault(name, []).append(logs)
        speeds = {name: blocks for name, blocks in known.items() if not name.endswith(AGAIN)}
        if not speeds:
            return ""
        order = sorted(speeds, key=lambda name: -fmean(map(fmean, speeds[name])))
        told = [f"{name} {quantity.ratio(intervals.ratio_of_turns(speeds[name]))}" for name in order]
        told += [
            f"{name} {quantity.ratio(intervals.ratio_of_turns(blocks))} of itself"
            for name, blocks in known.items()
            if name not in speeds
        ]
        return f"by now, in times the speed of {REFERENCE_BACKEND}: {', '.join(told)}"
