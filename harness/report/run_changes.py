"""Two runs of the same grid on the same machine: which ratios became slower. Their packages may differ.

Decides on ratios that were measured inside each run: a machine that was slower on one of the days slowed both sides
of a ratio.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from harness import quantity
from harness.errors import UsageError
from harness.plan.grid import Grid, differences
from harness.report.summary import OURS, Summary, summarise
from harness.stats import intervals, judgement, reference_ceiling
from harness.stats.intervals import FEW, Estimate
from harness.stats.judgement import Judgement
from harness.store import machine, run_directory
from harness.store.measurement_table import MEASUREMENTS
from workloads.catalogue import BACKENDS

# The interval of fewer trials holds hardly more than the values themselves.
FEWEST_TRIALS = FEW + 1


@dataclass(frozen=True)
class FinishedRun(Summary):
    """The summary of a run that a verdict may rest on: complete, unbroken, of one commit. With its grid."""

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

    workload: str
    label: str
    backend: str
    baseline: str
    metric: str
    factor: Estimate
    before: Estimate
    after: Estimate
    p_value: float = 1.0
    judgement: Judgement = Judgement.UNCHANGED


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
    failed = {row.trial_key: row.status for row in found.rows if row.is_failure}
    if failed:
        (workload, _, backend, trial), status = next(iter(failed.items()))
        raise UsageError(f"{file}: {len(failed)} trials failed, the first {workload} {backend} trial {trial}: {status}")
    return found


def compare(base: FinishedRun, new: FinishedRun, min_effect: float) -> list[Change]:
    """Every ratio of a reactor backend that both runs have.

    Raises UsageError where there is no ratio, or the runs can't be compared.
    """
    _check_alike(base, new)
    found = list(_changes(base, new))
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
    was, is_now = ({row.trial_key[:3]: row.digest for row in run.rows if row.digest} for run in (base, new))
    for key in sorted(was.keys() & is_now.keys()):
        if was[key] != is_now[key]:
            raise UsageError(f"{key[0]} {key[2]} computes something else than in {base.path}: its digest differs")
    supported, still = ({row.trial_key[:3]: row.ok for row in run.rows} for run in (base, new))
    for key, ok in supported.items():
        if ok != still[key]:
            raise UsageError(f"{key[0]} {key[2]} is unsupported in one of the two runs")


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


def _changes(base: FinishedRun, new: FinishedRun) -> Iterator[Change]:
    before = {(point.key, cell.backend): cell.speedups for point in base.points for cell in point.cells}
    baselines = {reference_ceiling.CEILING, *(name for name, backend in BACKENDS.items() if backend.role == "main")}
    for point in new.points:
        for cell in (cell for cell in point.cells if cell.backend.startswith(OURS)):
            was = before[point.key, cell.backend]
            for baseline, after in cell.speedups.items():
                if baseline in was and baseline in baselines:
                    place = point.workload, point.label, cell.backend, baseline, point.metric
                    factor = intervals.change(after, was[baseline])
                    yield Change(*place, factor, before=was[baseline], after=after)


def lines(base: FinishedRun, new: FinishedRun, changes: Sequence[Change], min_effect: float) -> list[str]:
    """One line for each regression, or one that says there is none; then one that names other packages."""
    found = [f"regression: {_line(one)}" for one in changes if one.judgement is Judgement.REGRESSION]
    packages = [
        f"{name} {before or 'not installed'} before, {after or 'not installed'} after"
        for name, (before, after) in other_packages(base, new).items()
    ]
    note = [f"note: the packages differ: {'; '.join(packages)}"] if packages else []
    return (found or [_conclusion(changes, min_effect)]) + note


def _conclusion(changes: Sequence[Change], min_effect: float) -> str:
    counts = Counter(one.judgement for one in changes)
    text = f"no regression of more than {min_effect:.0%} in {len(changes)} ratios"
    if counts[Judgement.IMPROVEMENT]:
        text += f", {counts[Judgement.IMPROVEMENT]} improved"
    if counts[Judgement.UNCERTAIN]:
        text += f"; {counts[Judgement.UNCERTAIN]} too uncertain to exclude one: more --trials"
    return text


def _line(one: Change) -> str:
    after, before = (f"{quantity.number(ratio.value)}x" for ratio in (one.after, one.before))
    return (
        f"{one.workload} {one.label}: {one.backend} is {judgement.describe(one.factor)}: its speed is {after} that of "
        f"{one.baseline}, was {before}"
    )


def as_json(base: FinishedRun, new: FinishedRun, changes: Sequence[Change], min_effect: float) -> dict[str, Any]:
    """The changes for programs."""
    return {
        "base": {"path": str(base.path), "commit": base.commit},
        "new": {"path": str(new.path), "commit": new.commit},
        "packages": other_packages(base, new),
        "min_effect": min_effect,
        "regressions": sum(one.judgement is Judgement.REGRESSION for one in changes),
        "changes": [asdict(one) | {"judgement": one.judgement.value} for one in changes],
    }
