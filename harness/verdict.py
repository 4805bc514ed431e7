"""One sentence per workload: how the best reactor backend stands to each baseline, losses first."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness import quantity
from harness.noise import floor
from harness.stats import Estimate
from harness.summary import LIMIT, OURS, Cell, PointSummary, Summary

FEWEST = 2  # trials of which no interval is shown: it would span orders of magnitude
ASKED = ("serial", "ray-paper", "ray-tuned", "ray-compiled", LIMIT)


def sentences(summary: Summary) -> list[str]:
    """The verdict of each workload; workloads in which a baseline wins somewhere come first."""
    found = []
    floors = floor.by_workload(summary.noise)
    for workload in dict.fromkeys(point.workload for point in summary.points):
        points = [point for point in summary.points if point.workload == workload]
        spans = [span for name in ASKED if (span := _span(points, name, floors.get(workload, 1.0))) is not None]
        if spans:
            spans.sort(key=lambda span: not span.loses)
            text = f"{workload}: the best reactor backend runs at " + ", ".join(map(_told, spans)) + "."
            found.append((not spans[0].loses, text))
    return [text for _, text in sorted(found, key=lambda item: item[0])]


def ratio_told(points: Sequence[PointSummary], baseline: str) -> str:
    """The ratios to this baseline over some points, as part of a sentence; empty if there are none."""
    span = _span(points, baseline)
    return _told(span) if span is not None else ""


def best_of(point: PointSummary) -> Cell | None:
    """The reactor backend that did best at a point."""
    return point.best(cell for cell in point.cells if cell.backend.startswith(OURS))


@dataclass(frozen=True)
class _Span:
    """The lowest and the highest ratio to a baseline over the points of a workload, with their labels."""

    baseline: str
    lowest: tuple[Estimate, str]
    highest: tuple[Estimate, str]
    floor: float = 1.0  # the factor below which a difference is noise

    @property
    def loses(self) -> bool:
        """Whether the baseline wins somewhere, by the whole interval. Nothing can win against the limit."""
        return self.baseline != LIMIT and self.lowest[0].high < 1 and not self.undecided(self.lowest[0])

    def undecided(self, ratio: Estimate) -> bool:
        """Whether a ratio is within the noise floor, or cannot be told from 1."""
        return floor.within(ratio.value, self.floor) or ratio.low <= 1 <= ratio.high


def _span(points: Sequence[PointSummary], baseline: str, noise: float = 1.0) -> _Span | None:
    ratios = []
    for point in points:
        best = best_of(point)
        if best is not None and baseline in best.speedups:
            where = f"{point.label}, {best.backend}" if len(points) > 1 else best.backend
            ratios.append((best.speedups[baseline], where))
    if not ratios:
        return None
    ratios.sort(key=lambda item: item[0].value)
    return _Span(baseline, ratios[0], ratios[-1], noise)


def _told(span: _Span) -> str:
    what = "of the machine's limit" if span.baseline == LIMIT else f"the speed of {span.baseline}"
    ends = (span.lowest,) if span.lowest[0] is span.highest[0] else (span.lowest, span.highest)
    return f"{' to '.join(_end(span, *end) for end in ends)} {what}"


def _end(span: _Span, ratio: Estimate, where: str) -> str:
    undecided = ", undecided" if span.baseline != LIMIT and span.undecided(ratio) else ""
    return f"{number(ratio)} ({where}{undecided})"


def number(ratio: Estimate) -> str:
    """A ratio with its interval, in as many digits as mean something."""
    return quantity.estimated(ratio, "x", beyond=FEWEST, write=_digits)


def _digits(value: float) -> str:
    if value >= 10_000:  # the end of an interval of two trials may be anywhere
        return "over 10,000"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
