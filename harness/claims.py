"""The paper's claim of reactors over Ray beside the ratio measured here; no verdict comes from what was published."""

from collections.abc import Iterator

from harness import verdict
from harness.metrics import HIGHER_IS_BETTER
from harness.summary import Summary

HEADING = "What the paper claims"
_THEIRS, _OURS = "ray", "lf"


def sentences(summary: Summary) -> list[str]:
    """One sentence for each workload that the paper has figures of, in the order of the report's points."""
    found = []
    for workload in dict.fromkeys(point.workload for point in summary.points):
        points = [point for point in summary.points if point.workload == workload]
        told = verdict.ratio_told(points, verdict.parallel(summary), "ray-paper")
        if told and (ratios := list(_published(workload))):
            found.append(
                f"{workload}: {min(ratios):.2f}x to {max(ratios):.2f}x the speed of Ray, as published of another "
                f"machine and other parameters; here {told}."
            )
    return found


def _published(workload: str) -> Iterator[float]:
    """How many times as fast as Ray the paper's reactors were, at each of its points."""
    from plots import published  # takes a second to import

    for figure in published.figures():
        if figure.startswith(workload):
            systems = {one.system: one for one in published.series(figure)}
            theirs, ours = systems[_THEIRS], systems[_OURS]
            for x, value in ours.points.items():
                ratio = theirs.points[x].value / value.value
                yield 1 / ratio if ours.metric in HIGHER_IS_BETTER else ratio
