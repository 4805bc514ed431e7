"""How much memory this machine has, or the control group that limits this process, and how much of it is free."""

from contextlib import suppress
from pathlib import Path

import psutil

GROUP = Path("/sys/fs/cgroup")


def total() -> int:
    """In bytes."""
    there = int(psutil.virtual_memory().total)
    return min(there, _limit() or there)


def free() -> int:
    """In bytes. The pages of files that a control group has read count as free: they can be dropped."""
    available, limit = int(psutil.virtual_memory().available), _limit()
    if limit is None:
        return available
    statistics = dict(line.split() for line in (GROUP / "memory.stat").read_text("utf-8").splitlines())
    used = int((GROUP / "memory.current").read_text("utf-8")) - int(statistics["inactive_file"])
    return max(0, min(available, limit - used))


def _limit() -> int | None:
    """The limit of the control group (version 2); None without one."""
    with suppress(OSError, ValueError):  # no such group, or "max"
        return int((GROUP / "memory.max").read_text("utf-8"))
    return None
