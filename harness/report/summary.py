"""From rows to what a report says: means, ratios and doubts of each backend at each point. Renders nothing.

A speed-up is always such that more than 1 favours the backend over the baseline, whether its metric is a rate
or a time.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from statistics import fmean
from typing import Any

from harness import quantity
from harness.errors import UsageError
from harness.grouping import grouped
from harness.plan.grid import TrialKey
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.stats import doubts, intervals, limits, noise_floor, stragglers
from harness.stats.intervals import Estimate
from harness.stats.moderated import moderated
from harness.stats.noise_floor import SelfComparison
from harness.stats.stragglers import Stragglers
from harness.store import digests, machine, run_directory, status
from harness.store.measurements import MEASUREMENTS, Measurement
from harness.store.phase_table import BREAKDOWN, PhaseRow
from harness.store.recorded_turns import TURNS, RecordedTurns
from harness.store.scaling_table import MESSAGES, SCALING, CostRow, ScalingRow
from harness.store.table import Table
from harness.store.trial_records import TRIALS, TrialRecord
from workloads.catalogue import BACKENDS

# A point is compared by the first of these that it has.
MAIN_METRICS = ("overhead", "throughput", "round_time")
SIDE_METRICS = ("startup_time", "peak_rss", "cpu_time")
# What nothing can pass, as a baseline: no rival, but the measure of all.
LIMIT = "limit"
OURS = "reactor-"
_NOT_A_SETTING = ("rounds", "warmup_rounds", "seed")
_SIZES = ("actors", "agents")


@dataclass(frozen=True)
class Cell:
    """One backend at one point. `main` and `side` lack what has no successful trial. `unsupported`: why it cannot
    run there, empty where it can.
    """

    backend: str
    main: Estimate | None
    side: Mapping[str, Estimate]
    speedups: Mapping[str, Estimate]
    doubts: tuple[str, ...]
    failures: tuple[str, ...]
    unsupported: str = ""
    tails: tuple[float | None, ...] = ()  # percentiles 50, 95 and 99 of its round times in ns, where known
    late: Stragglers | None = None  # where its rounds were taken apart
    sets_limit: bool = False  # the point's limit is its own pace, or computed from that


@dataclass(frozen=True)
class PointSummary:
    """All backends at one point. `units`: of each metric."""

    workload: str
    label: str
    metric: str
    units: Mapping[str, str]
    cells: tuple[Cell, ...]
    parameters: Mapping[str, Any]

    def best(self, cells: Iterable[Cell]) -> Cell | None:
        """Which of these cells did best; None where none has a result."""
        measured = [(cell.main.value, cell) for cell in cells if cell.main is not None]
        choose = max if self.metric in HIGHER_IS_BETTER else min
        return choose(measured, key=lambda pair: pair[0])[1] if measured else None


@dataclass(frozen=True)
class Summary:
    """A results directory in numbers. `notes`: what to know of a backend before comparing it. `noise`: backends
    compared with themselves, where that was measured.
    """

    path: Path
    machine: Mapping[str, Any]
    points: tuple[PointSummary, ...]
    doubts: tuple[str, ...]
    notes: Mapping[str, str]
    rows: tuple[Measurement, ...]
    phases: tuple[PhaseRow, ...]
    scaling: tuple[ScalingRow, ...]
    messages: tuple[CostRow, ...]
    noise: tuple[SelfComparison, ...]

    @property
    def failures(self) -> list[tuple[PointSummary, Cell]]:
        """Backends with failed trials, and where."""
        return [(point, cell) for point in self.points for cell in point.cells if cell.failures]


def summarise(path: Path) -> Summary:
    """The summary of a results directory; raises UsageError where it can't be read."""
    rows = MEASUREMENTS.read(path)
    if not rows:
        raise UsageError(f"{path / MEASUREMENTS.file_name}: holds no rows; expected the results of `harness run`")
    # A run that was killed before it judged its last block has rows whose digests nobody has compared.
    wrong = digests.disagreements(rows)
    rows = [row.failed(wrong[row.trial_key]) if row.trial_key in wrong else row for row in rows]
    file = path / machine.FILE_NAME
    described = machine.read(file, "restore it") if file.exists() else {}
    known = {trial.trial_key: trial for trial in TRIALS.read(path)}
    taken = RecordedTurns(TURNS.read(path))
    noise = tuple(noise_floor.of_run(rows, taken))
    present = list(dict.fromkeys(row.backend for row in rows))
    others = [name for name in present if not (name.startswith(OURS) or limits.is_limit(name))]
    baselines = tuple(_order([*others, LIMIT]))
    labels = point_labels(rows)
    phases, scaling, messages = BREAKDOWN.read(path), SCALING.read(path), MESSAGES.read(path)
    late = stragglers.medians(phases)
    points = [
        _point(label, [row for row in rows if row.point == point], baselines, described, known, taken, late)
        for point, label in labels.items()
    ]
    points = _moderated(points)
    return Summary(
        path=path,
        machine=described,
        points=tuple(points),
        doubts=(
            *_run_doubts(described),
            *_grid_doubts(path, rows),
            *_of_other_runs({BREAKDOWN: phases, MESSAGES: messages, SCALING: scaling}, rows, described),
        ),
        notes={name: BACKENDS[name].note for name in _order(present) if name in BACKENDS and BACKENDS[name].note},
        rows=tuple(rows),
        phases=tuple(phases),
        scaling=tuple(scaling),
        messages=tuple(messages),
        noise=noise,
    )


def _run_doubts(described: Mapping[str, Any]) -> list[str]:
    sessions = described.get("sessions", [])
    commits = {session.get("commit") for session in sessions}
    found = []
    if len(commits) > 1:
        found.append(f"the rows come from {len(commits)} commits of the code")
    if any(session.get("dirty") for session in sessions):
        found.append("the code had uncommitted changes")
    cores = described.get("cores_allowed", 0)
    load = max(((session.get("load_average") or [0.0])[0] for session in sessions), default=0.0)
    if cores and load > cores:
        found.append(f"the machine was loaded when the run began ({load:.1f} on {cores} cores)")
    return found


def _grid_doubts(path: Path, rows: Sequence[Measurement]) -> list[str]:
    """The trials of its grid that a run lacks, if any."""
    if not (path / run_directory.GRID_NAME).exists():
        return []
    _, grid = run_directory.stored_grid(path)
    missing = len(run_directory.missing(grid, rows))
    lacking = f"{missing} of {grid.size} trials {'is' if missing == 1 else 'are'} missing"
    return [f"{lacking}: complete the run with --resume"] if missing else []


def _of_other_runs(
    beside: Mapping[Table[Any], Sequence[Any]], rows: Sequence[Measurement], described: Mapping[str, Any]
) -> Iterator[str]:
    """The tables that lie beside the measurements, but were measured in another run."""
    runs = list(dict.fromkeys(row.run_id for row in rows))
    commits = {(session.get("commit") or "unknown")[:12] for session in described.get("sessions", [])}
    for table, own in beside.items():
        others = dict.fromkeys(row.run_id for row in own if row.run_id not in runs)
        if others:
            yield (
                f"{table.file_name} is of another run, {', '.join(others)}, of a commit that is not known; the "
                f"measurements are of {', '.join(runs)}, commit {', '.join(sorted(commits)) or 'unknown'}"
            )


def _order(names: Iterable[str]) -> list[str]:
    present = dict.fromkeys(names)
    catalogued = [name for name in BACKENDS if name in present]
    return catalogued + [name for name in present if name not in BACKENDS]


def point_labels(rows: Iterable[Measurement | PhaseRow | ScalingRow]) -> dict[tuple[str, str], str]:
    """A name for each point, unique within its workload, from what its parameters vary."""
    scenarios = {row.point: row.scenario for row in rows}
    values = {point: json.loads(point[1]) for point in scenarios}
    labels = {}
    for point, scenario in scenarios.items():
        peers = [other for other in scenarios if other[0] == point[0]]
        names = [
            name
            for name in values[point]
            if name in _SIZES or _says_more(name, [(scenarios[peer], values[peer].get(name)) for peer in peers])
        ]
        labels[point] = _label(scenario, values[point], names)
    return _told_apart(labels, values)


def _label(beginning: str, values: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join([beginning, *(_spoken(name, values[name]) for name in names if name in values)])


def _spoken(name: str, value: Any) -> str:
    """A parameter in words, exact, so that different points have different names."""
    if name in _SIZES:
        return quantity.counted(value, name.removesuffix("s"))
    if name == "steps_per_message":
        return f"{quantity.counted(value, 'step')} per message"
    return f"{name} {value}"


def _told_apart(
    labels: Mapping[tuple[str, str], str], values: Mapping[tuple[str, str], Mapping[str, Any]]
) -> dict[tuple[str, str], str]:
    """The labels; where several points of a workload have the same, with what differs between them."""
    told: dict[tuple[str, str], str] = {}
    for (_, label), namesakes in grouped(labels, lambda point: (point[0], labels[point])).items():
        names = [name for name in _NOT_A_SETTING if len({values[point].get(name) for point in namesakes}) > 1]
        told |= {point: _label(label, values[point], names) for point in namesakes}
    return {point: told[point] for point in labels}


def _says_more(name: str, told: Sequence[tuple[str, Any]]) -> bool:
    """Whether a parameter, given with each point's scenario, varies where the scenario doesn't."""
    return name not in _NOT_A_SETTING and len(set(told)) > len({scenario for scenario, _ in told})


def _point(
    label: str,
    rows: Sequence[Measurement],
    baselines: Sequence[str],
    described: Mapping[str, Any],
    known: Mapping[TrialKey, TrialRecord],
    taken: RecordedTurns,
    late: Mapping[tuple[tuple[str, str], str], Stragglers],
) -> PointSummary:
    units = {row.metric: row.unit for row in rows}
    metric = next(name for name in (*MAIN_METRICS, *units) if name in units)
    by_backend = grouped(rows, lambda row: row.backend)
    # Where one trial computed something else, the others are no result either.
    trials = {
        backend: {} if any(digests.is_disagreement(row.status) for row in own) else _by_trial(own, metric)
        for backend, own in by_backend.items()
    }
    higher_is_better, cores = metric in HIGHER_IS_BETTER, described.get("cores_allowed")
    limit = limits.limit(*rows[0].point, trials, higher_is_better, cores)
    compared = {**trials, LIMIT: limit}
    measured = limits.measured_by(trials, higher_is_better)

    def beside(backend: str, baseline: str) -> list[list[float]]:
        """Log ratios of neighbouring turns, by trial; of what the metric counts of their times."""
        gain = 0.0  # the limit's over the loop, from which it is computed
        if baseline == LIMIT and limit:
            baseline = measured or digests.REFERENCE_BACKEND
            gain = abs(
                math.log(max((limit[trial] / own for trial, own in trials[baseline].items() if own), default=1.0))
            )
        if baseline not in trials:
            return []
        common = trials[backend].keys() & trials[baseline].keys()
        less = _uncounted(by_backend[baseline], metric), _uncounted(by_backend[backend], metric)
        found = taken.log_ratios(rows[0].point, (baseline, 0), (backend, 0), common, less)
        return [[one - gain for one in logs] for logs in found]

    cells = []
    for backend in _order(list(by_backend)):
        own = by_backend[backend]
        speedups = {
            baseline: speedup
            for baseline in baselines
            if baseline != (LIMIT if limits.is_limit(backend) else backend)
            and (speedup := _speedup(metric, trials[backend], compared.get(baseline, {}), beside(backend, baseline)))
            is not None
        }
        values = list(trials[backend].values())
        cells.append(
            Cell(
                backend=backend,
                main=intervals.mean(values) if values else None,
                side={
                    name: intervals.mean(list(side.values())) for name in SIDE_METRICS if (side := _by_trial(own, name))
                },
                speedups=speedups,
                doubts=tuple(doubts.doubts(values, _circumstances(own, described, known)) if values else ()),
                failures=tuple(
                    dict.fromkeys(
                        f"trial {row.trial}: {row.status}" for row in own if row.is_failure and row.metric == metric
                    )
                ),
                tails=_tails(own, known),
                late=late.get((rows[0].point, backend)),
                unsupported=next((row.status.removeprefix(status.UNSUPPORTED) for row in own if row.unsupported), ""),
                sets_limit=backend == (measured or digests.REFERENCE_BACKEND),
            )
        )
    return PointSummary(rows[0].workload, label, metric, units, tuple(cells), json.loads(rows[0].parameters))


def _uncounted(rows: Sequence[Measurement], metric: str) -> float:
    """The ns of a backend's round that its metric leaves out: the simulated work, of an overhead."""
    if metric != "overhead":
        return 0.0
    rounds, counted = (_by_trial(rows, name) for name in ("round_time", metric))
    both = rounds.keys() & counted.keys()
    return fmean(rounds[trial] - counted[trial] for trial in both) if both else 0.0


def _moderated(points: Sequence[PointSummary]) -> list[PointSummary]:
    """The same, where each number heeds what all others with its baseline say of how much starts differ, and what then
    passes the limit is doubted.
    """
    found: dict[str, dict[tuple[int, str], Estimate]] = {}  # by baseline, or of what, by point and backend
    for place, point in enumerate(points):
        for cell in point.cells:
            if cell.main is not None:
                found.setdefault(_kind(point), {})[place, cell.backend] = cell.main
            for baseline, estimate in cell.speedups.items():
                if not (baseline == LIMIT and cell.sets_limit):
                    found.setdefault(baseline, {})[place, cell.backend] = estimate
    known = {baseline: moderated(estimates, itemgetter(0)) for baseline, estimates in found.items()}

    def heeding(place: int, cell: Cell, kind: str) -> Cell:
        main = known[kind][place, cell.backend] if cell.main else None
        ratios = {name: known.get(name, {}).get((place, cell.backend), own) for name, own in cell.speedups.items()}
        return replace(cell, main=main, speedups=ratios)

    return [
        replace(point, cells=tuple(_doubted(heeding(place, cell, _kind(point))) for cell in point.cells))
        for place, point in enumerate(points)
    ]


def _kind(point: PointSummary) -> str:
    """Which of its numbers that are no ratios vary alike: a difference of times varies more than the times."""
    return "difference" if point.metric == "overhead" and point.parameters.get("work_seconds") else "time"


def _doubted(cell: Cell) -> Cell:
    """The same, with a doubt where it passes what nothing can pass."""
    passing = LIMIT in cell.speedups and cell.speedups[LIMIT].low > 1 and cell.speedups[LIMIT].decides
    return replace(cell, doubts=(*cell.doubts, doubts.BEATS_LIMIT)) if passing else cell


def _by_trial(rows: Sequence[Measurement], metric: str) -> dict[int, float]:
    return {row.trial: row.value for row in rows if row.metric == metric and row.value is not None}


def _speedup(
    metric: str, own: Mapping[int, float], other: Mapping[int, float], beside: Sequence[Sequence[float]]
) -> Estimate | None:
    """From turns that were taken beside each other, where there are such, else from the trials' values."""
    if beside:
        return intervals.ratio_of_turns(beside)
    trials = sorted(own.keys() & other.keys())
    # An overhead is a difference, and may come out as nothing: then there is no ratio.
    if not trials or min(min(own[trial], other[trial]) for trial in trials) <= 0:
        return None
    above, below = (own, other) if metric in HIGHER_IS_BETTER else (other, own)
    return intervals.ratio_of_pairs([above[trial] for trial in trials], [below[trial] for trial in trials])


def _tails(rows: Sequence[Measurement], known: Mapping[TrialKey, TrialRecord]) -> tuple[float | None, ...]:
    """The geometric mean over trials of each percentile, where all tell it; nothing where none tells one."""
    found = [known[key] for key in {row.trial_key for row in rows if row.ok} if key in known]
    columns = list(zip(*((one.p50_ns, one.p95_ns, one.p99_ns) for one in found), strict=True))
    means = tuple(None if None in column else intervals.mean(list(filter(None, column))).value for column in columns)
    return means if any(means) else ()


def _circumstances(
    rows: Sequence[Measurement], described: Mapping[str, Any], known: Mapping[TrialKey, TrialRecord]
) -> doubts.Conditions:
    found = [known[key] for key in {row.trial_key for row in rows if row.ok} if key in known]
    measured = [detail.measured_ns for detail in found if detail.measured_ns is not None]
    rounds = [row.value for row in rows if row.metric == "round_time" and row.value is not None]
    return doubts.Conditions(
        cores=described.get("cpu", {}).get("cores"),
        outside_cores=max((detail.outside_cores for detail in found), default=None),
        measured_ns=min(measured, default=None),
        round_ns=intervals.mean(rounds).value if rounds else None,
        tick_ns=described.get("clock", {}).get("tick_ns"),
    )
