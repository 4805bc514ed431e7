"""Which order of memory operations this machine promises, and the fence where it promises too little."""

from __future__ import annotations

import platform
import threading


def fence() -> None:
    """Nothing before this call is seen by another processor after what follows it.

    A lock released and taken again: a locked instruction on x86, a release and an acquire elsewhere. The lock is new,
    so that neither another thread nor an exception out of a signal handler finds it in between.
    """
    lock = threading.Lock()
    lock.acquire()
    lock.release()
    lock.acquire()


def keeps_store_order() -> bool:
    """Whether stores become visible in program order and loads are not reordered: x86 (total store order)."""
    return platform.machine().lower() in {"x86_64", "amd64", "i386", "i686"}
