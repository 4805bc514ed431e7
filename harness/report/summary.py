"""The numbers of a run: means, ratios and doubts of each backend at each point.

A speed-up is always such that more than 1 favours the backend over the baseline, whether its metric is a rate
or a time.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import quantity
from harness.grouping import grouped
from harness.plan.grid import Grid, TrialKey
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.report.point_labels import point_labels
from harness.report.text_table import NOTHING
from harness.stats import doubts, intervals, noise_floor, reference_ceiling
from harness.stats.intervals import Estimate
from harness.stats.noise_floor import SelfComparison
from harness.stats.point_ratios import PointRatios, by_trial
from harness.stats.reference_ceiling import CEILING
from harness.store import digests, machine, run_directory, status
from harness.store.measurement_table import Measurement
from harness.store.prediction_table import PREDICTIONS, PredictionRow
from harness.store.recorded_turns import RecordedTurns
from harness.store.scaling_table import MESSAGES, SCALING, CostRow, ScalingRow
from harness.store.trial_records import TrialRecord
from workloads.catalogue import BACKENDS

SIDE_METRICS = ("startup_time", "peak_rss", "cpu_time")
OURS, RAY, LOOP, RAY_PAPER = "reactor-", "ray-", "serial", "ray-paper"
_ON_NODES = "reactor-nodes"
Trials = Mapping[TrialKey, TrialRecord]


@dataclass(frozen=True)
class Cell:
    """One backend at one point. `metrics` and `main` lack what has no successful trial. `unsupported`: why it cannot
    run there, empty where it can.
    """

    backend: str
    main: Estimate | None
    metrics: Mapping[str, Estimate]
    speedups: Mapping[str, Estimate]
    doubts: tuple[str, ...]
    failures: tuple[str, ...]
    unsupported: str = ""
    tails: tuple[float | None, ...] = ()  # percentiles 50, 95 and 99 of its round times in ns, where known

    @property
    def best_ray(self) -> tuple[Estimate, str] | None:
        """The ratio to the Ray that does best against this backend, and which that is; None without one."""
        return least_over_ray(self.speedups)


@dataclass(frozen=True)
class PointSummary:
    """All backends at one point. `label`: a short one, unique in the run. `units`: of each metric."""

    name: str
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

    def shown(self, cell: Cell | None, metric: str, factor: float = 1.0) -> str:
        """A metric of a cell with its unit where that has prefixes; a dash where it is not known."""
        one = cell.metrics.get(metric) if cell else None
        if one is None:
            return NOTHING
        unit, value = self.units[metric], factor * one.value
        return quantity.show(value, unit) if quantity.has_prefixes(unit) else quantity.number(value)

    def cell(self, backend: str) -> Cell | None:
        """That of a backend; None where it is not there."""
        return next((cell for cell in self.cells if cell.backend == backend), None)


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
    scaling: tuple[ScalingRow, ...]
    predictions: tuple[PredictionRow, ...]
    messages: tuple[CostRow, ...]
    noise: tuple[SelfComparison, ...]
    turns: RecordedTurns
    trials: tuple[TrialRecord, ...]

    @property
    def failures(self) -> set[str]:
        """The backends that failed at some point."""
        return {cell.backend for point in self.points for cell in point.cells if cell.failures}

    @property
    def ours(self) -> str:
        """The reactor backend that uses all cores: threads where the interpreter has no lock, else processes.

        In a run on two nodes these are ranks.
        """
        present = {row.backend for row in self.rows}
        if _ON_NODES in present and not present & {"reactor-processes", "reactor-threads"}:
            return _ON_NODES
        unlocked = any(one.backend == "reactor-threads" and one.gil_enabled is False for one in self.trials)
        return "reactor-threads" if unlocked else "reactor-processes"

    @property
    def cores(self) -> int | None:
        """How many cores were allowed; None if unknown."""
        return self.machine.get("cores_allowed")

    @property
    def commits(self) -> set[str | None]:
        """The commits of the code in the sessions of the run."""
        return {session.get("commit") for session in self.machine.get("sessions", [])}

    @property
    def floor(self) -> float:
        """The factor below which a difference is noise."""
        return noise_floor.floor_of(self.noise)


def summarise(path: Path) -> Summary:
    """The summary of a results directory; raises UsageError where it can't be read."""
    grid, rows, recorded, taken = run_directory.recorded(path)
    # A run that was killed before it judged its last block has rows whose digests nobody has compared.
    wrong = digests.disagreements(rows)
    rows = [row.failed(wrong[row.trial_key]) if row.trial_key in wrong else row for row in rows]
    file = path / machine.FILE_NAME
    described = machine.read(file, "restore it") if file.exists() else {}
    turns = RecordedTurns(taken)
    known = {trial.trial_key: trial for trial in recorded}, described.get("cores_allowed")
    present = in_order(row.backend for row in rows)
    baselines = [name for name in present if not (name.startswith(OURS) or reference_ceiling.is_limit(name))]
    labels, by_point = point_labels(rows), grouped(rows, lambda row: row.point)
    ratios = {point: PointRatios(own, turns) for point, own in by_point.items()}
    return Summary(
        path=path,
        machine=described,
        points=tuple(_point(labels[at], own, [*baselines, CEILING], *known) for at, own in ratios.items()),
        doubts=tuple(_doubts(grid, described, rows)),
        notes={name: BACKENDS[name].note for name in present if name in BACKENDS and BACKENDS[name].note},
        rows=tuple(rows),
        scaling=tuple(SCALING.read(path)),
        predictions=tuple(PREDICTIONS.read(path)),
        messages=tuple(MESSAGES.read(path)),
        noise=tuple(noise_floor.of_run(rows, turns)),
        turns=turns,
        trials=tuple(recorded),
    )


def _doubts(grid: Grid | None, described: Mapping[str, Any], rows: Sequence[Measurement]) -> Iterator[str]:
    """Doubts about the whole run: commits, changed code, variables, trials that it lacks. Trials know their load."""
    sessions = described.get("sessions", [])
    commits = {session.get("commit") for session in sessions}
    if len(commits) > 1:
        yield f"the rows come from {len(commits)} commits of the code"
    if any(session.get("dirty") for session in sessions):
        yield "the code had uncommitted changes"
    if any(session.get("variables") != sessions[0].get("variables") for session in sessions):
        yield "the sessions had different environment variables"
    if grid is not None and (missing := len(run_directory.missing(grid, rows))):
        are = "is" if missing == 1 else "are"
        yield f"{missing} of {len(list(grid.trials()))} trials {are} missing: complete the run with --resume"


def in_order(names: Iterable[str]) -> list[str]:
    """These backends, each once, in the order of the catalogue; unknown ones last."""
    present = dict.fromkeys(names)
    return [name for name in BACKENDS if name in present] + [name for name in present if name not in BACKENDS]


def least_over_ray(ratios: Mapping[str, Estimate]) -> tuple[Estimate, str] | None:
    """The least of some ratios to Ray's backends, and to which of them it is; None without one.

    It is chosen from the results themselves, and the interval counts that choice.
    """
    found = {name: ratio for name, ratio in ratios.items() if name.startswith(RAY)}
    if not found:
        return None
    return intervals.least(list(found.values())), min(found, key=lambda name: found[name].value)


def _point(
    label: str, ratios: PointRatios, baselines: Sequence[str], trials: Trials, cores: int | None
) -> PointSummary:
    cells = tuple(_cell(backend, ratios, baselines, trials, cores) for backend in in_order(ratios.rows))
    rows = [row for own in ratios.rows.values() for row in own]
    first, units = rows[0], {row.metric: row.unit for row in rows}
    return PointSummary(first.point, first.workload, label, ratios.metric, units, cells, first.values)


def _cell(backend: str, ratios: PointRatios, baselines: Sequence[str], trials: Trials, cores: int | None) -> Cell:
    rows, values = ratios.rows[backend], list(ratios.trials[backend].values())
    rivals = (name for name in baselines if name != (CEILING if reference_ceiling.is_limit(backend) else backend))
    speedups = {name: ratio for name in rivals if (ratio := ratios.of(backend, name)) is not None}
    # Where one trial computed something else, the others are no result either.
    sound = [row for row in rows if row.ok] if values else []
    of_trials = [trials[key] for key in dict.fromkeys(row.trial_key for row in sound) if key in trials]
    by_metric = grouped(sound, lambda row: row.metric)
    metrics = {name: intervals.mean(list(by_trial(own, name).values())) for name, own in by_metric.items()}
    found = doubts.doubts(values, of_trials, cores) if values else []
    passing = speedups.get(CEILING)
    if passing is not None and passing.low > 1 and passing.decides:
        found.append(doubts.PASSES_CEILING)
    failed = [f"trial {row.trial}: {row.status}" for row in rows if row.is_failure and row.metric == ratios.metric]
    return Cell(
        backend=backend,
        main=metrics.get(ratios.metric),
        metrics=metrics,
        speedups=speedups,
        doubts=tuple(found),
        failures=tuple(dict.fromkeys(failed)),
        unsupported=next((row.status.removeprefix(status.UNSUPPORTED) for row in rows if row.unsupported), ""),
        tails=_tails(of_trials),
    )


def _tails(trials: Sequence[TrialRecord]) -> tuple[float | None, ...]:
    """The geometric mean over trials of each percentile, where all tell it; nothing where none tells one."""
    columns = list(zip(*((one.p50_ns, one.p95_ns, one.p99_ns) for one in trials), strict=True))
    means = tuple(None if None in column else intervals.mean(list(filter(None, column))).value for column in columns)
    return means if any(means) else ()
