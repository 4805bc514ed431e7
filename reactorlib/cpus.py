"""The cores that this process may use, whether its threads can use them, and the limits of its control groups."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")
TOPOLOGY = Path("/sys/devices/system/cpu")
# Python 3.13 reads this variable as the number of CPUs.
COUNT_VARIABLE = "PYTHON_CPU_COUNT"


def available_cpus() -> int:
    """The default number of workers of all executors: `usable_cpus`, or the variable PYTHON_CPU_COUNT in its place."""
    with suppress(ValueError):
        if (told := int(os.environ.get(COUNT_VARIABLE, ""))) > 0:
            return told
    return usable_cpus()


def usable_cpus() -> int:
    """The number of workers that can really run at the same time.

    It is the number of cores in the affinity of this process, each counted once however many hardware threads it has.
    The least quota of its control groups limits it. A single core with several threads counts as two.
    """
    found = cores()
    count = len(found) if len(found) > 1 else min(2, len(found[0]))
    quota = quota_cpus()
    return max(1, min(count, quota) if quota else count)


def cores() -> tuple[tuple[int, ...], ...]:
    """The CPUs in the affinity of this process, by the core whose hardware threads they are.

    Cores of one NUMA node are neighbours. Where the system does not tell which CPUs share a core, each has its own.
    """
    if not hasattr(os, "sched_getaffinity"):
        return tuple((cpu,) for cpu in range(os.cpu_count() or 1))
    return _by_core(frozenset(os.sched_getaffinity(0)), TOPOLOGY)


def numa_node(cpu: int) -> int:
    """The NUMA node of a CPU, 0 where the system does not tell it."""
    names = (path.name.removeprefix("node") for path in (TOPOLOGY / f"cpu{cpu}").glob("node*"))
    return next((int(name) for name in names if name.isdigit()), 0)


@lru_cache(maxsize=8)
def _by_core(cpus: frozenset[int], topology: Path) -> tuple[tuple[int, ...], ...]:
    """Reads a file for each CPU, which takes milliseconds where there are hundreds."""
    found: dict[tuple[int, str], list[int]] = {}
    for cpu in sorted(cpus):
        siblings = ""
        with suppress(OSError, ValueError):
            siblings = (topology / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text("utf-8").strip()
        found.setdefault((numa_node(cpu), siblings or str(cpu)), []).append(cpu)
    return tuple(tuple(own) for (_, _), own in sorted(found.items(), key=lambda item: (item[0][0], item[1])))


def quota_cpus() -> int | None:
    """The least quota of the control groups in CPUs, rounded up. None without a quota."""
    quotas = []
    for words in limits("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with suppress(ValueError):  # "max"
            quota, period = map(int, words)
            if quota > 0 and period > 0:
                quotas.append(-(-quota // period))
    return min(quotas, default=None)


def limits(controller: str, *ways: tuple[str, ...]) -> Iterator[list[str]]:
    """The words of these files, in each group that limits this process. `ways` name the files of each version.

    A group of systemd or Slurm is nested, and each group above it also limits.
    """
    for group in _groups(controller):
        for files in ways:
            with suppress(OSError, ValueError):  # the group, or the version, has no such file
                yield " ".join((group / name).read_text("utf-8") for name in files).split()


def _groups(controller: str) -> set[Path]:
    """The folders of the groups, of version 2 and version 1, up to the root of what is mounted.

    A container without a namespace of its own shows the path on the host, but has only its own group mounted.
    """
    found = {GROUPS, GROUPS / controller}
    with suppress(OSError, ValueError):
        for line in OWN_GROUPS.read_text("utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers and controller not in controllers.split(","):
                continue
            for top in (GROUPS / controller,) if controllers else (GROUPS, GROUPS / "unified"):
                found.add(top)
                if ".." not in path:
                    own = top / path.strip("/")
                    found.update(group for group in (own, *own.parents) if group.is_relative_to(top))
    return found


def gil_enabled() -> bool:
    """Whether threads take turns in this interpreter, as things are now."""
    check = getattr(sys, "_is_gil_enabled", None)
    return True if check is None else bool(check())
