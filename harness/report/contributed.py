"""Contributions: the file of a run, and the speed-up by cores that the files of many machines show.

Every ratio is made from the rows of a file alone, so that anyone can make it again.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from harness import quantity
from harness.errors import UsageError
from harness.grouping import grouped
from harness.report.point_labels import point_labels
from harness.report.summary import Summary, least_over_ray
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats.doubts import LOADED_SHARE
from harness.stats.intervals import Estimate
from harness.stats.point_ratios import PointRatios
from harness.store import contribution
from harness.store.contribution import FORMAT, LOOP, OURS, REMEDY, ContributedMachine, Contribution, PredictionOutcome
from harness.store.files import explained
from harness.store.measurement_table import Measurement
from harness.store.recorded_turns import RecordedTurns
from harness.store.scaling_table import HERE, ScalingRow

PART = "contributed"
CAPTION = "Speed-up over the loop by cores, predicted and measured"
EXPLAINED = explanation("contributed")
_COLUMNS = (
    "cores", "point", "reactors over the loop", "best Ray over the loop", "predicted", "measured / predicted", "starts",
    "processor", "doubts",
)  # fmt: skip
_CLOSE = 1e-6
_NO_TURNS = RecordedTurns(())


@dataclass(frozen=True)
class ContributedPoint:
    """A point of a file. `ours` and `ray`: speed-ups over the loop. `ahead`: the speed-up predicted for `ours`."""

    file: Contribution
    loaded: str
    name: str
    label: str
    ours: Estimate | None
    ray: tuple[Estimate, str] | None
    ahead: float | None


def place(summary: Summary) -> Path:
    """The file of a run's contribution, in its directory."""
    return summary.path / f"{summary.rows[0].run_id}.json"


def write(summary: Summary) -> Path:
    """Write the contribution of a run; its file. Raises UsageError where the run lacks something."""
    metrics = {point.key: point.metric for point in summary.points}
    rows = [row for row in summary.rows if row.metric == metrics[row.point]]
    ahead = [row for row in summary.scaling if (row.kind, row.workers) == (HERE, summary.cores)]
    if any(row.is_failure for row in rows):
        raise UsageError(f"{summary.path}: a trial failed; --resume measures it again, unless its digest differs")
    sessions = summary.machine.get("sessions") or [{}]
    commits = [one.get("commit") or "unknown" for one in sessions]
    content = {
        "format": FORMAT,
        "run_id": rows[0].run_id,
        "commit": commits[0],
        "dirty": len({*commits}) > 1 or any(one.get("dirty") for one in sessions),
        "machine": {name: summary.machine.get(name) for name in ContributedMachine.__annotations__},
        "outside_cores": fmean(one.outside_cores for one in summary.trials) if summary.trials else None,
        "measurements": rows,
        "predictions": ahead,
        "outcomes": list(_outcomes(rows, ahead)),
    }
    try:
        found = msgspec.convert(msgspec.to_builtins(content), Contribution)
    except msgspec.ValidationError as error:
        raise UsageError(f"{summary.path}: {': '.join(filter(None, explained(error)))}") from None
    path = place(summary)
    contribution.write(path, found)
    return path


def _outcomes(rows: Sequence[Measurement], predictions: Sequence[ScalingRow]) -> Iterator[PredictionOutcome]:
    ahead = {row.point: row.speedup for row in predictions}
    for point, own in grouped(rows, lambda row: row.point).items():
        ratio, predicted = PointRatios(own, _NO_TURNS).of(OURS, LOOP), ahead.get(point)
        measured = ratio.value if ratio else None
        yield PredictionOutcome(*point, predicted, measured, measured / predicted if measured and predicted else None)


def read(path: Path) -> Contribution:
    """A file, whose outcomes follow from its rows. Raises UsageError, in one line."""
    found = contribution.read(path)
    own = list(_outcomes(found.measurements, found.predictions))
    for one, other in zip(found.outcomes, own, strict=False):
        if not _same(one, other):
            raise UsageError(f"{path}: outcomes: {one.workload} is {one.off} off, by its rows {other.off}; {REMEDY}")
    if len(found.outcomes) != len(own):
        raise UsageError(f"{path}: outcomes: expected {len(own)}, one for each point; {REMEDY}")
    return found


def _same(one: PredictionOutcome, other: PredictionOutcome) -> bool:
    pairs = ((one.predicted, other.predicted), (one.measured, other.measured), (one.off, other.off))
    named = (one.workload, one.parameters) == (other.workload, other.parameters)
    return named and all(math.isclose(a or 0.0, b or 0.0, rel_tol=_CLOSE) for a, b in pairs)


def read_all(directory: Path) -> dict[Path, Contribution]:
    """The files of a directory, by fewest cores. Raises UsageError for the first that is broken."""
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory; expected files of `make bench PRESET=contribute`")
    found = {path: read(path) for path in sorted(directory.glob("*.json"))}
    return dict(sorted(found.items(), key=lambda item: item[1].cores))


def points(found: Iterable[Contribution]) -> list[ContributedPoint]:
    """All points of these files."""
    made = []
    for one in found:
        outside = one.outside_cores or 0.0
        loaded = f"loaded {outside:.1f}/{one.cores} cores" if outside > LOADED_SHARE * one.cores else ""
        labels, ahead = point_labels(one.measurements), {row.point: row.speedup for row in one.predictions}
        for point, own in grouped(one.measurements, lambda row: row.point).items():
            ratios, name = PointRatios(own, _NO_TURNS), f"{point[0]} {own[0].scenario}"
            of_loop = {backend: lead for backend in ratios.trials if (lead := ratios.of(LOOP, backend))}
            best = least_over_ray(of_loop)
            ray = (best[0].inverse(), best[1]) if best else None
            label, ours = f"{point[0]} {labels[point]}", ratios.of(OURS, LOOP)
            made.append(ContributedPoint(one, loaded, name, label, ours, ray, ahead[point]))
    return made


def table(found: Sequence[ContributedPoint]) -> TextTable:
    """A row for each point of each file."""
    rows = []
    for one in found:
        cpu, ours, ahead = one.file.machine["cpu"], one.ours, one.ahead
        fewer = f"has {cpu['cores']} cores" if one.file.oversubscribed else ""
        speedups = (
            quantity.ratio(ours) if ours else NOTHING,
            f"{quantity.ratio(one.ray[0])} ({one.ray[1]})" if one.ray else NOTHING,
            quantity.times(ahead) if ahead else NOTHING,
            f"{ours.value / ahead:.2f}" if ours and ahead else NOTHING,
        )
        starts, doubts = str(ours.count) if ours else NOTHING, ", ".join(filter(None, (fewer, one.loaded)))
        rows.append((str(one.file.cores), one.label, *speedups, starts, cpu["model"], doubts))
    return TextTable("speed-up by cores", _COLUMNS, tuple(rows))
