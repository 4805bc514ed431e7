"""What would harm a measurement here: seen now, on this machine, in this environment. Changes nothing."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from harness.stats.doubts import LOADED_SHARE
from harness.store.machine import word

SHARED_MEMORY = Path("/dev/shm")
_GIB = 2**30
# Ray's actors of the largest points take as much, and what is swapped out is measured as slow.
ENOUGH_MEMORY = 4 * _GIB
# Ray keeps objects in /tmp, on a disk, where shared memory is smaller than its store, 30 % of the memory.
STORE_SHARE = 0.3
WATCHED_S = 1.0
STEAL = 0.02
SLOW_TICK_NS = 1_000


@dataclass(frozen=True)
class Circumstances:
    """What was seen; None for what this machine does not say.

    `busy_cores`, `stolen`: while we only looked: cores that others kept busy, and the share of the time that the host
    gave to others. `quota_cpus`: of the control group, as it is written, not rounded.
    """

    affinity: int
    quota_cpus: float | None
    busy_cores: float
    stolen: float
    available_bytes: int
    total_bytes: int
    swapped_bytes: int
    shared_free_bytes: int | None
    on_battery: bool
    clock_source: str | None


def look() -> Circumstances:
    """Watch the machine for a second."""
    before, began = psutil.cpu_times(), time.monotonic()
    time.sleep(WATCHED_S)
    now, elapsed = psutil.cpu_times(), time.monotonic() - began
    spent = {name: getattr(now, name) - getattr(before, name) for name in now._fields}
    idle = spent["idle"] + spent.get("iowait", 0.0)
    total = sum(spent[name] for name in spent if not name.startswith("guest")) or 1.0
    memory, battery = psutil.virtual_memory(), psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    return Circumstances(
        affinity=len(os.sched_getaffinity(0)),
        quota_cpus=_quota(Path("/sys/fs/cgroup")),
        busy_cores=max(0.0, (total - idle) / elapsed),
        stolen=spent.get("steal", 0.0) / total,
        available_bytes=memory.available,
        total_bytes=memory.total,
        swapped_bytes=psutil.swap_memory().used,
        shared_free_bytes=shutil.disk_usage(SHARED_MEMORY).free if SHARED_MEMORY.is_dir() else None,
        on_battery=battery is not None and battery.power_plugged is False,
        clock_source=word(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
    )


def _quota(group: Path) -> float | None:
    """CPUs of the control group's quota (v2)."""
    words = (word(group / "cpu.max") or "max").split()
    return int(words[0]) / int(words[1]) if len(words) == 2 and words[0] != "max" else None


def harms(described: Mapping[str, Any], session: Mapping[str, Any], seen: Circumstances) -> list[str]:
    """One line for each thing that would make numbers of this machine worse, or not comparable.

    `described`, `session`: as `machine.describe` and `machine.describe_session` give them.
    """
    return [*_of_processors(described, seen), *_of_memory(seen), *_of_time(described, seen), *_of_surroundings(session)]


def _of_processors(described: Mapping[str, Any], seen: Circumstances) -> Iterator[str]:
    cores = described["cores_allowed"]
    if cores < 2:
        yield "one core: what is parallel can gain nothing"
    if seen.quota_cpus is not None and seen.quota_cpus < seen.affinity:
        yield f"a quota of {seen.quota_cpus:g} CPUs on {seen.affinity}: whoever uses more is stopped for milliseconds"
    if seen.busy_cores > LOADED_SHARE * cores:
        yield f"other processes keep {seen.busy_cores:.1f} of {cores} cores busy"
    if seen.stolen > STEAL:
        yield f"the host gives {seen.stolen:.0%} of the time to others (steal)"
    governors = described["clock_speed"]["governors"]
    if governors and governors != ["performance"]:
        yield f"CPU governor {', '.join(governors)}: clock speed follows load; expected performance"
    if described["clock_speed"]["turbo"]:
        yield "turbo is on: one busy core is faster than many"
    if any("," in group or "-" in group for group in described["siblings"] or ()):
        yield f"CPUs that share a core (threads {'; '.join(described['siblings'])}): two are less than twice one"


def _of_memory(seen: Circumstances) -> Iterator[str]:
    if seen.available_bytes < ENOUGH_MEMORY:
        yield f"{seen.available_bytes / _GIB:.1f} GiB of memory are free; expected {ENOUGH_MEMORY / _GIB:.0f}"
    if seen.swapped_bytes:
        yield f"{seen.swapped_bytes / _GIB:.1f} GiB are swapped out"
    if seen.shared_free_bytes is None:
        yield f"no {SHARED_MEMORY}: Ray keeps its objects on disk"
    elif seen.shared_free_bytes < STORE_SHARE * seen.total_bytes:
        yield (
            f"{SHARED_MEMORY} has {seen.shared_free_bytes / _GIB:.1f} GiB free: Ray keeps objects on disk; expected "
            f"{STORE_SHARE:.0%} of the memory (docker: --shm-size)"
        )


def _of_time(described: Mapping[str, Any], seen: Circumstances) -> Iterator[str]:
    if described["clock"]["tick_ns"] > SLOW_TICK_NS:
        yield f"the clock ticks every {described['clock']['tick_ns']} ns ({seen.clock_source or 'source unknown'})"
    if seen.on_battery:
        yield "on battery: the clock speed is lowered"


def _of_surroundings(session: Mapping[str, Any]) -> Iterator[str]:
    if session["variables"]:
        yield f"set in the environment: {', '.join(session['variables'])}"
    if session["dirty"]:
        yield "uncommitted changes: the rows will not say of which code they are"
