"""Numeric libraries use one thread per worker, unless the environment says otherwise: workers are the parallelism."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from typing import Any

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def single_threaded(forked: bool = False) -> Callable[[], None]:
    """Limit what workers start and what is loaded already; gives the function that undoes it.

    A variable that is set is left alone, and with OMP_NUM_THREADS set a loaded torch is too; but not in a `forked`
    process, where torch would wait forever for threads that only its parent has.
    """
    added = [name for name in VARIABLES if name not in os.environ]
    undo: list[Callable[[], None]] = [lambda name=name: os.environ.pop(name, None) for name in added]  # type: ignore[misc]
    torch = sys.modules.get("torch")
    if torch is not None and (forked or "OMP_NUM_THREADS" in added):
        undo.append(_limit(torch.get_num_threads, torch.set_num_threads))
    if {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} <= {*added}:
        undo += [_limit(get, put) for get, put in _openblas()]
    for name in added:
        os.environ[name] = "1"

    def restore() -> None:
        while undo:
            undo.pop()()

    return restore


def _limit(get: Callable[[], int], put: Callable[[int], Any]) -> Callable[[], None]:
    before = get()
    put(1)
    return lambda: put(before)


def _openblas() -> Iterator[tuple[Callable[[], int], Callable[[int], Any]]]:
    """How many threads each OpenBLAS in this process uses, and how to change it: the one of NumPy, above all."""
    maps = Path("/proc/self/maps")  # where there is none, what is loaded already keeps its threads
    if not maps.exists():
        return
    lines = maps.read_text("utf-8", "replace").splitlines()
    paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
    for path in sorted(paths):
        with suppress(OSError, AttributeError):
            library = ctypes.CDLL(path)
            for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):  # wheels rename what they bring along
                put = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
                if put is not None:
                    yield getattr(library, f"{prefix}openblas_get_num_threads{suffix}"), put
                    break
