"""The one shared memory object of a run: anonymous, sparse, mapped once. It funds pages, it never hands out blocks."""

from __future__ import annotations

import ctypes
import mmap
import os
import resource
import sys
import tempfile
from pathlib import Path

from reactorlib.errors import WorkerError

PAGE = mmap.PAGESIZE


class Memory:
    """`size` bytes shared by every process that inherits or receives it; a page exists once it is funded or touched.

    It has no name, so that nothing can be left behind: the last process that maps it frees it. The mapping
    lives as long as any view of it, also beyond the end of the run. A process that received its descriptor gives it
    as `fd`, which is the object's to close from then on.
    """

    def __init__(self, size: int, fd: int | None = None) -> None:
        self.size = -(-size // PAGE) * PAGE
        self.fd = _create() if fd is None else fd
        try:
            if fd is None:
                os.ftruncate(self.fd, self.size)
            self.map = mmap.mmap(self.fd, self.size)
        except (OSError, ValueError) as error:
            self.close()
            raise WorkerError(f"cannot map {format_bytes(self.size)} of shared memory: {error}") from error
        self.view = memoryview(self.map)
        self.address = ctypes.addressof(ctypes.c_ubyte.from_buffer(self.map))  # in this process

    def fund(self, offset: int, nbytes: int) -> None:
        """Make the pages of a range exist, so that touching them cannot fail. WorkerError if the machine has none."""
        if not hasattr(os, "posix_fallocate"):
            return  # pages then appear on touch
        try:
            os.posix_fallocate(self.fd, offset, nbytes)
        except OSError as error:
            raise WorkerError(
                f"shared memory is full: the machine refused another {format_bytes(nbytes)} ({error.strerror})"
            ) from error

    def defund(self, offset: int, nbytes: int) -> bool:
        """Give the pages of a page-aligned range back to the machine; False where the system cannot."""
        if not hasattr(mmap, "MADV_REMOVE"):
            return False
        try:
            self.map.madvise(mmap.MADV_REMOVE, offset, nbytes)
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the descriptor; the mapping goes with its last view."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    def __del__(self) -> None:
        if getattr(self, "fd", -1) >= 0:
            self.close()


def _create() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("reactorlib", os.MFD_CLOEXEC)
    fd, name = tempfile.mkstemp(prefix="reactorlib-")  # mode 0600
    Path(name).unlink()
    return fd


def default_capacity() -> int:
    """How many bytes of shared memory a run may fund: REACTORLIB_SHARED_BYTES, or 70 % of what there is to use."""
    asked = os.environ.get("REACTORLIB_SHARED_BYTES")
    if asked is not None:
        try:
            capacity = int(asked)
        except ValueError:
            capacity = 0
        if capacity <= 0:
            raise WorkerError(f"REACTORLIB_SHARED_BYTES must be a positive number of bytes, got {asked!r}")
        return capacity
    limits = [os.sysconf("SC_PHYS_PAGES") * PAGE]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            limits.append(int(Path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError):  # no such cgroup, or "max"
            continue
    return min(limits) * 7 // 10


def most_bytes() -> int:
    """How many bytes may be mapped here: the limit of a file's size, and half of what is left of one of addresses."""
    file_size, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    addresses, _ = resource.getrlimit(resource.RLIMIT_AS)
    limits = [sys.maxsize]
    if file_size != resource.RLIM_INFINITY:
        limits.append(file_size)
    if addresses != resource.RLIM_INFINITY:
        limits.append((addresses - _addresses_taken()) // 2)
    return min(limits)


def _addresses_taken() -> int:
    try:
        return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * PAGE
    except OSError:
        return 0


def format_bytes(nbytes: int) -> str:
    """A size for people.

    >>> format_bytes(100), format_bytes(10 << 20), format_bytes(1536 << 20)
    ('100 bytes', '10 MiB', '1.5 GiB')
    """
    for shift, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if nbytes >= 1 << shift:
            return f"{nbytes / (1 << shift):.4g} {unit}"
    return f"{nbytes} bytes"
