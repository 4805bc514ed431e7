"""What runs on processes leave to the garbage collector: it counts objects, not what they keep of shared memory."""

from __future__ import annotations

import gc

RUNS = 8
BYTES = 32 << 20

_runs = 0
_nbytes = 0


def note(nbytes: int) -> None:
    """A run has ended whose shared memory, so many bytes of it with pages, is kept by garbage, if not by the user."""
    global _runs, _nbytes
    _runs += 1
    _nbytes += nbytes


def tidy() -> None:
    """Collect, if that is enough to be worth the time."""
    if _runs >= RUNS or _nbytes >= BYTES:
        collect()


def collect() -> None:
    """Collect now."""
    global _runs, _nbytes
    _runs = _nbytes = 0
    gc.collect()
