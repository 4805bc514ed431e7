"""The claims of README as data: from the rows behind its table, each with what a machine like that should measure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

from harness import quantity
from harness.plan.presets import TRIALS
from harness.report import run_answer
from harness.report.run_answer import PointAnswer
from harness.report.summary import LOOP, PointSummary, Summary, summarise
from harness.report.text_table import TextTable
from harness.stats.intervals import Estimate
from harness.store.measurement_table import MEASUREMENTS
from harness.store.trial_records import TrialRecord

# Between runs of README's points on two days, ratios of backends whose code was the same moved by up to 24 %.
OTHER_DAY = 1.25
_INLINE = "reactor-inline"
_PAPERS_POINTS = "reference"


@dataclass(frozen=True)
class Claim:
    """How many times as fast a backend is as a baseline at a point. `published`: the ratio in the results.

    `seconds`: what measuring it takes. `peak_bytes`: the memory that the larger side holds. Without room for both,
    a block runs one after the other.
    """

    name: str
    point: PointSummary
    backend: str
    baseline: str
    published: Estimate
    seconds: float
    peak_bytes: int

    @property
    def expected(self) -> tuple[float, float]:
        """The range in which the ratio should lie on a machine with as many cores."""
        return expected([self.published])


def answered_by(summary: Summary) -> tuple[Summary, ...]:
    """The runs behind README's table: a run, and that of the paper's points beside it if it is of the same code."""
    return (summary, *(one for one in beside(summary, _PAPERS_POINTS) if one.commits == summary.commits))


def beside(summary: Summary, name: str) -> list[Summary]:
    """The run of that name beside a run, if there is one."""
    path = summary.path.parent / name
    return [summarise(path)] if path != summary.path and (path / MEASUREMENTS.file_name).exists() else []


def expected(published: Sequence[Estimate]) -> tuple[float, float]:
    """The range in which published ratios should lie on another day: their intervals, wider by OTHER_DAY."""
    return min(one.low for one in published) / OTHER_DAY, max(one.high for one in published) * OTHER_DAY


def claims(*summaries: Summary) -> list[Claim]:
    """The claims of runs, by workload: at its weakest and strongest point, over the best Ray and the loop."""
    records = [record for summary in summaries for record in summary.trials]
    return [
        claim
        for answer in run_answer.answers(*summaries)
        for place, end in answer.placed
        for claim in _of_point("-".join(filter(None, (answer.workload, place))), end, summaries[0].ours, records)
    ]


def _of_point(name: str, end: PointAnswer, ours: str, records: Sequence[TrialRecord]) -> Iterator[Claim]:
    rivals = ("ray", end.ray), ("loop", end.loop)
    found = [(f"{name}-{kind}", ours, one.rival, one.ratio) for kind, one in rivals if one]
    inline = end.point.cell(_INLINE)
    if inline and LOOP in inline.speedups:
        found.append((f"{name}-overhead", _INLINE, LOOP, inline.speedups[LOOP]))
    for name, backend, baseline, ratio in found:
        own = [one for one in records if one.point == end.point.name and one.backend in (backend, baseline)]
        taken = sum(fmean(one.duration_s for one in own if one.backend == side) for side in (backend, baseline))
        held = max(one.peak_bytes or 0 for one in own)
        yield Claim(name, end.point, backend, baseline, ratio, TRIALS * taken, held)


def table(known: Sequence[Claim]) -> TextTable:
    """A row for each claim."""
    rows = tuple(
        (
            one.name,
            f"{one.backend} over {one.baseline}, {one.point.name}",
            quantity.ratio(one.published),
            " to ".join(map(quantity.times, one.expected)),
            quantity.duration_s(one.seconds),
            quantity.show(one.peak_bytes, "bytes"),
        )
        for one in known
    )
    return TextTable("", ("claim", "how many times as fast", "published", "expected", "time", "memory"), rows)
