"""`claim`: measures claims of README again, each in blocks of the two backends that it compares."""

from collections.abc import Callable, Sequence
from pathlib import Path

from harness import quantity
from harness.errors import UsageError
from harness.measure import block
from harness.measure.runner import subject_of
from harness.plan.grid import Point, Trial
from harness.plan.metrics import simulated_ns
from harness.report import readme_claims, summary
from harness.report.readme_claims import Claim
from harness.stats import intervals
from harness.stats.doubts import LOADED_SHARE
from harness.stats.intervals import Estimate
from reactorlib.cpus import available_cpus
from reactorlib.errors import meant
from workloads import memory
from workloads.catalogue import BACKENDS, workers_of

PUBLISHED = Path(__file__).resolve().parents[2] / "results" / "quick"
ALL = "all"
# More than the larger side needs: the harness, and what a machine keeps free.
_ROOM = 1.25

Tell = Callable[[str], object]


def known() -> tuple[list[Claim], int | None]:
    """The claims, and the cores of the machine on which they were published."""
    published = summary.summarise(PUBLISHED)
    return readme_claims.claims(*readme_claims.answered_by(published)), published.cores


def chosen(found: Sequence[Claim], names: Sequence[str]) -> list[Claim]:
    """The claims of these names, or all; raises UsageError for an unknown name."""
    if list(names) == [ALL]:
        return list(found)
    by_name = {claim.name: claim for claim in found}
    for name in names:
        if name not in by_name:
            raise UsageError(f"no claim {name}{meant(name, by_name)}; `claim` lists them")
    return [by_name[name] for name in names]


def run(claim: Claim, cores: int | None, starts: int, tell: Tell) -> tuple[bool, str]:
    """Measure a claim. Returns whether it passed, and a sentence."""
    outcome, outside_cores = _measured(claim, starts, tell)
    if isinstance(outcome, str):
        return False, f"{claim.name}: FAIL, {outcome}"
    low, high = claim.expected
    passed, words = low <= outcome.value <= high, ""
    if not passed and outcome.low <= high and low <= outcome.high:
        words = "; the interval reaches the range: a machine at rest or more --starts would decide"
    if not passed and outside_cores > LOADED_SHARE * available_cpus():
        busy = f"{outside_cores:.1f} of {available_cpus()} cores"
        words += f"; other processes kept {busy} busy: measure on a machine at rest"
    if cores != available_cpus():
        words += f"; published on {cores} cores, here are {available_cpus()}: see ARTIFACT.md"
    return passed, (
        f"{claim.name}: {'PASS' if passed else 'FAIL'}, {claim.backend} is {quantity.ratio(outcome)} as fast as "
        f"{claim.baseline} at {claim.point.name}; expected {quantity.times(low)} to {quantity.times(high)}; "
        f"{quantity.counted(outcome.count, 'start')}{words}"
    )


def _measured(claim: Claim, starts: int, tell: Tell) -> tuple[Estimate | str, float]:
    """The ratio by the metric of the point, or why there is none; and the cores that other processes kept busy."""
    need, free = _ROOM * claim.peak_bytes, memory.free()
    if free < need:
        return f"needs {quantity.show(need, 'bytes')} of memory, {quantity.show(free, 'bytes')} are free", 0.0
    point, logs, outside_cores = Point.named(claim.point.name, starts), [], 0.0
    names = claim.backend, claim.baseline
    own_ns, other_ns = (simulated_ns(point.task, workers_of(BACKENDS[name], point.task)) for name in names)
    for index in range(starts):
        tell(f"{claim.name}: start {index + 1} of {starts}")
        subjects = [subject_of(Trial(point, name, index)) for name in names]
        own, other = block.run(subjects, block.EFFORT, f"{claim.name} {index}").values()
        outside_cores = max(outside_cores, own.outside_cores, other.outside_cores)
        if own.failure or other.failure:
            return own.failure or other.failure, outside_cores
        if own.digest != other.digest and own.subject.matched and other.subject.matched:
            return f"{claim.backend} and {claim.baseline} computed different values", outside_cores
        logs.append(block.log_ratios(other, own, (other_ns, own_ns)))
    told = intervals.ratio_of_turns(logs) if all(logs) else "a round took no longer than its simulated work"
    return told, outside_cores
