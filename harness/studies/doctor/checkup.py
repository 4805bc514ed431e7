"""`harness doctor`: runs the probes, each with a time limit, and prints all that a report of trouble needs.

It also names circumstances on this machine that would harm a measurement. Changes nothing.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
from rich.console import Console

from harness.measure.measured_processes import OWN_TREE, WORKER_VARIABLES
from harness.stats.doubts import LOADED_SHARE
from harness.store import machine
from harness.store.machine import word
from harness.studies.doctor import probes
from workloads import memory

LIMIT_S = 120.0  # a Ray that does not start reports it after a minute of its own
_NOT_HERE = ("ModuleNotFoundError", "ImportError", "workloads.parameter.UnsupportedError")
SHARED_MEMORY = Path("/dev/shm")
_GIB = 2**30
# Ray's actors of the largest points take as much.
ENOUGH_MEMORY = 4 * _GIB
# Ray keeps objects in /tmp, on a disk, where shared memory is smaller than its store, 30 % of the memory.
STORE_SHARE = 0.3
WATCHED_S = 1.0
_SHOWN_GROUPS = 4
STEAL = 0.02


@dataclass(frozen=True)
class ProbeResult:
    """The result of a probe: "works", "fails", or "absent" where what it needs is not installed."""

    name: str
    state: str
    words: str
    needed: bool


def run(names: Iterable[str], as_json: bool, console: Console) -> int:
    """Run the probes of these names and print the findings; 1 where something fails that the suite needs."""
    described, session = machine.describe(), machine.describe_session(["doctor"], WORKER_VARIABLES)
    disturbing = harms(described, session, look())
    found = [probed(name) for name in names]
    if as_json:
        told = {"machine": described, "session": session, "works": [asdict(one) for one in found], "harms": disturbing}
        print(json.dumps(told, indent=2))
    else:
        for line in _lines(described, session, found, disturbing):
            console.print(line)
    return int(any(one.needed and one.state != "works" for one in found))


def probed(name: str) -> ProbeResult:
    """Run one probe to its end or to its time limit."""
    needed, command = name in probes.NEEDED, [sys.executable, "-m", "harness.studies.doctor.probes", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False, cwd=OWN_TREE)
    except subprocess.TimeoutExpired:
        return ProbeResult(name, "fails", f"did not end within {LIMIT_S:.0f} s", needed)
    if done.returncode == 0:
        return ProbeResult(name, "works", probes.last_line(done.stdout), needed)
    reason = probes.last_line(done.stderr) or f"ended with {done.returncode}"
    return ProbeResult(name, "absent" if reason.startswith(_NOT_HERE) else "fails", reason, needed)


def _lines(
    described: Mapping[str, Any], session: Mapping[str, Any], found: Iterable[ProbeResult], harms: Iterable[str]
) -> Iterator[str]:
    cpu, interpreter = described["cpu"], described["interpreter"]
    gil = "free-threaded" if interpreter["free_threaded_build"] else "with a GIL"
    yield "The machine"
    used = f"{described['cores_allowed']} cores{machine.sharing(described)}"
    yield f"  {cpu['model']}, {cpu['architecture']}; {used} are used, of {cpu['cores']} CPUs"
    yield f"  {described['memory_gib']} GiB, {described['kernel']}"
    yield f"  {interpreter['implementation']} {interpreter['version']}, {gil}"
    yield f"  {', '.join(f'{name} {version}' for name, version in described['packages'].items())}"
    yield f"  commit {session['commit'] or 'unknown'}{', with changes' if session['dirty'] else ''}"
    yield "What works"
    for one in found:
        yield f"  {one.state:<7} {one.name}: {one.words}{'' if one.needed else ' (not needed)'}"
    yield "What would harm a measurement"
    yield from [f"  {harm}" for harm in harms] or ["  nothing was seen"]


@dataclass(frozen=True)
class Circumstances:
    """The state of the machine; None for what it does not report.

    `busy_cores`, `stolen`: the cores that others kept busy, and the share of the time that the host gave to others.
    `quota_cpus`: of the control group, not rounded.
    """

    affinity: int
    quota_cpus: float | None
    busy_cores: float
    stolen: float
    available_bytes: int
    total_bytes: int
    shared_free_bytes: int | None


def look() -> Circumstances:
    """Watch the machine for a second."""
    each = psutil.cpu_times_percent(WATCHED_S, percpu=True)
    spent = [one for cpu, one in enumerate(each) if cpu in os.sched_getaffinity(0)] or each
    return Circumstances(
        affinity=len(os.sched_getaffinity(0)),
        quota_cpus=_quota(Path("/sys/fs/cgroup")),
        busy_cores=sum(max(0.0, 100 - one.idle - one.iowait) for one in spent) / 100,
        stolen=fmean(one.steal for one in spent) / 100,
        available_bytes=memory.free(),
        total_bytes=memory.total(),
        shared_free_bytes=shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.is_dir() else None,
    )


def _quota(group: Path) -> float | None:
    """CPUs of the control group's quota (v2)."""
    words = (word(group / "cpu.max") or "max").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0] != "max" else None


def harms(described: Mapping[str, Any], session: Mapping[str, Any], seen: Circumstances) -> list[str]:
    """One line for each circumstance that would make numbers of this machine worse, or not comparable.

    `described`, `session`: from `machine.describe` and `machine.describe_session`.
    """
    found = list(_of_processors(described, seen))
    if seen.available_bytes < ENOUGH_MEMORY:
        found.append(f"{seen.available_bytes / _GIB:.1f} GiB of memory are free; expected {ENOUGH_MEMORY / _GIB:.0f}")
    shared = seen.shared_free_bytes or 0
    if shared < STORE_SHARE * seen.total_bytes:
        expected = f"expected {STORE_SHARE:.0%} of the memory (docker: --shm-size)"
        found.append(f"{SHARED_MEMORY} has {shared / _GIB:.1f} GiB free: Ray keeps objects on disk; {expected}")
    if session["variables"]:
        found.append(f"set in the environment: {', '.join(session['variables'])}")
    if session["dirty"]:
        found.append("uncommitted changes: the rows will not name the code they are of")
    return found


def _of_processors(described: Mapping[str, Any], seen: Circumstances) -> Iterator[str]:
    cores = described["cores_allowed"]
    if cores < 2:
        yield "one core: parallel backends can gain nothing"
    if seen.quota_cpus is not None and seen.quota_cpus < seen.affinity:
        yield f"a quota of {seen.quota_cpus:g} CPUs on {seen.affinity}: a busy process is stopped for milliseconds"
    if seen.busy_cores > LOADED_SHARE * cores:
        yield f"other processes keep {seen.busy_cores:.1f} of {cores} cores busy"
    if seen.stolen > STEAL:
        yield f"the host gives {seen.stolen:.0%} of the time to others (steal)"
    governors = described["clock_speed"]["governors"]
    if governors and governors != ["performance"]:
        yield f"CPU governor {', '.join(governors)}: clock speed follows load; expected performance"
    if described["clock_speed"]["turbo"]:
        yield "turbo is on: one busy core is faster than many"
    if shared := [group for group in described["siblings"] or () if "," in group or "-" in group]:
        more = f"; and {len(shared) - _SHOWN_GROUPS} more" if len(shared) > _SHOWN_GROUPS else ""
        told = "; ".join(shared[:_SHOWN_GROUPS]) + more
        yield f"CPUs that share a core (threads {told}): two are less than twice one, and a core counts once"
    if described.get("numa_nodes", 1) > 1:
        yield f"cores on {described['numa_nodes']} NUMA nodes: the memory of another node is slower"
