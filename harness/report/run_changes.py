"""Two runs of the same grid on the same machine: which ratios became slower.

Decides on ratios that were measured inside each run: a machine that was slower on one of the days slowed both sides
of a ratio.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from harness.errors import UsageError
from harness.grouping import grouped
from harness.plan import grid
from harness.plan.metrics import HIGHER_IS_BETTER, MAIN_METRICS
from harness.report.point_labels import point_labels
from harness.report.summary import OURS
from harness.stats import intervals, judgement
from harness.stats.intervals import FEW, Estimate
from harness.stats.judgement import Judgement
from harness.stats.point_ratios import PointRatios
from harness.store import machine
from harness.store.finished_run import FinishedRun
from harness.store.recorded_turns import TURNS, RecordedTurns
from workloads.catalogue import BACKENDS

# The interval of fewer trials holds hardly more than the values themselves.
FEWEST_TRIALS = FEW + 1
# Its versions may differ: it is compared.
_OWN_PACKAGE = "reactorlib"


@dataclass(frozen=True)
class Change:
    """How one of our backends changed against a baseline at a point.

    `factor`: how many times as long it takes as before, in relation to the baseline. `before` and `after`: how many
    times as fast as the baseline it was and is. `own` and `other`: how many times as long the backend and the
    baseline take, each by itself. `p_value`: the chance
    of the factor without a change, corrected for the number of ratios compared (Holm).
    """

    workload: str
    label: str
    backend: str
    baseline: str
    metric: str
    factor: Estimate
    before: Estimate
    after: Estimate
    own: float
    other: float
    p_value: float = 1.0
    judgement: Judgement = Judgement.UNCHANGED

    @property
    def key(self) -> tuple[str, str, str, str]:
        """The backend, the baseline and the point."""
        return self.workload, self.label, self.backend, self.baseline


def compare(
    base: FinishedRun, new: FinishedRun, min_effect: float, metrics: Sequence[str] = MAIN_METRICS
) -> list[Change]:
    """Every ratio that both runs have, by the first of the metrics that a point has.

    Raises UsageError where there is no ratio, or the runs can't be compared.
    """
    check_alike(base, new)
    found = list(_changes(base, new, metrics))
    if not found:
        raise UsageError(
            f"{new.path}: no ratio of a reactor backend to serial, to Ray or to a measured limit; "
            "expected a run of at least one of each"
        )
    corrected = intervals.holm([one.factor.p_value for one in found])
    return [
        replace(one, p_value=p_value, judgement=judgement.judge(one.factor, min_effect, p_value))
        for one, p_value in zip(found, corrected, strict=True)
    ]


def check_repeated(first: FinishedRun, second: FinishedRun) -> None:
    """Whether a run is a second measurement of the same code; raises UsageError where it isn't."""
    check_alike(first, second)
    if first.commit != second.commit:
        raise UsageError(f"{second.path} is of commit {second.commit[:12]}, not of {first.commit[:12]} again")


def confirmed(first: Sequence[Change], second: Sequence[Change]) -> list[Change]:
    """The second measurement, in which only that is a regression which the first one shows as well."""
    suspects = {one.key for one in first if one.judgement is Judgement.REGRESSION}
    return [
        replace(one, judgement=Judgement.UNCERTAIN)
        if one.judgement is Judgement.REGRESSION and one.key not in suspects
        else one
        for one in second
    ]


def check_alike(base: FinishedRun, new: FinishedRun) -> None:
    """Whether two runs measured the same on the same machine; raises UsageError where they did not."""
    if base.path.resolve() == new.path.resolve():
        raise UsageError(f"{new.path}: the same run twice")
    differing = grid.differences(base.grid, new.grid)
    if differing:
        raise UsageError(f"another grid: {differing} ({base.path} is there, {new.path} here)")
    differing = machine.differences(_conditions(base), _conditions(new)) or _other_conditions(base, new)
    if differing:
        raise UsageError(f"another machine: {differing} ({base.path} is there, {new.path} here)")
    fewest = min(point.trials for run in (base, new) for point in run.grid.points)
    if fewest < FEWEST_TRIALS:
        raise UsageError(f"{fewest} trials of a point give no interval; measure with --trials {FEWEST_TRIALS} or more")
    before, after = ({row.trial_key[:3]: row.digest for row in run.rows if row.digest} for run in (base, new))
    for key in sorted(before.keys() & after.keys()):
        if before[key] != after[key]:
            raise UsageError(f"{key[0]} {key[2]} computes something else than in {base.path}: its digest differs")
    supported, still = ({row.trial_key[:3]: row.ok for row in run.rows} for run in (base, new))
    for key, ok in supported.items():
        if ok != still[key]:
            raise UsageError(f"{key[0]} {key[2]} is unsupported in one of the two runs")


def _conditions(run: FinishedRun) -> dict[str, Any]:
    described = dict(run.machine)
    packages = described.get("packages")
    if isinstance(packages, dict):
        described["packages"] = {name: version for name, version in packages.items() if name != _OWN_PACKAGE}
    return described


def _other_conditions(base: FinishedRun, new: FinishedRun) -> str:
    """Differences in what is no part of a machine, but moves numbers all the same."""
    there, here = (
        {"gil": run.machine.get("gil_enabled_after_imports"), "variables": run.machine["sessions"][0].get("variables")}
        for run in (base, new)
    )
    return "; ".join(f"{name} {there[name]} there, {here[name]} here" for name in there if there[name] != here[name])


def _changes(base: FinishedRun, new: FinishedRun, metrics: Sequence[str]) -> Iterator[Change]:
    labels = point_labels(new.rows)
    before, after = (list(_ratios(run, metrics)) for run in (base, new))
    for (point, old), (_, now) in zip(before, after, strict=True):
        compared: set[tuple[str, str]] = set()
        for metric in metrics:
            if metric not in old or metric not in now:
                continue
            for backend, baseline in _pairs(now[metric]):
                found = [ratios[metric].blocks(backend, baseline) for ratios in (old, now)]
                if (backend, baseline) in compared or not all(found):
                    continue
                compared.add((backend, baseline))
                logs = [[-fmean(block) for block in blocks] for blocks in found]
                yield Change(
                    workload=point[0],
                    label=labels[point],
                    backend=backend,
                    baseline=baseline,
                    metric=metric,
                    factor=intervals.change(*logs),
                    before=intervals.ratio_of_turns(found[0]),
                    after=intervals.ratio_of_turns(found[1]),
                    own=_alone(old[metric], now[metric], backend),
                    other=_alone(old[metric], now[metric], baseline),
                )


def _ratios(run: FinishedRun, metrics: Sequence[str]) -> Iterator[tuple[tuple[str, str], dict[str, PointRatios]]]:
    """Of each point in order, its ratios by each metric that it has."""
    taken = RecordedTurns(TURNS.read(run.path))
    for point, rows in sorted(grouped(run.rows, lambda row: row.point).items()):
        present = {row.metric for row in rows}
        yield point, {name: PointRatios(rows, taken, None, name) for name in metrics if name in present}


def _pairs(ratios: PointRatios) -> Iterator[tuple[str, str]]:
    for backend in ratios.trials:
        for baseline in ratios.trials:
            if backend.startswith(OURS) and _is_baseline(baseline):
                yield backend, baseline


def _is_baseline(backend: str) -> bool:
    return not backend.startswith(OURS) and backend in BACKENDS and BACKENDS[backend].role in ("main", "limit")


def _alone(before: PointRatios, after: PointRatios, backend: str) -> float:
    """How many times as long a backend takes by itself."""
    old, now = (intervals.mean(list(ratios.trials[backend].values())).value for ratios in (before, after))
    return old / now if before.metric in HIGHER_IS_BETTER else now / old
