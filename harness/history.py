"""All runs there are of one machine, in the order of their commits, and one number of each. Draws nothing.

Runs accumulate: each has a directory of its own, which says on which machine and of which commit it is, and none is
ever written to again. A machine is its processor, cores, memory and interpreter; kernels and packages come and go.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import machine, record, results, series
from harness.errors import UsageError
from harness.grid import Description
from harness.series import Measured, Series
from harness.summary import OURS, point_labels

SPEEDUP = "speedup"
UNVERSIONED = "unversioned"
METRICS = (SPEEDUP, *record.METRICS)

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Run:
    """A run in the history. `time`: of the commit, or of the run where that isn't known; UTC, ISO 8601. `schema`: of
    its files.
    """

    path: Path
    commit: str
    dirty: bool
    time: str
    started_at: str
    machine: str
    schema: int
    measured: Measured

    @property
    def label(self) -> str:
        """The commit, as short as it is told in a figure; a star where the code had been changed."""
        return self.commit[:7] + ("*" if self.dirty else "")


@dataclass(frozen=True)
class Curve:
    """One number over runs: which, of what, and its series by the index of the run."""

    workload: str
    label: str
    backend: str
    unit: str
    points: Mapping[int, Series]


@dataclass(frozen=True)
class History:
    """The runs of one machine, oldest commit first, and the curves over them."""

    machine: str
    metric: str
    runs: tuple[Run, ...]
    curves: tuple[Curve, ...]


def collect(paths: Sequence[Path], tell: Tell) -> list[Run]:
    """The runs at these paths, directories of runs or of directories of runs, in the order of their commits.

    What can't be read or is of several commits is left out, and `tell` is called with a line that says why.
    Raises UsageError where nothing is left.
    """
    found = []
    for path in _directories(paths):
        try:
            found.append(_run(path))
        except UsageError as error:
            tell(f"left out: {error}")
    if not found:
        raise UsageError(f"no runs in {', '.join(map(str, paths))}; expected results of `harness run`")
    return sorted(found, key=lambda run: (run.time, run.commit, run.started_at))


def of_one_machine(runs: Sequence[Run], wanted: str | None, tell: Tell) -> list[Run]:
    """The runs of the machine whose description contains `wanted`, or of the one that ran last.

    Raises UsageError for none and for several.
    """
    counts = Counter(run.machine for run in runs)
    if wanted is None:
        chosen = max(runs, key=lambda run: run.started_at).machine
    else:
        matching = [name for name in counts if wanted.lower() in name.lower()]
        if len(matching) != 1:
            raise UsageError(f"--machine {wanted}: {len(matching)} of these match: {'; '.join(counts)}")
        chosen = matching[0]
    for name, count in counts.items():
        if name != chosen:
            tell(f"left out: {count} runs of another machine: {name}")
    return [run for run in runs if run.machine == chosen]


def of_one_schema(runs: Sequence[Run], tell: Tell) -> list[Run]:
    """The runs whose files have the newest schema of these: the values of another mean something else."""
    counts = Counter(run.schema for run in runs)
    newest = max(counts)
    if len(counts) > 1:
        others = ", ".join(f"{counts[schema]} of schema {schema}" for schema in sorted(counts.keys() - {newest}))
        tell(f"left out: runs whose values mean something else than in schema {newest}: {others}")
    return [run for run in runs if run.schema == newest]


def history(
    runs: Sequence[Run],
    metric: str,
    baseline: str,
    workloads: Sequence[str] = (),
    backends: Sequence[str] = (),
) -> History:
    """A metric over runs of one machine and schema; with SPEEDUP, that of the reactor backends over `baseline`.

    Empty sequences stand for every workload, and for every reactor backend. Raises UsageError where nothing is left.
    """
    wanted = f"speedup over {baseline}" if metric == SPEEDUP else metric
    labels = point_labels([row for run in runs for row in run.measured.points])
    found: dict[tuple[str, str, str], dict[int, Series]] = {}
    for index, run in enumerate(runs):
        for one in run.measured.series:
            shown = one.backend in backends or (not backends and one.backend.startswith(OURS))
            if one.metric == wanted and shown and (not workloads or one.workload in workloads):
                label = labels[one.workload, one.parameters]
                found.setdefault((one.workload, label, one.backend), {})[index] = one
    if not found:
        raise UsageError(f"none of the {len(runs)} runs has {wanted} of what was asked for")
    curves = (Curve(*key, next(iter(points.values())).unit, points) for key, points in sorted(found.items()))
    return History(runs[0].machine, wanted, tuple(runs), tuple(curves))


def _directories(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if (path / record.FILE_NAME).exists():
            yield path
        elif path.is_dir():
            yield from sorted(file.parent for file in path.glob(f"*/{record.FILE_NAME}"))
        else:
            raise UsageError(f"{path}: no such directory; expected results of `harness run`")


def _run(path: Path) -> Run:
    measured = series.read(path)
    sessions = measured.machine.get("sessions", [])
    if not sessions:
        raise UsageError(f"{path}: no {machine.FILE_NAME} that says where it was measured")
    if len({session.get("commit") for session in sessions}) > 1:
        raise UsageError(f"{path}: its rows are of several commits")
    session = sessions[0]
    commit, started_at = session.get("commit") or UNVERSIONED, str(session.get("started_at", ""))
    return Run(
        path=path,
        commit=commit,
        dirty=any(one.get("dirty") for one in sessions),
        time=session.get("commit_time") or _commit_time(commit) or started_at,
        started_at=started_at,
        machine=_name(measured.machine),
        schema=_schema(path),
        measured=measured,
    )


def _schema(path: Path) -> int:
    grid = path / results.GRID_NAME
    if not grid.exists():
        return 1
    schema: int = record.read_object(grid, Description, results.EXPECTED).get("schema", 1)
    return schema


def _commit_time(commit: str) -> str | None:
    return None if commit == UNVERSIONED else machine.commit_time(commit)


def _name(described: Mapping[str, Any]) -> str:
    cpu, interpreter = described.get("cpu", {}), described.get("interpreter", {})
    threads = " free-threaded" if interpreter.get("free_threaded_build") else ""
    cores, memory_gib = described.get("cores_allowed", "?"), described.get("memory_gib", "?")
    python = f"{interpreter.get('implementation', '?')} {interpreter.get('version', '?')}{threads}"
    return f"{cpu.get('model', 'unknown CPU')}, {cores} cores, {memory_gib} GiB, {python}"
