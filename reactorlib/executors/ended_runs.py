"""Shared memory of ended runs on processes, which the garbage collector frees: when to run it.

The collector counts objects, and not the memory that they keep.
"""

from __future__ import annotations

import gc

BYTES = 32 << 20
LEAST = 4 << 20  # that a run counts at least

_nbytes = 0


def note(nbytes: int) -> None:
    """Count the shared memory of a run that has ended, in bytes. The user or garbage may still refer to it."""
    global _nbytes
    _nbytes += max(nbytes, LEAST)


def collect_if_worthwhile() -> None:
    """Collect after several runs, or much memory."""
    if _nbytes >= BYTES:
        collect()


def collect() -> None:
    """Collect now."""
    global _nbytes
    _nbytes = 0
    gc.collect()
