"""Two runs of the same grid on the same machine: which ratios became slower. Their packages may differ.

Decides on ratios that were measured inside each run: a machine that was slower on one of the days slowed both sides
of a ratio.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness import quantity
from harness.errors import UsageError
from harness.grouping import grouped
from harness.plan.grid import Grid, differences
from harness.report.summary import OURS, Summary, summarise
from harness.stats import intervals, judgement, reference_ceiling
from harness.stats.intervals import FEW, Estimate
from harness.stats.judgement import Judgement
from harness.store import machine, run_directory
from harness.store.measurement_table import MEASUREMENTS, Measurement
from workloads.catalogue import BACKENDS

# The interval of fewer trials holds hardly more than the values themselves.
FEWEST_TRIALS = FEW + 1


@dataclass(frozen=True)
class FinishedRun(Summary):
    """The summary of a run that is complete and of one commit, with its grid. Trials may have failed."""

    grid: Grid

    @property
    def commit(self) -> str:
        """The commit of the code; "unknown" where the code was in no repository."""
        return str(self.machine["sessions"][0].get("commit") or "unknown")


@dataclass(frozen=True)
class Change:
    """How one of our backends changed against a baseline at a point.

    `factor`: how many times as long it takes as before, in relation to the baseline. `before` and `after`: how many
    times as fast as the baseline it was and is. `p_value`: the chance of the factor without a change, corrected for
    the number of ratios compared (Holm).
    """

    point: str
    backend: str
    baseline: str
    metric: str
    factor: Estimate
    before: Estimate
    after: Estimate
    p_value: float = 1.0
    judgement: Judgement = Judgement.UNCHANGED


@dataclass(frozen=True)
class Unjudged:
    """A backend that cannot be compared at a point, and why."""

    point: str
    backend: str
    judgement: Judgement
    reason: str


Found = Sequence[Change | Unjudged]
Place = tuple[str, str]  # the name of a point, backend


def load(path: Path) -> FinishedRun:
    """The run in a directory. Raises UsageError, in one line, for anything that speaks against judging by it."""
    if not path.is_dir():
        raise UsageError(f"{path}: no such directory; expected the results of `harness run`")
    sessions = machine.read(path / machine.FILE_NAME, run_directory.EXPECTED).get("sessions")
    if not sessions:
        raise UsageError(f"{path / machine.FILE_NAME}: names no session; expected what `harness run` writes")
    for name in ("commit", "dirty", "variables"):
        if any(one.get(name) != sessions[0].get(name) for one in sessions):
            raise UsageError(f"{path}: its sessions differ in {name}; measure it anew in one go")
    _, grid = run_directory.stored_grid(path)
    found = FinishedRun(**vars(summarise(path)), grid=grid)
    file = path / MEASUREMENTS.file_name
    expected = {(*trial.key, metric) for trial in grid.trials() for metric in trial.point.units}
    if expected != (present := {row.key for row in found.rows}):
        lacking = f"of the {len(expected)} rows of its grid {len(expected - present)} are missing"
        raise UsageError(f"{file}: {lacking}; complete the run with --resume")
    return found


def compare(base: FinishedRun, new: FinishedRun, min_effect: float) -> list[Change | Unjudged]:
    """Every ratio of a reactor backend that both runs have, and what cannot be compared.

    Raises UsageError where there is no ratio, or the runs can't be compared.
    """
    _check_alike(base, new)
    unjudged = dict(_unjudged(base, new))
    found = list(_changes(base, new, unjudged))
    if not (found or unjudged):
        raise UsageError(
            f"{new.path}: no ratio of a reactor backend to serial, to Ray or to a measured limit; "
            "expected a run of at least one of each"
        )
    corrected = intervals.holm([one.factor.p_value for one in found])
    judged = [
        replace(one, p_value=p_value, judgement=judgement.judge(one.factor, min_effect, p_value))
        for one, p_value in zip(found, corrected, strict=True)
    ]
    return [*judged, *unjudged.values()]


def _check_alike(base: FinishedRun, new: FinishedRun) -> None:
    """Whether two runs measured the same on the same machine; raises UsageError where they did not."""
    if differing := differences(base.grid, new.grid):
        raise UsageError(f"another grid: {differing} ({base.path} is there, {new.path} here)")
    differing = machine.differences(_without_packages(base), _without_packages(new))
    there, here = (run.machine["sessions"][0].get("variables") for run in (base, new))
    if differing or there != here:
        told = differing or f"variables {there} there, {here} here"
        raise UsageError(f"other conditions: {told} ({base.path} is there, {new.path} here)")
    fewest = min(point.trials for run in (base, new) for point in run.grid.points)
    if fewest < FEWEST_TRIALS:
        raise UsageError(
            f"a point has {quantity.counted(fewest, 'trial')}; measure with --trials {FEWEST_TRIALS} or more"
        )


def _unjudged(base: FinishedRun, new: FinishedRun) -> Iterator[tuple[Place, Unjudged]]:
    """The backends of a point that cannot be compared, each with the reason."""
    rows = [grouped(run.rows, lambda row: (row.point, row.backend)) for run in (base, new)]
    for place, (was, is_now) in ((place, (rows[0][place], rows[1][place])) for place in rows[0]):
        if fault := _fault(was, is_now):
            yield place, Unjudged(*place, *fault)


def _fault(was: Sequence[Measurement], is_now: Sequence[Measurement]) -> tuple[Judgement, str] | None:
    """The reason why two runs' rows of a backend at a point have no ratio, if there is one."""
    (failed_before, refused_before, digests_before), (failed, refused, digests) = map(_state, (was, is_now))
    if failed:
        return Judgement.FAILED, failed
    if refused and not refused_before:
        return Judgement.FAILED, f"{refused}; it ran before"
    if failed_before:
        return Judgement.UNDECIDED, f"it failed before: {failed_before}"
    if refused_before and not refused:
        return Judgement.NOT_MEASURED, f"it did not run before: {refused_before}"
    if digests_before and digests and digests_before != digests:
        return Judgement.OTHER_DIGEST, "it computes something else than before"
    return None


def _state(rows: Sequence[Measurement]) -> tuple[str, str, set[str]]:
    """The first failure and the first refusal of a backend, both empty without one, and its digests."""
    failure = next((f"trial {row.trial}: {row.status}" for row in rows if row.is_failure), "")
    return failure, next((row.status for row in rows if row.unsupported), ""), {row.digest for row in rows} - {""}


def _without_packages(run: FinishedRun) -> dict[str, Any]:
    """The machine of a run. Whether another version of a package is slower is often the question."""
    others = {kind: {**told, "packages": {}} for kind, told in run.machine.get("interpreters", {}).items()}
    return {**run.machine, "packages": {}, "interpreters": others}


def _packages(run: FinishedRun) -> dict[str, str]:
    """The versions of all packages. Those of another interpreter than the suite's are named with it."""
    found = dict(run.machine.get("packages", {}))
    for kind, told in run.machine.get("interpreters", {}).items():
        found |= {f"{name} ({kind})": version for name, version in told.get("packages", {}).items()}
    return found


def other_packages(base: FinishedRun, new: FinishedRun) -> dict[str, tuple[str | None, str | None]]:
    """The packages whose versions differ, each with that before and that after; None where it was not installed."""
    before, after = _packages(base), _packages(new)
    names = sorted(before.keys() | after.keys())
    return {name: (before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)}


def _changes(base: FinishedRun, new: FinishedRun, unjudged: Container[Place]) -> Iterator[Change]:
    before = {(point.name, cell.backend): cell.speedups for point in base.points for cell in point.cells}
    baselines = {reference_ceiling.CEILING, *(name for name, backend in BACKENDS.items() if backend.role == "main")}
    made_of = {reference_ceiling.CEILING: [*filter(reference_ceiling.is_limit, BACKENDS), "serial"]}
    for point in new.points:
        for cell in (cell for cell in point.cells if cell.backend.startswith(OURS)):
            was = before[point.name, cell.backend]
            for baseline, after in cell.speedups.items():
                needed = [cell.backend, *made_of.get(baseline, [baseline])]
                sound = not any((point.name, name) in unjudged for name in needed)
                if sound and baseline in was and baseline in baselines:
                    factor = intervals.change(after, was[baseline])
                    yield Change(point.name, cell.backend, baseline, point.metric, factor, was[baseline], after)


def lines(base: FinishedRun, new: FinishedRun, found: Found, min_effect: float) -> list[str]:
    """A line for each regression and for what cannot be compared, the conclusion, and one that names other packages."""
    told = [
        f"{one.judgement.value}: {_line(one)}"
        for one in found
        if one.judgement is Judgement.REGRESSION or isinstance(one, Unjudged)
    ]
    packages = [
        f"{name} {before or 'not installed'} before, {after or 'not installed'} after"
        for name, (before, after) in other_packages(base, new).items()
    ]
    note = [f"note: the packages differ: {'; '.join(packages)}"] if packages else []
    return [*told, *_conclusion(found, min_effect), *note]


def _conclusion(found: Found, min_effect: float) -> list[str]:
    counts = Counter(one.judgement for one in found if isinstance(one, Change))
    if not counts or counts[Judgement.REGRESSION]:
        return []
    text = f"no regression of more than {min_effect:.0%} in {counts.total()} ratios"
    if counts[Judgement.IMPROVEMENT]:
        text += f", {counts[Judgement.IMPROVEMENT]} improved"
    if counts[Judgement.UNDECIDED]:
        text += f"; {counts[Judgement.UNDECIDED]} undecided, as one cannot be excluded: more --trials"
    return [text]


def _line(one: Change | Unjudged) -> str:
    at = f"{one.point}: {one.backend}"
    if isinstance(one, Unjudged):
        return f"{at}: {one.reason}"
    after, before = (f"{quantity.number(ratio.value)}x" for ratio in (one.after, one.before))
    change = judgement.describe(one.factor)
    return f"{at} is {change}: its speed is {after} that of {one.baseline}, was {before}"


def as_json(base: FinishedRun, new: FinishedRun, found: Found, min_effect: float) -> dict[str, Any]:
    """The changes for programs."""
    kinds = [[one for one in found if isinstance(one, kind)] for kind in (Change, Unjudged)]
    changes, unjudged = ([asdict(one) | {"judgement": one.judgement.value} for one in kind] for kind in kinds)
    return {
        "base": {"path": str(base.path), "commit": base.commit},
        "new": {"path": str(new.path), "commit": new.commit},
        "packages": other_packages(base, new),
        "min_effect": min_effect,
        "regressions": sum(one.judgement is Judgement.REGRESSION for one in found),
        "changes": changes,
        "unjudged": unjudged,
    }
