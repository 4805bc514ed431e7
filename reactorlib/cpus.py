"""The processors that this process may use, whether its threads can use them, and the limits of its control groups."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/sys/fs/cgroup")
OWN_GROUPS = Path("/proc/self/cgroup")


def available_cpus() -> int:
    """The CPUs that this process may really use: its affinity, and the least quota of its control groups."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = quota_cpus()
    return max(1, min(count, quota) if quota else count)


def quota_cpus() -> int | None:
    """The least quota of the control groups in CPUs, rounded up. None without a quota."""
    quotas = []
    for words in limits("cpu", ("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with suppress(ValueError):  # "max"
            quota, period = map(int, words)
            if quota > 0:
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
