"""Numeric libraries use one thread per worker while reactions run, unless told otherwise: workers are the parallelism.

The setting belongs to the process. Runs side by side share that of the first; when the last of them has ended, the
caller's is back. A program that uses no such library pays for three environment variables.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import product
from typing import Any

VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Setting = tuple[Callable[[], int], Callable[[int], Any]]  # how many threads a library uses, and how to change it

_lock = threading.Lock()
_runs = 0
_restore: Callable[[], None] | None = None


def _renew_lock() -> None:
    """Make a new lock in a forked process. A thread of the parent may have held the old one."""
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


@contextmanager
def limited(threads: int | None, here: bool = True) -> Iterator[None]:
    """Limit libraries, as `limit` does, while a run lives in this process."""
    global _runs, _restore
    with _lock:
        if _restore is None:
            _restore = limit(threads, here)
        _runs += 1
    try:
        yield
    finally:
        with _lock:
            _runs -= 1
            if not _runs:
                _restore()
                _restore = None


def limit(threads: int | None, here: bool = True, forked: bool = False) -> Callable[[], None]:
    """Limit libraries that are loaded now, or later by workers and reactions. Returns the function that undoes it.

    Without `here`, only processes that start meanwhile are limited. Setting the threads of torch has a price in this
    process. From then on MKL uses all of them for small operations too. These take some ten times as long.

    Without `threads`, the limit is one thread. Variables that are set then stay as they are. If OMP_NUM_THREADS is set,
    a loaded torch also keeps its number. In a `forked` process, torch always has one thread, as it would wait for
    threads that only its parent has.
    """
    free = [name for name in VARIABLES if threads is not None or name not in os.environ]
    before = {name: os.environ[name] for name in free if name in os.environ}
    loaded = _loaded(free) if here else {}
    known = {name: get() for name, (get, _) in loaded.items()}
    modules = len(sys.modules)
    for _, put in loaded.values():
        put(threads or 1)
    if forked and "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
    os.environ.update(dict.fromkeys(free, str(threads or 1)))

    def restore() -> None:
        for name in free:
            os.environ.pop(name, None)
        os.environ.update(before)
        found = loaded if not here or len(sys.modules) == modules else _loaded(free)
        for name, (_, put) in found.items():
            if name not in known:  # a reaction loaded it: as many as it would have had
                from reactorlib.cpus import available_cpus

                known[name] = available_cpus()
            put(known[name])

    return restore


def _loaded(free: list[str]) -> dict[str, Setting]:
    """The libraries in this process that may be limited, by name, where these variables say nothing else."""
    found: dict[str, Setting] = {}
    if "numpy" in sys.modules and {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"} <= {*free}:
        found |= openblas()
    torch = sys.modules.get("torch")
    if hasattr(torch, "set_num_threads") and "OMP_NUM_THREADS" in free:  # it may be on its way in
        found["torch"] = torch.get_num_threads, torch.set_num_threads  # type: ignore[union-attr]
    return found


def openblas() -> dict[str, Setting]:
    """Each OpenBLAS in this process, by file: the one of NumPy, above all."""
    import ctypes  # only where it is used: a program without NumPy starts sooner

    found: dict[str, Setting] = {}
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:  # noqa: PTH123
        paths = {line.rstrip("\n").split(maxsplit=5)[-1] for line in maps if "openblas" in line}
        for path in sorted(paths):
            with suppress(OSError, AttributeError):
                library = ctypes.CDLL(path)
                for prefix, suffix in product(("scipy_", ""), ("64_", "_64", "")):  # wheels rename what they bring
                    put = getattr(library, f"{prefix}openblas_set_num_threads{suffix}", None)
                    if put is not None:
                        found[path] = getattr(library, f"{prefix}openblas_get_num_threads{suffix}"), put
                        break
    return found
