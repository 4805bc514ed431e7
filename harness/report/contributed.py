"""Contributions: the file of a run, and the speed-up by cores that the files of many machines show.

Every ratio is made from the rows of a file alone, so that anyone can make it again.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import msgspec

from harness import quantity
from harness.errors import UsageError
from harness.grouping import grouped
from harness.report.point_labels import point_labels
from harness.report.summary import RAY, Summary
from harness.report.text_table import NOTHING, TextTable, explanation
from harness.stats import intervals
from harness.stats.doubts import LOADED_SHARE
from harness.stats.intervals import Estimate
from harness.stats.point_ratios import PointRatios
from harness.stats.reference_ceiling import is_limit
from harness.store import contribution
from harness.store.contribution import (
    ALONE,
    FORMAT,
    LOOP,
    OURS,
    ContributedMachine,
    Contribution,
)
from harness.store.files import explained
from harness.store.measurement_table import Measurement
from harness.store.recorded_turns import RecordedTurns

PART = "contributed"
CAPTION = "Speed-up over the loop by cores, predicted and measured"
EXPLAINED = explanation("contributed")
_COLUMNS = (
    "cores", "point", "reactors over the loop", "best Ray over the loop", "best compiled Ray over the loop",
    "reference ceiling", "starts", "processor", "doubts",
)  # fmt: skip
_PREDICTION_COLUMNS = ("cores", "backend", "a message", "a MB", "predicted", "measured", "measured / predicted")
_COMPILED = "compiled"
_NO_TURNS = RecordedTurns(())


# A speed-up over the loop, and the backend that it is of.
Lead = tuple[Estimate, str]


@dataclass(frozen=True)
class ContributedPoint:
    """A point of a file. `ours`, `ray`, `compiled` and `ceiling` are speed-ups over the loop. `ray`: of the best that
    Ray supports. `compiled`: of its best compiled graph. `ahead`: the speed-up predicted for reactors.
    """

    file: Contribution
    doubts: tuple[str, ...]
    environment: str
    label: str
    ours: Lead | None
    ray: Lead | None
    compiled: Lead | None
    ceiling: Lead | None
    ahead: float | None


def place(summary: Summary) -> Path:
    """The file of a run's contribution, in its directory."""
    return summary.path / f"{summary.rows[0].run_id}.json"


def write(summary: Summary, directory: Path | None = None) -> Path:
    """Write the contribution of a run, or of the part that is measured; its file. Failed trials stay in it as such.

    `directory`: the run's own by default. Raises UsageError where the run lacks something.
    """
    metrics = {point.name: point.metric for point in summary.points}
    rows = [row for row in summary.rows if row.metric == metrics[row.point]]
    ahead = list(summary.predictions)
    if not rows:
        raise UsageError(f"{summary.path}: nothing is measured yet")
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
    }
    try:
        found = msgspec.convert(msgspec.to_builtins(content), Contribution)
    except msgspec.ValidationError as error:
        raise UsageError(f"{summary.path}: {': '.join(filter(None, explained(error)))}") from None
    path = (directory or summary.path) / place(summary).name
    contribution.write(path, found)
    return path


def read_all(directory: Path) -> dict[Path, Contribution]:
    """The files of a directory, by fewest cores. Raises UsageError for the first that is broken."""
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory; expected files of `make bench PRESET=contribute`")
    found = {path: contribution.read(path) for path in sorted(directory.glob("*.json"))}
    return dict(sorted(found.items(), key=lambda item: item[1].cores))


def points(found: Iterable[Contribution]) -> list[ContributedPoint]:
    """All points of these files."""
    made = []
    for one in found:
        labels = point_labels(one.measurements)
        ahead = {(row.point, row.backend): row.speedup for row in one.predictions}
        for point, own in grouped(one.measurements, lambda row: row.point).items():
            ratios, first = PointRatios(own, _NO_TURNS), own[0]
            of_loop = {backend: lead for backend in ratios.trials if (lead := ratios.of(backend, LOOP))}
            rays = [backend for backend in of_loop if backend.startswith(RAY)]
            # On one core, reactors run in one thread.
            ours = OURS if OURS in of_loop or one.cores > 1 else ALONE
            made.append(
                ContributedPoint(
                    file=one,
                    doubts=tuple(_doubts(one, own)),
                    environment=f"{first.workload} {first.scenario}",
                    label=f"{first.workload} {labels[point]}",
                    ours=_best(of_loop, [ours]),
                    ray=_best(of_loop, [backend for backend in rays if _COMPILED not in backend]),
                    compiled=_best(of_loop, [backend for backend in rays if _COMPILED in backend]),
                    ceiling=_best(of_loop, [backend for backend in of_loop if is_limit(backend)]),
                    ahead=ahead.get((point, ours)),
                )
            )
    return made


def _best(of_loop: Mapping[str, Estimate], backends: Iterable[str]) -> Lead | None:
    """The largest speed-up of these backends, whose interval counts that it was chosen; None without one."""
    slowness = {name: of_loop[name].inverse() for name in backends if name in of_loop}
    if not slowness:
        return None
    name = min(slowness, key=lambda backend: slowness[backend].value)
    return intervals.least(list(slowness.values())).inverse(), name


def _doubts(one: Contribution, own: Sequence[Measurement]) -> Iterator[str]:
    """Doubts about a point of a file."""
    outside, siblings = one.outside_cores or 0.0, one.machine["threads_per_core"]
    if one.oversubscribed:
        yield f"has {one.machine['cpu']['cores']} cores"
    if outside > LOADED_SHARE * one.cores:
        yield f"loaded {outside:.1f}/{one.cores} cores"
    if siblings > 1:
        yield f"{siblings} threads per core"
    if failed := sum(row.is_failure for row in own):
        yield f"{quantity.counted(failed, 'trial')} failed"


def table(found: Sequence[ContributedPoint]) -> TextTable:
    """A row for each point of each file."""
    rows = []
    for one in found:
        speedups = (_told(one.ours), *(_told(lead, named=True) for lead in (one.ray, one.compiled)), _told(one.ceiling))
        starts, model = str(one.ours[0].count) if one.ours else NOTHING, one.file.machine["cpu"]["model"]
        rows.append((str(one.file.cores), one.label, *speedups, starts, model, ", ".join(one.doubts)))
    return TextTable("speed-up by cores", _COLUMNS, tuple(rows))


def _told(lead: Lead | None, *, named: bool = False) -> str:
    if lead is None:
        return NOTHING
    return f"{quantity.ratio(lead[0])} ({lead[1]})" if named else quantity.ratio(lead[0])


def prediction_table(found: Iterable[Contribution]) -> TextTable:
    """A row for each backend of each file: the costs measured before, and how far off its predictions were."""
    rows = []
    for one in found:
        by_point = grouped(one.measurements, lambda row: row.point)
        ratios = {point: PointRatios(own, _NO_TURNS) for point, own in by_point.items()}
        for backend, own in grouped(one.predictions, lambda row: row.backend).items():
            message_ns, byte_ns = own[0].message_ns, own[0].byte_ns
            leads = [(row.speedup, ratios[row.point].of(backend, LOOP)) for row in own if row.point in ratios]
            rows.append((
                str(one.cores),
                backend,
                quantity.show(message_ns, "ns") if message_ns else NOTHING,
                quantity.show(1e6 * byte_ns, "ns") if byte_ns else NOTHING,
                _from_to((ahead for ahead, _ in leads if ahead), "x"),
                _from_to((lead.value for _, lead in leads if lead), "x"),
                _from_to(lead.value / ahead for ahead, lead in leads if ahead and lead),
            ))  # fmt: skip
    return TextTable("predictions, and how far off they were", _PREDICTION_COLUMNS, tuple(rows))


def _from_to(values: Iterable[float], sign: str = "") -> str:
    return quantity.from_to(values, lambda value: f"{value:.2f}{sign}") or NOTHING
