"""The run of a grid, block by block: a point's backends alive together in turns, files written when a block is done.

Owns the loop over blocks, the choice of a block's subjects, and the verdict on each. Knows nothing of what a workload
computes.
"""

import hashlib
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from harness import quantity
from harness.measure import block as engine
from harness.measure import percentiles
from harness.measure.block import AGAIN, Effort, Measured
from harness.measure.kept import Kept
from harness.measure.measured_processes import Subject, workload_order
from harness.measure.progress import Display
from harness.plan import needs
from harness.plan.grid import Block, Point, Trial, bytes_of_round, runs_alone
from harness.store import digests, machine
from harness.store.recorded_turns import RecordedTurn
from harness.store.run_directory import RunDirectory
from harness.store.status import OK, UNSUPPORTED, one_line
from harness.store.trial_records import TrialRecord
from workloads import memory
from workloads.catalogue import backend_of, workers_of

# Ray's sessions take the most memory and the longest to start. Where memory is short, they come in waves.
# Where a round's arrays take more than this part of the memory, all backends do.
_RAY = "ray-"
_LARGE_SHARE = 1 / 16


@dataclass
class Budget:
    """The time of a run, after which no further block begins. None is no limit.

    `taken_s`: by the last block of each point. `left_out`: the blocks that were not allowed.
    """

    limit_s: float | None = None
    taken_s: dict[Point, float] = field(default_factory=dict)
    left_out: list[Block] = field(default_factory=list)

    def allows(self, block: Block, spent_s: float) -> bool:
        """Whether a block runs now. The first block of a point does. Another one runs if it should end in time. Its
        expected length is that of the last block of its point, or else of the longest of all.
        """
        needed_s = self.taken_s.get(block[0].point, max(self.taken_s.values(), default=0.0))
        return self.limit_s is None or not block[0].index or spent_s + needed_s <= self.limit_s


def run(results: RunDirectory, display: Display, time_limit_s: float | None, budget: Budget) -> None:
    """Run what the results lack. Raises OSError when a file can't be written.

    `time_limit_s`: for each thing that a trial is asked, its start included, instead of the grid's. Blocks that the
    budget leaves out are no part of the grid any more, unless later blocks of their points were measured before.
    """
    effort = replace(engine.EFFORT, limit_s=time_limit_s or results.grid.time_limit_s)
    lacking = {trial.key for trial in results.missing()}
    began = time.monotonic()
    with Kept() as kept:
        for block in results.grid.blocks():
            if any(trial.key in lacking for trial in block):
                block_began = time.monotonic()
                if not budget.allows(block, block_began - began):
                    budget.left_out.append(block)
                    continue
                _run_block(results, block, effort, display, kept)
                budget.taken_s[block[0].point] = time.monotonic() - block_began
                display.block_ends(block[0].point)
            _judge(results, block, display)
    if budget.left_out and budget.limit_s is not None:
        settled = results.settle_without(budget.left_out)
        counts = sorted({point.trials for point in results.grid.points})
        trials = f"{' or '.join(map(str, counts))} trial{'s' if counts != [1] else ''} of each point"
        left = trials if settled else f"{len(results.missing())} trials are left for --resume"
        display.note(f"the budget of {quantity.duration_s(budget.limit_s)} is used: {left}")


def _judge(results: RunDirectory, block: Block, display: Display) -> None:
    """Turn trials of the block's point into failures whose digest isn't the point's."""
    wrong = digests.disagreements(one for one in results.trials if one.point == block[0].point.name)
    if not wrong:
        return
    judged = [replace(one, status=wrong[one.trial_key]) if one.trial_key in wrong else one for one in results.trials]
    results.replace_trials(judged)
    for trial, reason in wrong.items():
        display.note(f"FAILED {trial}: {reason}")


def _run_block(results: RunDirectory, block: Block, effort: Effort, display: Display, kept: Kept) -> None:
    started_at, began = machine.timestamp(), time.monotonic()
    kept.begin(block[0].index)
    if bytes_of_round(block[0].point.values):  # the memory that its arrays took in a store is not given back
        kept.end()
    found = _measured(results, block, effort, display, kept)
    for trial in block:  # a copy that failed would make the noise look smaller
        own, copy = found[trial.backend], found.get(trial.backend + AGAIN)
        if copy is not None and copy.failure and not own.failure:
            own.failure = one_line(f"its copy, which measures the noise, failed: {copy.failure}")
    # The rest of the block's time is shared.
    shared_s = max(0.0, time.monotonic() - began - sum(one.taken_s for one in found.values())) / len(found)
    records = [_record(trial, found[trial.backend], started_at, shared_s) for trial in block]
    results.add(records, [turn for trial in block for turn in _turns(trial, found)])
    for trial, record in zip(block, records, strict=True):
        display.trial_ends(trial, record)


def _measured(results: RunDirectory, block: Block, effort: Effort, display: Display, kept: Kept) -> dict[str, Measured]:
    """The block's subjects by name, measured. Only the logs of failed ones stay, each under a name of its own."""
    results.logs.mkdir(exist_ok=True)
    again = results.grid.repeated(block[0].point)
    trials = {trial.backend: trial for trial in block}
    pythons = {trial: results.interpreters[backend_of(trial.backend).interpreter] for trial in block}
    subjects = [subject_of(trial, python=python) for trial, python in pythons.items()]
    subjects += [subject_of(trial, True, python) for trial, python in pythons.items() if trial.backend in again]
    logs = {
        one.name: results.logs / f"{one.name.replace(' ', '-').replace(':', '-')}-{block[0].index}.log"
        for one in subjects
    }

    def starts(subject: Subject) -> None:
        if subject.name in trials:
            display.trial_begins(trials[subject.name])

    # A backend that cannot run here is not started. Its row says why.
    reasons = {trial.backend: reason for trial in block if (reason := needs.why_not(trial.point, trial.backend))}
    absent = {one.name: told for one in subjects if (told := reasons.get(one.name.removesuffix(AGAIN)))}
    found: dict[str, Measured] = {}
    point = block[0].point
    seed = f"{results.grid.seed} {point.name} {block[0].index}"
    place = f"{point.workload}-{hashlib.blake2b(point.name.encode(), digest_size=4).hexdigest()}"
    try:
        able = [one for one in subjects if one.name not in absent]
        found = engine.run(able, effort, seed, lambda subject: logs[subject.name], starts, kept)
        found |= {one.name: Measured(one, f"{UNSUPPORTED}{absent[one.name]}") for one in subjects if one.name in absent}
    finally:
        for name, path in logs.items():
            failure = found[name].failure if name in found else ""
            stays = path.with_name(f"{place}-{path.name}")
            stays.unlink(missing_ok=True)  # of an attempt before
            if failure and not failure.startswith(UNSUPPORTED) and path.exists() and path.stat().st_size:
                path.rename(stays)
            elif path not in kept.logs:
                path.unlink(missing_ok=True)
    return found


def _turns(trial: Trial, found: Mapping[str, Measured]) -> Iterator[RecordedTurn]:
    """The turns of a trial and of its copy, without those of a failure."""
    for copy, name in enumerate((trial.backend, trial.backend + AGAIN)):
        if name in found and not found[name].failure:
            for (sweep, position), turn in found[name].turns.items():
                place = {**trial.columns, "copy": copy, "sweep": sweep, "position": position}
                yield RecordedTurn(**place, rounds=turn.rounds, wall_ns=turn.wall_ns, cpu_ns=turn.cpu_ns)


def subject_of(trial: Trial, again: bool = False, python: str = sys.executable) -> Subject:
    """The subject that runs a trial on an interpreter. `again`: a second one, by which a run measures its noise."""
    point, matched = trial.point, backend_of(trial.backend).matched
    round_bytes = bytes_of_round(point.values)
    is_ray = trial.backend.startswith(_RAY)
    return Subject(
        f"{trial.backend}{AGAIN}" if again else trial.backend,
        workload_order(point.workload, trial.backend, point.values, point.verify_rounds if matched else 0),
        matched=matched,
        pinned=not is_ray and round_bytes <= _LARGE_SHARE * memory.total(),
        on_one_cpu=runs_alone(point.values, backend_of(trial.backend)),
        kept=is_ray and not (again or round_bytes or backend_of(trial.backend).on_two_nodes),
        interpreter=python,
    )


def _record(trial: Trial, measured: Measured, started_at: str, shared_s: float) -> TrialRecord:
    taken = measured.turns.values()
    return TrialRecord(
        **trial.columns,
        started_at=started_at,
        duration_s=round(measured.taken_s + shared_s, 3),
        outside_cores=round(measured.outside_cores, 3),
        workers=workers_of(backend_of(trial.backend), trial.point.task),
        digest="" if measured.failure else measured.digest,
        status=measured.failure or OK,
        measured_ns=sum(turn.wall_ns for turn in taken),
        warmup_s=round(measured.warmup_s, 3),
        idle_share=round(measured.idle_share, 5),
        startup_ns=measured.startup_ns,
        peak_bytes=measured.peak_bytes,
        gil_enabled=measured.gil_enabled,
        warmup_turns=measured.warmup_turns,
        steady=measured.steady,
        parked=measured.parked,
        lead_ns=measured.lead_ns,
        **percentiles.of(taken),
    )
