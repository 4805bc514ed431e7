"""The noise floor in words."""

from collections.abc import Iterator, Sequence

from harness.quantity import counted
from harness.stats.noise_floor import SelfComparison, by_workload

HEADING = "Noise floor"
NOT_MEASURED = "not measured: no backend of this run was measured twice in one block"


def lines(comparisons: Sequence[SelfComparison]) -> Iterator[str]:
    """The floor in words."""
    if not comparisons:
        yield NOT_MEASURED
    for one in comparisons:
        yield (
            f"{one.workload} {one.scenario}: {one.backend} against itself, {counted(one.ratio.count, 'trial')}: "
            f"the ratio is off by {percent(one.distance)}; its interval reaches {percent(one.half_width)} to either "
            f"side and {'contains' if one.contains_one else 'does not contain'} 1"
        )
    for workload, factor in by_workload(comparisons).items():
        yield f"{workload}: differences of less than {percent(factor)} are called undecided"


def percent(factor: float) -> str:
    """A factor of at least 1 as the part by which it differs from 1; a large one as a factor."""
    if factor >= 2:
        return f"a factor of {factor:.2g}"
    part = (factor - 1) * 100
    return f"{part:.1f} %" if part < 10 else f"{part:.0f} %"
