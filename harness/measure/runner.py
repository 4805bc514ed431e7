"""Runs a grid, block by block: a point's backends alive together in turns, rows on the disk when a block is done.

Owns the loop over blocks, which subjects a block has, and the verdict on each. Knows nothing of what a workload
computes.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import psutil

from harness import quantity
from harness.measure import block as engine
from harness.measure import percentiles
from harness.measure.block import Effort, Measured
from harness.measure.forecast import Budget
from harness.measure.interim import AGAIN
from harness.measure.subject import Subject, workload_order
from harness.plan.grid import Block, Grid, Point, Trial, TrialKey, runs_alone
from harness.store import digests, machine
from harness.store.measurements import Measurement
from harness.store.recorded_turns import RecordedTurn
from harness.store.run_directory import RunDirectory
from harness.store.status import OK, UNSUPPORTED
from harness.store.trial_records import TrialRecord
from workloads.catalogue import BACKENDS, workers_of

# Ray's sessions take the most memory: where it is short, they live one after the other. Where a round's arrays take
# more than this part of it, all backends do.
_HEAVY = "ray-"
_LARGE_SHARE = 1 / 16


class Watcher(Protocol):
    """Who is told how the run goes on."""

    def trial_begins(self, trial: Trial) -> None:
        """A trial's processes are about to start."""

    def trial_ends(self, trial: Trial, rows: list[Measurement], duration_s: float) -> None:
        """A trial's rows are on the disk."""

    def block_ends(self, point: Point, found: Mapping[str, Measured]) -> None:
        """The trials of a point that were measured beside each other have ended: their subjects, by name."""

    def note(self, line: str) -> None:
        """Something else that the user should know."""


def run(results: RunDirectory, watcher: Watcher, time_limit_s: float | None, budget: Budget) -> None:
    """Run what is missing from the results. Raises OSError when a row can't be written.

    `time_limit_s`: for whatever a trial is asked, its start included, instead of the grid's. `budget`: of all that is
    run now; told what its blocks took. Where it doesn't allow all of them, the results are then of a grid with as many
    trials as there are, unless later ones are there already.
    """
    effort = replace(engine.EFFORT, limit_s=time_limit_s or results.grid.time_limit_s)
    lacking = {trial.key for trial in results.missing()}
    began = time.monotonic()
    for block in results.grid.blocks():
        found: Mapping[str, Measured] = {}
        if any(trial.key in lacking for trial in block):
            block_began = time.monotonic()
            if not budget.allows(block, block_began - began):
                budget.left_out.append(block)
                continue
            found = _run_block(results, block, effort, watcher)
            budget.taken_s[block[0].point] = time.monotonic() - block_began
        wrong = _judge(results, block, watcher)
        watcher.block_ends(block[0].point, {name: one for name, one in found.items() if name not in wrong})
    if budget.left_out and budget.limit_s is not None:
        settled = results.settle_without(budget.left_out)
        left = _counted(results.grid) if settled else f"{len(results.missing())} trials are left for --resume"
        watcher.note(f"the budget of {quantity.duration_s(budget.limit_s)} is used: {left}")


def _counted(grid: Grid) -> str:
    counts = sorted({point.trials for point in grid.points})
    return f"{' or '.join(map(str, counts))} trial{'s' if counts != [1] else ''} of each point"


def forget_failures(results: RunDirectory) -> int:
    """Take failed trials out of the results, so that their blocks run again; returns how many that were.

    What made a trial fail may have passed: a machine out of memory, a time limit, a mistake since corrected. What a
    backend doesn't support stays. So does a trial whose digest was wrong: that one did run, and a second attempt until
    it comes out right would hide that it doesn't always.
    """
    kept = without_failures(results.trials)
    again = len(results.trials) - len(kept)
    if again:
        results.replace_trials(kept)
    return again


def without_failures(trials: Sequence[TrialRecord]) -> list[TrialRecord]:
    """The trials without those that failed and run again."""
    return [one for one in trials if not one.is_failure or digests.is_disagreement(one.status)]


def _judge(results: RunDirectory, block: Block, watcher: Watcher) -> set[str]:
    """Turn trials of the block's point into failures whose digest isn't the point's. Returns the backends that were
    wrong in some trial.
    """
    point = block[0].point
    wrong = digests.disagreements(one for one in results.trials if one.point == (point.workload, point.parameters))
    if not wrong:
        return set()
    results.replace_trials(
        [replace(one, status=wrong[one.trial_key]) if one.trial_key in wrong else one for one in results.trials]
    )
    for (workload, _, backend, index), reason in wrong.items():
        watcher.note(f"FAILED {workload} {point.scenario} {backend} trial {index}: {reason}")
    return {backend for _, _, backend, _ in wrong}


def _run_block(results: RunDirectory, block: Block, effort: Effort, watcher: Watcher) -> dict[str, Measured]:
    started_at, began = machine.timestamp(), time.monotonic()
    results.logs.mkdir(exist_ok=True)
    again = results.grid.repeated(block[0].point)
    trials = {trial.backend: trial for trial in block}
    subjects = [_subject(trial) for trial in block]
    subjects += [_subject(trial, again=True) for trial in block if trial.backend in again]
    logs: dict[str, Path] = {}

    def log(subject: Subject) -> Path:
        logs[subject.name] = results.logs / _log_name(block[0], subject.name)
        return logs[subject.name]

    def starts(subject: Subject) -> None:
        if subject.name in trials:
            watcher.trial_begins(trials[subject.name])

    found: dict[str, Measured] = {}
    try:
        seed = f"{results.grid.seed} {block[0].point.parameters} {block[0].index}"
        found = {one.subject.name: one for one in engine.run(subjects, effort, seed, log, starts)}
    finally:
        for name, path in logs.items():  # without an outcome the block will run again
            if not (name in found and _failed(found[name]) and path.exists() and path.stat().st_size):
                path.unlink(missing_ok=True)
    durations = _durations(block, found, time.monotonic() - began)
    records = [_record(trial, found[trial.backend], started_at, durations[trial.key]) for trial in block]
    taken = [
        turn
        for trial in block
        for copy, name in enumerate((trial.backend, trial.backend + AGAIN))
        if name in found
        for turn in _turns(trial.key, copy, found[name])
    ]
    results.add(records, taken)
    for trial in block:
        enabled = found[trial.backend].gil_enabled
        if enabled is not None:
            results.note_gil(trial.backend, enabled)
        watcher.trial_ends(trial, results.rows_of(trial.key), durations[trial.key])
    return found


def _turns(key: TrialKey, copy: int, measured: Measured) -> Iterator[RecordedTurn]:
    """The rows of what was measured of a trial, none where it failed."""
    if not measured.failure:
        for (sweep, position), turn in measured.turns.items():
            yield RecordedTurn(*key, copy, sweep, position, turn.rounds, turn.wall_ns, turn.cpu_ns)


def _durations(block: Block, found: Mapping[str, Measured], all_s: float) -> dict[TrialKey, float]:
    """What each trial took of the block's time, without its copy; what nobody took is shared."""
    shared = max(0.0, all_s - sum(one.taken_s for one in found.values())) / len(found)
    return {trial.key: found[trial.backend].taken_s + shared for trial in block}


def _failed(measured: Measured) -> bool:
    return bool(measured.failure) and not measured.failure.startswith(UNSUPPORTED)


def _subject(trial: Trial, again: bool = False) -> Subject:
    point, matched = trial.point, BACKENDS[trial.backend].matched
    large = _LARGE_SHARE * psutil.virtual_memory().total
    return Subject(
        f"{trial.backend}{AGAIN}" if again else trial.backend,
        workload_order(point.workload, trial.backend, point.values, point.verify_rounds if matched else 0),
        matched=matched,
        pinned=not trial.backend.startswith(_HEAVY) and point.round_bytes <= large,
        on_one_cpu=runs_alone(point.values, BACKENDS[trial.backend]),
    )


def _record(trial: Trial, measured: Measured, started_at: str, duration_s: float) -> TrialRecord:
    taken = measured.turns.values()
    return TrialRecord(
        *trial.key,
        started_at=started_at,
        duration_s=round(duration_s, 3),
        outside_cores=round(measured.outside_cores, 3),
        workers=workers_of(BACKENDS[trial.backend], trial.point.task),
        digest="" if measured.failure else measured.digest,
        status=measured.failure or OK,
        startup_ns=measured.startup_ns,
        peak_bytes=measured.peak_bytes,
        gil_enabled=measured.gil_enabled,
        measured_ns=sum(turn.wall_ns for turn in taken),
        warmup_turns=measured.warmup_turns,
        warmup_s=round(measured.warmup_s, 3),
        steady=measured.steady,
        idle_share=round(measured.idle_share, 5),
        parked=measured.parked,
        lead_ns=measured.lead_ns,
        **percentiles.of(taken)._asdict(),
    )


def _log_name(trial: Trial, name: str) -> str:
    point = hashlib.blake2b(trial.point.parameters.encode(), digest_size=4).hexdigest()
    return f"{trial.point.workload}-{point}-{name.replace(' ', '-')}-{trial.index}.log"
