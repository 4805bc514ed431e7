"""Blocks of shared memory: each worker allocates in its own region, whoever receives a block says when it is done.

A block is free when its owner does not use it and every receiver has released it as often as it was sent. The
releases are counted in shared memory, one number per block and receiver, written by that receiver alone; the
sendings are counted by the owner. So nobody needs a lock. Free blocks are found when the owner allocates, and
used again with their pages, so that a steady state pays no page fault.
"""

from __future__ import annotations

import ctypes
from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.memory import PAGE, Memory, format_bytes
from reactorlib.transport.quota import Quota

SMALLEST = 1024
SLAB = 64 * 1024  # blocks of less than a page are cut from slabs
BLOCKS = 1 << 20  # of one arena, at most
LOOKS = 16  # busy blocks looked at before an allocation takes new memory

NOBODY, MESSAGE, BUFFER = range(3)


@lru_cache(4096)
def room_of(nbytes: int) -> int:
    """The size class of a block: at most a quarter more than asked for; whole pages above half a page.

    >>> room_of(1), room_of(1025), room_of(5000), room_of(10 << 20), room_of((10 << 20) + 1)
    (1024, 1280, 8192, 10485760, 12582912)
    """
    if nbytes <= SMALLEST:
        return SMALLEST
    grain = 1 << (nbytes - 1).bit_length() - 3
    if nbytes > PAGE // 2:
        grain = max(grain, PAGE)
    return -(-nbytes // grain) * grain


class Block:
    """A range of the owner's region."""

    __slots__ = ("first", "funded", "offset", "room", "sent", "user")

    def __init__(self, first: int, offset: int, room: int, funded: int) -> None:
        self.first = first  # the number of its first release count
        self.offset = offset  # in the memory of the run
        self.room = room
        self.funded = funded  # so many bytes from its beginning have pages
        self.user = NOBODY  # in the owner's process: a MESSAGE that is being made, or a BUFFER that somebody refers to
        self.sent: dict[int, int] = {}  # how often, by the number of the release count


class Arena:
    """The region [start, start + size) of `memory` that belongs to `worker`; only its main thread allocates there.

    The region begins with the release counts. `quota` is asked before new pages are taken.
    """

    def __init__(
        self,
        memory: Memory,
        start: int,
        size: int,
        worker: int,
        workers: int,
        quota: Quota,
        blocks: int = BLOCKS,
    ) -> None:
        self.memory = memory
        self.worker = worker
        self.workers = workers
        self.quota = quota
        self.start = start
        self.end = start + size
        self.blocks = blocks
        table = table_bytes(workers, blocks)
        self.releases = memory.view[start : start + table].cast("Q")
        self._table_end = start  # so far the counts have pages
        self._top = start + table
        if self._top >= self.end:
            raise WorkerError(f"an arena of {format_bytes(size)} is too small for {workers} workers")
        self._slab_top = self._slab_end = 0
        self._blocks: list[Block] = []  # ascending by offset
        self._offsets: list[int] = []
        self._free: dict[int, list[Block]] = {}
        self._busy: dict[int, deque[Block]] = {}

    def take(self, nbytes: int) -> Block:
        """A block with room for `nbytes`, in use by a MESSAGE. WorkerError if shared memory is full."""
        room = room_of(nbytes)
        free = self._free.get(room)
        block = (free.pop() if free else self._reclaim(room)) or self._carve(room)
        if block.funded < nbytes:
            self._fund(block, nbytes)
        block.user = MESSAGE
        self._busy[room].append(block)
        return block

    def commit(self, blocks: Sequence[Block], receivers: Sequence[int]) -> None:
        """The blocks go to these receivers, each of whom will release each once; without any, nobody sees them."""
        for block in blocks:
            sent = block.sent
            for receiver in receivers:
                count = block.first + receiver
                sent[count] = sent.get(count, 0) + 1
            if block.user == MESSAGE:
                block.user = NOBODY

    def allocate(self, nbytes: int) -> memoryview:
        """A writable buffer of `nbytes` bytes, page aligned if larger than half a page, contents arbitrary.

        An array over it (`numpy.frombuffer(buffer, dtype, count)`) is recognised when it is sent and then costs
        no copy. Sending hands it over: the writer may go on reading it, but must not write to it again.
        """
        block = self.take(nbytes)
        block.user = BUFFER
        buffer = _owned(block.room).from_buffer(self.memory.map, block.offset)
        buffer.block = block
        return memoryview(buffer).cast("B")[:nbytes]

    def block_at(self, address: int, nbytes: int) -> tuple[Block, int] | None:
        """The BUFFER around memory at an address of this process, and the offset of that address in `memory`."""
        offset = address - self.memory.address
        if not self.start <= offset < self.end:
            return None
        at = bisect_right(self._offsets, offset) - 1
        if at < 0:
            return None
        block = self._blocks[at]
        inside = offset + nbytes <= block.offset + block.room
        return (block, offset) if inside and block.user == BUFFER else None

    # Finding a block: one that was released, or a new one

    def _reclaim(self, room: int) -> Block | None:
        """The first free one of a few busy blocks; those still in use go to the back, so that all get their turn."""
        busy = self._busy.get(room)
        if not busy:
            return None
        for _ in range(min(LOOKS, len(busy))):
            block = busy.popleft()
            if self._is_free(block):
                return block
            busy.append(block)
        return None

    def _is_free(self, block: Block) -> bool:
        if block.user:
            return False
        releases = self.releases
        for count, times in block.sent.items():  # noqa: SIM110  all() would make a generator
            if releases[count] != times:
                return False
        return True

    def _carve(self, room: int) -> Block:
        """A new block from what was never used of the region; large ones get their pages later."""
        first = len(self._blocks) * self.workers
        if len(self._blocks) == self.blocks:
            return self._last_resort(room, f"{self.blocks} blocks are in use")
        if room >= PAGE:
            if self._top + room > self.end:
                return self._last_resort(room, self._no_address)
            block = Block(first, self._top, room, 0)
            self._top += room
        else:
            if self._slab_top + room > self._slab_end:
                if self._top + SLAB > self.end:
                    return self._last_resort(room, self._no_address)
                self._new_slab()
            block = Block(first, self._slab_top, room, room)
            self._slab_top += room
        self._cover_counts(first + self.workers)
        at = bisect_right(self._offsets, block.offset)
        self._offsets.insert(at, block.offset)
        self._blocks.insert(at, block)
        self._free.setdefault(room, [])
        self._busy.setdefault(room, deque())
        return block

    @property
    def _no_address(self) -> str:
        return f"all {format_bytes(self.end - self.start)} of its addresses are used"

    def _new_slab(self) -> None:
        self._charge(SLAB)
        self.memory.fund(self._top, SLAB)
        self._slab_top = self._top
        self._slab_end = self._top = self._top + SLAB

    def _cover_counts(self, number: int) -> None:
        """Give pages to the first `number` release counts, so that no receiver fails to touch them."""
        if self.start + 8 * number > self._table_end:
            self.memory.fund(self._table_end, SLAB)
            self._table_end += SLAB

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
        if self.quota.take(nbytes):
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
                (self._free[room] if self._is_free(block) else busy).append(block)


def most_blocks(nbytes: int) -> int:
    """How many blocks fit into so much of an arena."""
    return max(1, min(BLOCKS, nbytes // SMALLEST))


def table_bytes(workers: int, blocks: int = BLOCKS) -> int:
    """How much of an arena the release counts take: whole slabs."""
    return -(-blocks * workers * 8 // SLAB) * SLAB


class Owned:
    """The base of the owner's buffers: when the last view of one dies, its block has no user any more."""

    __slots__ = ()
    block: Block

    def __del__(self) -> None:
        self.block.user = NOBODY


@lru_cache(256)
def _owned(room: int) -> Any:
    return type("Buffer", (Owned, ctypes.c_ubyte * room), {"__slots__": ("block",)})
