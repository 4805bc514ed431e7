"""Blocks of shared memory: each worker allocates in its own region, whoever receives a block says when it is done.

A block is free when its owner holds no buffer of it and every receiver has released it as often as it was
sent. The count of releases stands in shared memory, one number per block and receiver, written by that
receiver alone; the count of sendings is the owner's own. So nobody needs a lock. Free blocks are found when the
owner allocates, and used again with their pages, so that a steady state pays no page fault.
"""

from __future__ import annotations

import ctypes
import os
import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable
from functools import cache
from threading import RLock
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.memory import PAGE, Memory, format_bytes
from reactorlib.transport.ordering import fence, keeps_store_order
from reactorlib.transport.quota import Quota

SMALLEST = 1024
SLAB = 64 * 1024  # blocks of less than a page are cut from funded slabs
BLOCKS = 1 << 18  # of one arena
LOOKS = 16  # busy blocks looked at before an allocation takes new memory
WRAP = 0xFFFFFFFF

_process = os.getpid()


def _forked() -> None:
    global _process
    _process = os.getpid()


os.register_at_fork(after_in_child=_forked)


def room_of(nbytes: int) -> int:
    """The size class of a block: at most a quarter more than asked for, whole pages from one page on.

    >>> room_of(1), room_of(1025), room_of(5000), room_of(10 << 20), room_of((10 << 20) + 1)
    (1024, 1280, 8192, 10485760, 12582912)
    """
    if nbytes <= SMALLEST:
        return SMALLEST
    grain = 1 << max((nbytes - 1).bit_length() - 3, 6)
    if nbytes > PAGE // 2:
        grain = max(grain, PAGE)
    return -(-nbytes // grain) * grain


class Block:
    """A range of the owner's region. `held`: the owner uses it; `sent`: how often it was sent, by receiver."""

    __slots__ = ("funded", "held", "index", "offset", "room", "sent")

    def __init__(self, index: int, offset: int, room: int, funded: int) -> None:
        self.index = index
        self.offset = offset  # in the memory of the run
        self.room = room
        self.funded = funded  # bytes from its beginning whose pages exist
        self.held = False
        self.sent: dict[int, int] = {}


class Owned(ctypes.Array):  # type: ignore[type-arg]
    """The base of the owner's buffers: when the last view of one dies, its block is no longer held."""

    _type_ = ctypes.c_ubyte
    _length_ = 0
    __slots__ = ("block", "process")
    block: Block
    process: int

    def __del__(self) -> None:
        if self.process == _process:
            self.block.held = False


class Lent(ctypes.Array):  # type: ignore[type-arg]
    """The base of a receiver's views: when the last one dies, the block is released once."""

    _type_ = ctypes.c_ubyte
    _length_ = 0
    __slots__ = ("counter", "process", "releases")
    releases: memoryview
    counter: int
    process: int

    def __del__(self) -> None:
        if self.process == _process:  # a process forked later inherits the object, not the duty
            release(self.releases, self.counter)


@cache
def sized(base: type[Any], room: int) -> type[Any]:
    """The type of a buffer of `room` bytes; size classes keep these few."""
    return type(base.__name__, (base,), {"__slots__": (), "_type_": ctypes.c_ubyte, "_length_": room})


def _release(releases: memoryview, counter: int) -> None:
    # One statement without a call in it: with a GIL no other thread and no collection comes between load and store.
    releases[counter] = releases[counter] + 1 & WRAP


_releasing = RLock()  # reentrant: a collection may release another block in the middle


def _release_in_order(releases: memoryview, counter: int) -> None:
    with _releasing:
        fence()  # the owner may overwrite the block once it sees the count: our reads come before
        releases[counter] = releases[counter] + 1 & WRAP


_has_gil: Callable[[], bool] = getattr(sys, "_is_gil_enabled", lambda: True)
release = _release if keeps_store_order() and _has_gil() else _release_in_order


def lend(memory: Memory, releases: memoryview, counter: int, offset: int, nbytes: int) -> Lent:
    """A writable buffer of at least `nbytes` over another worker's block, which it releases when it dies."""
    room = room_of(nbytes)
    if offset + room > memory.size:
        room = nbytes
    buffer: Lent = sized(Lent, room).from_buffer(memory.map, offset)
    buffer.releases = releases
    buffer.counter = counter
    buffer.process = _process
    return buffer


class Arena:
    """The region [start, start + size) of `memory` that belongs to `worker`; only its main thread allocates there.

    The region begins with the table of release counts. `quota` is asked before new pages are taken.
    """

    def __init__(
        self, memory: Memory, start: int, size: int, worker: int, workers: int, quota: Quota | None = None
    ) -> None:
        self.memory = memory
        self.worker = worker
        self.workers = workers
        self.quota = quota
        self.start = start
        self.end = start + size
        table = BLOCKS * workers * 4
        self.releases = memory.view[start : start + table].cast("I")
        self._top = -(-(start + table) // PAGE) * PAGE
        if self._top >= self.end:
            raise WorkerError(f"an arena of {format_bytes(size)} is too small for {workers} workers")
        self._slab_top = self._slab_end = 0
        self._offsets: list[int] = []  # of _blocks, ascending
        self._blocks: list[Block] = []
        self._free: dict[int, list[Block]] = {}
        self._busy: dict[int, deque[Block]] = {}
        self._base = ctypes.addressof(ctypes.c_ubyte.from_buffer(memory.map))

    def take(self, nbytes: int) -> Block:
        """A block with room for `nbytes`, held until the caller says otherwise. WorkerError if memory is full."""
        room = room_of(nbytes)
        free = self._free.get(room)
        block = (free.pop() if free else self._reclaim(room)) or self._carve(room)
        if block.funded < nbytes:
            self._fund(block, nbytes)
        block.held = True
        self._busy[room].append(block)
        return block

    def commit(self, block: Block, receivers: Iterable[int]) -> None:
        """The block goes to these receivers, each of whom will release it once more."""
        sent = block.sent
        for receiver in receivers:
            sent[receiver] = sent.get(receiver, 0) + 1 & WRAP

    def allocate(self, nbytes: int) -> memoryview:
        """A writable buffer of `nbytes` bytes, page aligned if larger than half a page, contents arbitrary.

        An array over it (`numpy.frombuffer(buffer, dtype, count)`) is recognised when it is sent and then costs
        no copy. Sending hands it over: the writer may go on reading it, but must not write to it again.
        """
        block = self.take(nbytes)
        buffer = sized(Owned, block.room).from_buffer(self.memory.map, block.offset)
        buffer.block = block
        buffer.process = _process
        return memoryview(buffer).cast("B")[:nbytes]

    def block_at(self, address: int, nbytes: int) -> tuple[Block, int] | None:
        """The held block around memory at an address of this process, and the offset of that address in `memory`."""
        offset = address - self._base
        if not self.start <= offset < self.end:
            return None
        at = bisect_right(self._offsets, offset) - 1
        if at < 0:
            return None
        block = self._blocks[at]
        inside = offset + nbytes <= block.offset + block.room
        return (block, offset) if inside and block.held else None

    def is_free(self, block: Block) -> bool:
        """Whether nobody can see the block any more."""
        if block.held:
            return False
        first = block.index * self.workers
        releases = self.releases
        return all(releases[first + receiver] == times for receiver, times in block.sent.items())

    def _reclaim(self, room: int) -> Block | None:
        """The first free one of a few busy blocks; those still in use go to the back, so that all get their turn."""
        busy = self._busy.get(room)
        if not busy:
            return None
        for _ in range(min(LOOKS, len(busy))):
            block = busy.popleft()
            if self.is_free(block):
                return block
            busy.append(block)
        return None

    def _carve(self, room: int) -> Block:
        """A new block from what was never used of the region; its pages come later."""
        if len(self._blocks) == BLOCKS:
            return self._last_resort(room, f"{BLOCKS} blocks are in use")
        if room < PAGE:
            if self._slab_top + room > self._slab_end:
                self._charge(SLAB)
                self.memory.fund(self._top, SLAB)
                self._slab_top, self._slab_end = self._top, self._top + SLAB
                self._top += SLAB
            offset, funded = self._slab_top, room
            self._slab_top += room
        else:
            if self._top + room > self.end:
                return self._last_resort(room, f"all {format_bytes(self.end - self.start)} of its addresses are used")
            offset, funded = self._top, 0
            self._top += room
        block = Block(len(self._blocks), offset, room, funded)
        at = bisect_right(self._offsets, offset)
        self._offsets.insert(at, offset)
        self._blocks.insert(at, block)
        self._free.setdefault(room, [])
        self._busy.setdefault(room, deque())
        return block

    def _last_resort(self, room: int, reason: str) -> Block:
        self._sweep()
        free = self._free.get(room)
        if free:
            return free.pop()
        raise WorkerError(f"the shared memory of worker {self.worker} is full: {reason}")

    def _fund(self, block: Block, nbytes: int) -> None:
        wanted = -(-nbytes // PAGE) * PAGE - block.funded
        try:
            self._charge(wanted)
            self.memory.fund(block.offset + block.funded, wanted)
        except WorkerError:
            self._free[block.room].append(block)
            raise
        block.funded += wanted

    def _charge(self, nbytes: int) -> None:
        if self.quota is None or self.quota.take(nbytes):
            return
        self._sweep()
        for blocks in self._free.values():  # pages that lie idle serve better elsewhere
            for block in blocks:
                if block.room >= PAGE and block.funded and self.memory.defund(block.offset, block.funded):
                    self.quota.give(block.funded)
                    block.funded = 0
        if not self.quota.take(nbytes):
            raise WorkerError(
                f"shared memory is full: worker {self.worker} wanted another {format_bytes(nbytes)}, "
                f"{format_bytes(self.quota.taken())} of {format_bytes(self.quota.capacity)} are in use "
                "(REACTORLIB_SHARED_BYTES sets the limit; values that readers keep occupy it)"
            )

    def _sweep(self) -> None:
        """Every busy block that nobody sees any more becomes free."""
        for room, busy in self._busy.items():
            for _ in range(len(busy)):
                block = busy.popleft()
                (self._free[room] if self.is_free(block) else busy).append(block)
