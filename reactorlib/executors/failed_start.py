"""What a rank does that fails before it has joined the others. Imported by every rank, so it imports little."""

from __future__ import annotations

import os
import signal
import sys
from types import TracebackType


def rank_given() -> str | None:
    """The number that a launcher of MPI gave this process; None where none started it."""
    return os.environ.get("PMI_RANK", os.environ.get("PMIX_RANK"))


def tell_of_failure() -> None:
    """Say on which rank it was, and let MPICH's launcher notice: it does not look at ranks that have not called MPI."""
    before = sys.excepthook

    def failed(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        before(kind, error, trace)
        if "mpi4py.MPI" in sys.modules:
            return
        print(
            f"reactorlib: rank {rank_given()} on {os.uname().nodename} failed before the run",
            file=sys.stderr,
            flush=True,
        )
        if "PMI_FD" in os.environ:
            sys.stdout.flush()
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)  # a signal it sees

    sys.excepthook = failed
