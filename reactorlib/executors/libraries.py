"""Numeric libraries use one thread per worker, unless the environment says otherwise: workers are the parallelism."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def single_threaded() -> Callable[[], None]:
    """Limit what workers start and what is loaded already; gives the function that undoes it.

    A variable that is set is left alone, and with OMP_NUM_THREADS set a loaded torch is too.
    """
    asked = "OMP_NUM_THREADS" in os.environ
    added = [name for name in VARIABLES if name not in os.environ]
    for name in added:
        os.environ[name] = "1"
    torch = sys.modules.get("torch")
    threads = None if torch is None or asked else torch.get_num_threads()
    if torch is not None and threads is not None:
        torch.set_num_threads(1)

    def restore() -> None:
        for name in added:
            os.environ.pop(name, None)
        if torch is not None and threads is not None:
            torch.set_num_threads(threads)

    return restore
