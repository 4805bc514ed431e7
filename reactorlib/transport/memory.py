"""The one shared memory object of a run: its pages, their number, and the order in which others see what is written.

The memory is anonymous, sparse and mapped once. It funds pages, it never hands out blocks.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

from reactorlib.cpus import limits
from reactorlib.errors import WorkerError
from reactorlib.transport.loan import Descriptor

PAGE = mmap.PAGESIZE
# The size on x86-64, and on ARM with pages of 4 KiB. A copy from 2 MiB on takes 0.86 to 0.95 of the time. The first use
# takes no more than with small pages.
HUGE_PAGE = 2 * 2**20
ADVICE = (25, mmap.MADV_HUGEPAGE)  # MADV_COLLAPSE makes huge pages at once. MADV_HUGEPAGE may make them later
MOST_TRIES = 3  # to map memory at the beginning of a huge page. A try takes as many addresses again for a moment
ADDRESSES = 1 << 46  # for all of a process: half of what x86-64 and most ARM systems have


class Memory:
    """`size` bytes shared by every process that inherits or receives it; a page exists once it is funded or touched.

    It has no name, so that nothing can be left behind: the last process that maps it frees it. The mapping lives as
    long as any view of it, also beyond the end of the run. `received` is its descriptor, in a process that was spawned.
    """

    def __init__(self, size: int, received: Any = None) -> None:
        self.size = -(-size // PAGE) * PAGE
        self._descriptor = Descriptor(received.detach() if received else os.memfd_create("reactorlib", os.MFD_CLOEXEC))
        os.ftruncate(self.fd, self.size)
        self.map = self._mapped()
        self.view = memoryview(self.map)
        self.address = address_of(self.map)  # in this process

    def __reduce__(self) -> Any:
        from multiprocessing.reduction import DupFd  # which `spawn` takes along

        return Memory, (self.size, DupFd(self.fd))

    @property
    def fd(self) -> int:
        return self._descriptor.number

    def fund(self, offset: int, nbytes: int) -> None:
        """Make the pages of a range exist, so that touching them cannot fail. WorkerError if the machine has none."""
        self._make_huge_pages(offset + self.to_huge_page(offset), (offset + nbytes) // HUGE_PAGE * HUGE_PAGE)
        try:
            os.posix_fallocate(self.fd, offset, nbytes)
        except OSError as error:
            raise WorkerError(
                f"shared memory is full: the machine refused another {nbytes:,} bytes ({error.strerror})"
            ) from error

    def to_huge_page(self, offset: int) -> int:
        """The bytes from an offset to the next huge page."""
        return -offset % HUGE_PAGE

    def defund(self, offset: int, nbytes: int) -> bool:
        """Give the pages of a page-aligned range back to the machine; False where a sandbox does not let it."""
        with suppress(OSError):
            self.map.madvise(mmap.MADV_REMOVE, offset, nbytes)
            return True
        return False

    def _make_huge_pages(self, begin: int, end: int) -> None:
        """Make huge pages, as far as the system has them. Each collapses from one small page, the least it can be."""
        with suppress(OSError):
            for offset in range(begin, end, HUGE_PAGE):
                os.posix_fallocate(self.fd, offset, PAGE)
        for advice in ADVICE if begin < end else ():
            with suppress(OSError):
                self.map.madvise(advice, begin, end - begin)
                return

    def _mapped(self) -> mmap.mmap:
        """The mapping. If possible it begins with a huge page, as the memory itself does: the system asks for both.

        No address can be given to `mmap`. But of two mappings as large, the second is usually put below the first one.
        """
        above: list[mmap.mmap] = []
        made = mmap.mmap(self.fd, self.size)
        for _ in range(MOST_TRIES):
            beyond = address_of(made) % HUGE_PAGE
            if not beyond or self.size < 2 * HUGE_PAGE:
                break
            made.close()
            with suppress(OSError):  # too few addresses
                above.append(mmap.mmap(self.fd, (self.size - beyond) // HUGE_PAGE * HUGE_PAGE + beyond))
            made = mmap.mmap(self.fd, self.size)
        return made

    def close(self) -> None:
        """Close the descriptor; the mapping goes with its last view."""
        self._descriptor.close()


def address_of(mapping: mmap.mmap) -> int:
    """The address at which a mapping begins."""
    return ctypes.addressof(ctypes.c_ubyte.from_buffer(mapping))


def most_addresses() -> int:
    """How many addresses one run may take: of L in all, with a part f of them free, f * f * L / 4.

    A quarter goes to the first run, about 4 L / (n + 4) ** 2 to the n-th that is open at a time. So hundreds of runs
    fit into one process, and the rest of its program keeps most of the addresses.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    whole = ADDRESSES if limit == resource.RLIM_INFINITY else min(limit, ADDRESSES)
    used = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * PAGE
    free = max(whole - used, 0)
    return free * free // (4 * whole)


def default_capacity() -> int:
    """The bytes of shared memory that a run may use: 70 % of what the machine or the least control group has."""
    most = os.sysconf("SC_PHYS_PAGES") * PAGE
    for words in limits("memory", ("memory.max",), ("memory.limit_in_bytes",)):
        with suppress(ValueError):  # "max"
            most = min(most, *map(int, words))
    return most * 7 // 10


def fence() -> None:
    """Order memory operations: other processors see those before this call before those after it.

    It releases a lock and takes it again: a locked instruction on x86, a release and an acquire elsewhere. The lock is
    new, so that neither another thread nor an exception out of a signal handler finds it in between.
    """
    lock = threading.Lock()
    lock.acquire()
    lock.release()
    lock.acquire()


def keeps_store_order() -> bool:
    """Whether stores become visible in program order and loads are not reordered: x86 (total store order)."""
    return os.uname().machine in {"x86_64", "i386", "i686"}
