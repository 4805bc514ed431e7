"""Lines on standard error about a run that goes on, and would seem to hang without a word."""

from __future__ import annotations

import sys


def notice(text: str) -> None:
    """Print such a line, in one write: threads and processes print side by side."""
    sys.stderr.write(f"reactorlib: {text}\n")
    sys.stderr.flush()
