"""How many processors this process may use."""

from __future__ import annotations

import os
from pathlib import Path


def available_cpus() -> int:
    """The CPUs that this process may really use: its affinity, and the quota of its control group, rounded up."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cgroup_quota()
    return max(1, min(count, quota) if quota else count)


def _cgroup_quota() -> int | None:
    """CPUs of the control group's quota: cgroup v2's cpu.max, v1's cpu.cfs_*_us; None without one."""
    group = Path("/sys/fs/cgroup")
    try:
        quota, period = (group / "cpu.max").read_text("utf-8").split()
    except (OSError, ValueError):
        try:
            quota = (group / "cpu/cpu.cfs_quota_us").read_text("utf-8").strip()
            period = (group / "cpu/cpu.cfs_period_us").read_text("utf-8").strip()
        except OSError:
            return None
    if quota in ("max", "-1"):
        return None
    return -(-int(quota) // int(period))
