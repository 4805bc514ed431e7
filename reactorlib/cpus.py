"""How many processors this process may use, and whether its threads can use them."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def available_cpus() -> int:
    """The CPUs that this process may really use: its affinity, and the quota of its control group, rounded up."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = quota_cpus(Path("/sys/fs/cgroup"))
    return max(1, min(count, quota) if quota else count)


def quota_cpus(group: Path) -> int | None:
    """The quota of a control group (version 2 or 1) in CPUs, rounded up. None without a quota."""
    for files in (("cpu.max",), ("cpu/cpu.cfs_quota_us", "cpu/cpu.cfs_period_us")):
        try:
            quota, period = " ".join((group / name).read_text("utf-8") for name in files).split()
        except (OSError, ValueError):
            continue
        return None if quota in ("max", "-1") else -(-int(quota) // int(period))
    return None


def gil_enabled() -> bool:
    """Whether threads take turns in this interpreter, as things are now."""
    check = getattr(sys, "_is_gil_enabled", None)
    return True if check is None else bool(check())
