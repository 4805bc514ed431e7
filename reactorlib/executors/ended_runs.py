"""Shared memory of ended runs on processes, which the garbage collector frees: when to run it.

The collector counts objects, and not the memory that they keep.
"""

from __future__ import annotations

import gc

RUNS = 8
BYTES = 32 << 20

_runs = 0
_nbytes = 0


def note(nbytes: int) -> None:
    """A run has ended. Garbage, if not the user, keeps this many bytes of its shared memory."""
    global _runs, _nbytes
    _runs += 1
    _nbytes += nbytes


def collect_if_worthwhile() -> None:
    """Collect after several runs, or much memory."""
    if _runs >= RUNS or _nbytes >= BYTES:
        collect()


def collect() -> None:
    """Collect now."""
    global _runs, _nbytes
    _runs = _nbytes = 0
    gc.collect()
