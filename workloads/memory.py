"""How much memory this machine has, or the container that this process is in, and how much of it is free."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil

GROUP = Path("/sys/fs/cgroup")
# Files of both versions of control groups: the limit, the use, and the statistics with the counter of file pages.
_VERSIONS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
)


def total() -> int:
    """In bytes."""
    return min([int(psutil.virtual_memory().total), *(limit for limit, _ in _granted())])


def free() -> int:
    """In bytes. Pages of files that a control group has read count as free, as they can be dropped."""
    return max(0, min([int(psutil.virtual_memory().available), *(limit - used for limit, used in _granted())]))


def _granted() -> Iterator[tuple[int, int]]:
    """The limit of a control group and what it uses, if there is a limit."""
    for names in _VERSIONS:
        limit_file, used_file, statistics, cached = (GROUP / name for name in names)
        with suppress(OSError, ValueError):  # no such group, or "max"
            limit, used = int(limit_file.read_text("utf-8")), 0
            with suppress(OSError, ValueError, KeyError):
                used = int(used_file.read_text("utf-8"))
                used -= int(dict(line.split() for line in statistics.read_text("utf-8").splitlines())[cached.name])
            yield limit, used
