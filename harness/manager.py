"""Runs a grid: each trial in a fresh process under its own supervisor, rows on the disk as they come.

Owns the loop over trials and the verdict on each. Knows nothing of what a workload computes.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from harness import checks, machine
from harness.details import Detail
from harness.grid import Block, Point, Trial, workers_of
from harness.record import UNSUPPORTED, Row, TrialKey, one_line
from harness.results import Results
from workloads.catalogue import BACKENDS
from workloads.ray_styles import THREAD_LIMITS, is_setting

# Numeric libraries get one thread per worker, on every backend alike.
WORKER_VARIABLES = {
    **THREAD_LIMITS,
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
# What the supervisor may take, beyond the trial's own limit, to start and to clean up.
_GRACE_SECONDS = 30.0
# Ray's sockets lie below the scratch directory, and a socket's path has at most 107 characters.
_SCRATCH_PARENT_CHARACTERS = 24
_STATE_CHARACTERS = 16


class Watcher(Protocol):
    """Who is told how the run goes on."""

    def trial_begins(self, trial: Trial) -> None:
        """A trial is about to run."""

    def trial_ends(self, trial: Trial, rows: list[Row], duration_s: float) -> None:
        """A trial's rows are on the disk."""

    def note(self, line: str) -> None:
        """Something else that the user should know."""


def run(results: Results, watcher: Watcher, time_limit_s: float | None = None) -> None:
    """Run what is missing from the results. Raises OSError when a row can't be written.

    `time_limit_s`: for one trial, instead of the grid's.
    """
    limit_s = time_limit_s or results.grid.time_limit_s
    verified = _verified(results.rows)
    present = {row.key for row in results.rows}
    for block in results.grid.blocks():
        for trial in block:
            wanted = [metric for metric in trial.point.units if (*trial.key, metric) not in present]
            if wanted:
                watcher.trial_begins(trial)
                rows, detail = _run_trial(results, trial, verified, limit_s)
                kept = [row for row in rows if row.metric in wanted]
                results.add(kept, detail)
                watcher.trial_ends(trial, kept, detail.duration_s)
        _judge(results, block, watcher)


def forget_failures(results: Results) -> int:
    """Take the rows of failed trials out of the results, so that they run again; returns how many trials that were.

    What made a trial fail may have passed: a machine out of memory, a time limit, a mistake since corrected. What a
    backend doesn't support stays. So does a trial whose digest was wrong: that one did run, and a second attempt until
    it comes out right would hide that it doesn't always.
    """
    kept, again = without_failures(results.rows)
    if again:
        results.replace_rows(kept)
    return again


def without_failures(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The rows without those of failed trials that run again, and how many trials these are."""
    failed = {row.trial_key for row in rows if row.is_failure and not checks.is_disagreement(row.status)}
    return [row for row in rows if row.trial_key not in failed], len(failed)


def _verified(rows: list[Row]) -> dict[TrialKey, str]:
    """Digests of the verified runs, as the rows carry them, by point and backend (trial 0 stands for all)."""
    return {(*row.trial_key[:3], 0): row.digest.partition("-")[0] for row in rows if row.digest}


def _judge(results: Results, block: Block, watcher: Watcher) -> None:
    """Turn rows of the block's point into failures whose digest isn't the point's, now that all are there."""
    point = block[0].point
    wrong = checks.disagreements(row for row in results.rows if row.point == (point.workload, point.parameters))
    if not wrong:
        return
    results.replace_rows([row.failed(wrong[row.trial_key]) if row.trial_key in wrong else row for row in results.rows])
    for (workload, _, backend, index), reason in wrong.items():
        watcher.note(f"FAILED {workload} {point.scenario} {backend} trial {index}: {reason}")


def _run_trial(
    results: Results, trial: Trial, verified: dict[TrialKey, str], time_limit_s: float
) -> tuple[list[Row], Detail]:
    """Run a trial; its rows and detail, whatever happened. Adds to `verified`."""
    point, key = trial.point, (*trial.key[:3], 0)
    started_at, began = machine.timestamp(), time.monotonic()
    matched = BACKENDS[trial.backend].matched
    order = {
        "workload": point.workload,
        "backend": trial.backend,
        "parameters": point.values,
        "verify_rounds": 0 if key in verified or not matched else point.verify_rounds,
    }
    results.logs.mkdir(exist_ok=True)
    log = results.logs / _log_name(trial)
    try:
        verdict = supervise(order, log, time_limit_s)
    except BaseException:
        log.unlink(missing_ok=True)  # the trial will run again
        raise
    result = verdict.get("result") or {}
    failure = _failure_of(verdict, result, time_limit_s)
    if failure:
        values, digest = {}, ""
    else:
        verified.setdefault(key, result["verify_digest"])
        values = {metric["name"]: metric["value"] for metric in result["metrics"]}
        values["peak_rss"] = max(verdict["peak_bytes"], result["peak_bytes"])
        digest = f"{verified[key]}-{result['state_digest'][:_STATE_CHARACTERS]}" if matched else ""
        results.note_gil(trial.backend, result["gil_enabled"])
    if not failure or not log.stat().st_size:
        log.unlink(missing_ok=True)
    rows = [
        dataclasses.replace(row, value=values.get(row.metric), digest=digest, status=failure or "ok")
        for row in _blank_rows(results.run_id, started_at, trial)
    ]
    detail = Detail(
        *trial.key,
        started_at=started_at,
        duration_s=round(time.monotonic() - began, 3),
        outside_cores=round(verdict.get("outside_cores", 0.0), 3),
        stragglers=verdict.get("stragglers", 0),
        gil_enabled=result.get("gil_enabled"),
        measured_ns=result.get("measured_ns"),
        rounds=result.get("rounds"),
        round_ns=result.get("round_ns"),
    )
    return rows, detail


def ask(order: dict[str, Any], log: Path, time_limit_s: float) -> tuple[dict[str, Any], str]:
    """What a fresh process answers under a supervisor, and in one line why it has no answer; keeps no log."""
    try:
        verdict = supervise(order, log, time_limit_s)
    finally:
        log.unlink(missing_ok=True)
    result = verdict.get("result") or {}
    return result, _failure_of(verdict, result, time_limit_s)


def _failure_of(verdict: dict[str, Any], result: dict[str, Any], time_limit_s: float) -> str:
    """Why the trial gave no result, in one line; empty where it did."""
    if "error" in result:
        return str(result["error"])
    if "unsupported" in result:
        return one_line(f"{UNSUPPORTED}{result['unsupported']}")
    if verdict.get("reason") == "time limit":
        return f"time limit: no result after {time_limit_s:g} s"
    if "exit_status" not in verdict:
        return "the trial's supervisor died"
    if result and verdict["exit_status"] == 0:
        return ""
    status = verdict["exit_status"]
    if status is not None and status < 0:
        name = signal.Signals(-status).name
        return f"killed by {name}" + (" (out of memory?)" if -status == signal.SIGKILL else "")
    return one_line(f"exited with status {status} " + ("after" if result else "before") + " reporting a result")


def _blank_rows(run_id: str, started_at: str, trial: Trial) -> list[Row]:
    return [
        Row(
            run_id=run_id,
            started_at=started_at,
            backend=trial.backend,
            workers=workers_of(BACKENDS[trial.backend]),
            trial=trial.index,
            metric=metric,
            value=None,
            unit=unit,
            digest="",
            status="",
            **trial.point.columns,
        )
        for metric, unit in trial.point.units.items()
    ]


def _log_name(trial: Trial) -> str:
    return f"{trial.point.workload}-{_short_hash(trial.point)}-{trial.backend}-{trial.index}.log"


def _short_hash(point: Point) -> str:
    return hashlib.blake2b(point.parameters.encode(), digest_size=4).hexdigest()


def supervise(order: dict[str, Any], log: Path, time_limit_s: float) -> dict[str, Any]:
    """Run a trial under a supervisor; what that reported, or nothing where it died."""
    with _scratch() as scratch, log.open("wb") as log_file:
        supervisor = subprocess.Popen(
            [sys.executable, "-m", "harness.supervisor"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log_file,
            env=_environment(scratch),
            start_new_session=True,  # the terminal's Ctrl-C is for the harness, which then ends the trial
        )
        assert supervisor.stdin is not None
        assert supervisor.stdout is not None
        try:
            line = {"worker": order, "scratch": str(scratch), "time_limit_s": time_limit_s}
            with contextlib.suppress(BrokenPipeError):
                supervisor.stdin.write(json.dumps(line).encode() + b"\n")
                supervisor.stdin.flush()
            answer = _read_answer(supervisor.stdout.fileno(), time_limit_s + _GRACE_SECONDS)
        finally:
            with _signals_held(), contextlib.suppress(BrokenPipeError):
                supervisor.stdin.close()  # the supervisor takes this for the harness's end
                _await_end(supervisor)
                supervisor.stdout.close()
    verdict: dict[str, Any] = json.loads(answer) if answer.endswith(b"\n") else {}
    return verdict


def _read_answer(descriptor: int, limit_s: float) -> bytes:
    """All that the supervisor says, or what it has said when the limit is over."""
    answer, give_up = b"", time.monotonic() + limit_s
    while select.select([descriptor], [], [], max(0.0, give_up - time.monotonic()))[0]:
        chunk = os.read(descriptor, 65536)
        if not chunk:
            break
        answer += chunk
    return answer


def _await_end(supervisor: subprocess.Popen[bytes]) -> None:
    try:
        supervisor.wait(_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(supervisor.pid, signal.SIGKILL)
        supervisor.wait()


@contextlib.contextmanager
def _signals_held() -> Iterator[None]:
    """Keep a second Ctrl-C from cutting the cleaning short, which is bounded in time."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    """A directory for everything temporary of one trial, Ray's session included."""
    parent = tempfile.gettempdir()
    if len(parent) > _SCRATCH_PARENT_CHARACTERS:
        parent = "/tmp"
    path = Path(tempfile.mkdtemp(prefix="rb-", dir=parent))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _environment(scratch: Path) -> dict[str, str]:
    # Nothing of what a user tells Ray, be it another cluster: each style of session sets all that is not Ray's default.
    kept = {name: value for name, value in os.environ.items() if not is_setting(name)}
    root = str(Path(__file__).resolve().parent.parent)
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    temporary = {"TMPDIR": str(scratch), "RAY_TMPDIR": str(scratch), "PYTHONPATH": os.pathsep.join(paths)}
    return kept | WORKER_VARIABLES | temporary
