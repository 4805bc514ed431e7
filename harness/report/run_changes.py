"""Two runs of the same grid on the same machine: what became slower. Renders nothing.

Decides on ratios that were measured inside each run, trial by trial: a machine that was slower on one of the days
slowed both sides of a ratio. What the limit is computed from, where it isn't measured, is the serial loop, and so
a change against it says nothing that the change against the serial loop doesn't.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.errors import UsageError
from harness.plan import grid
from harness.plan.metrics import HIGHER_IS_BETTER
from harness.report.summary import MAIN_METRICS, OURS, point_labels
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement
from harness.store import machine
from harness.store.finished_run import FinishedRun
from harness.store.measurements import Measurement
from workloads.catalogue import BACKENDS

# The interval of fewer trials holds hardly more than the values themselves.
FEWEST_TRIALS = 3
# The versions of what is compared may differ.
_OWN_PACKAGE = "reactorlib"

Times = Mapping[int, float]


@dataclass(frozen=True)
class Change:
    """How one of our backends changed against a baseline at a point.

    `factor`: how many times as long it takes as before, in relation to the baseline. `before` and `after`: how many
    times as fast as the baseline it was and is. `own` and `other`: how many times as long the backend and the
    baseline take, each by itself, which tells whose change it was but not whether the machine's. `p_value`: the chance
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
        """What was compared with what, and where."""
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
    before, after = _computed(base), _computed(new)
    for key in sorted(before.keys() & after.keys()):
        if before[key] != after[key]:
            raise UsageError(f"{key[0]} {key[2]} computes something else than in {base.path}: its digest differs")
    for (workload, parameters, backend), supported in _supported(base).items():
        if supported != _supported(new)[workload, parameters, backend]:
            raise UsageError(f"{workload} {backend} is unsupported in one of the two runs")


def _conditions(run: FinishedRun) -> dict[str, Any]:
    described = dict(run.machine)
    packages = described.get("packages")
    if isinstance(packages, dict):
        described["packages"] = {name: version for name, version in packages.items() if name != _OWN_PACKAGE}
    return described


def _other_conditions(base: FinishedRun, new: FinishedRun) -> str:
    """Differences in what is no part of a machine, but moves numbers all the same."""
    told = [
        {"gil": run.machine.get("gil_enabled_after_imports"), "variables": run.machine["sessions"][0].get("variables")}
        for run in (base, new)
    ]
    there, here = told
    return "; ".join(f"{name} {there[name]} there, {here[name]} here" for name in there if there[name] != here[name])


def _computed(run: FinishedRun) -> dict[tuple[str, str, str], str]:
    return {row.trial_key[:3]: row.digest for row in run.rows if row.digest}


def _supported(run: FinishedRun) -> dict[tuple[str, str, str], bool]:
    return {row.trial_key[:3]: row.ok for row in run.rows}


def _changes(base: FinishedRun, new: FinishedRun, metrics: Sequence[str]) -> Iterator[Change]:
    labels = point_labels(new.rows)
    for point, label in labels.items():
        metric, before, after = _times(base.rows, new.rows, point, metrics)
        for backend in (name for name in after if name.startswith(OURS)):
            for baseline in (name for name in after if _is_baseline(name)):
                old = _slowness(before, backend, baseline)
                now = _slowness(after, backend, baseline)
                yield Change(
                    workload=point[0],
                    label=label,
                    backend=backend,
                    baseline=baseline,
                    metric=metric,
                    factor=intervals.change(old, now),
                    before=intervals.ratio_of_pairs(*old).inverse(),
                    after=intervals.ratio_of_pairs(*now).inverse(),
                    own=_alone(before, after, backend),
                    other=_alone(before, after, baseline),
                )


def _is_baseline(backend: str) -> bool:
    if backend.startswith(OURS) or backend not in BACKENDS:
        return False
    return BACKENDS[backend].role in ("main", "limit")


def _times(
    before: Sequence[Measurement], after: Sequence[Measurement], point: tuple[str, str], metrics: Sequence[str]
) -> tuple[str, dict[str, Times], dict[str, Times]]:
    """The metric by which a point is compared, and by backend what each trial took by it, in both runs.

    A rate counts as the time per unit. An overhead is a difference, and may come out as nothing: then there is no
    ratio, and the next metric is taken.
    """
    for metric in metrics:
        told = [
            [row for row in rows if row.point == point and row.metric == metric and row.ok] for rows in (before, after)
        ]
        values = [row.value for rows in told for row in rows if row.value is not None]
        if values and min(values) > 0:
            old, new = (_by_backend(rows) for rows in told)
            return metric, old, new
    return "", {}, {}


def _by_backend(rows: Sequence[Measurement]) -> dict[str, Times]:
    times: dict[str, dict[int, float]] = {}
    for row in rows:
        if row.value is not None:
            value = 1 / row.value if row.metric in HIGHER_IS_BETTER else row.value
            times.setdefault(row.backend, {})[row.trial] = value
    return {backend: dict(sorted(values.items())) for backend, values in times.items()}


def _slowness(times: Mapping[str, Times], backend: str, baseline: str) -> tuple[list[float], list[float]]:
    return list(times[backend].values()), list(times[baseline].values())


def _alone(before: Mapping[str, Times], after: Mapping[str, Times], backend: str) -> float:
    return intervals.mean(list(after[backend].values())).value / intervals.mean(list(before[backend].values())).value
