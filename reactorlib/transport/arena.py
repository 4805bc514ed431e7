"""Blocks of shared memory. A worker places parts of its messages there, in its own region; receivers release them.

A block is free when its owner does not use it and every receiver has released it as often as it was sent. Releases are
counted at the beginning of the block, one number per receiver, which that receiver alone writes. The owner counts what
it sends. So nobody needs a lock. The owner finds free blocks when it allocates, and uses them again with their pages.
So a steady state pays no page fault.
"""

from __future__ import annotations

import ctypes
import os
import sys
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import pairwise
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.codec import Placed, Placing, Reference
from reactorlib.transport.debug import after, before
from reactorlib.transport.loan import loan_at, loan_over
from reactorlib.transport.memory import HUGE_PAGE, PAGE, Memory
from reactorlib.transport.structure import LARGE_BYTES

LINE = 64  # bytes that processors share as a whole
MOST_COUNTED = 1 << 30  # releases of a block, before its counts begin at 0 again: a semaphore ends at 2 ** 31
MOST_TRIED = 16  # busy blocks that an allocation looks at before it takes new memory: a bound on its time

NOBODY, MESSAGE, BUFFER = range(3)  # users of a block in its owner's process


@lru_cache(4096)
def room_of(nbytes: int, head: int = 0) -> int:
    """The size class of a block: with its head whole pages, of several at most a quarter more than asked for.

    >>> room_of(1), room_of(5000), room_of(10 << 20), room_of((10 << 20) + 1)
    (4096, 8192, 10485760, 12582912)
    """
    nbytes += head
    grain = max(PAGE, 1 << max(0, (nbytes - 1).bit_length() - 3))
    return -(-nbytes // grain) * grain - head


@dataclass(slots=True, eq=False)
class Block:
    """A range of the owner's region: whole pages, with the release counts before the room for a part."""

    first: int  # the number of its first release count
    offset: int  # of its room, in the memory of the run
    room: int
    funded: int  # bytes of its room that have pages; a negative number if its counts have none either
    user: int = NOBODY  # in the owner's process: a MESSAGE that is being made, or a BUFFER that somebody refers to
    sent: dict[int, int] = field(default_factory=dict)  # how often, by the number of the release count
    leave: Callable[[], object] = field(init=False)  # called by the last view of a BUFFER

    def __post_init__(self) -> None:
        self.leave = partial(setattr, self, "user", NOBODY)


def _is_nobodys(arena: Arena, block: Block) -> None:
    """A block that is taken is used by nobody, overlaps no other, and every block can be found again."""
    assert all(arena.releases[count] == times for count, times in block.sent.items()), "a receiver still reads it"
    at = bisect_right(arena._offsets, block.offset)
    assert arena._blocks[at - 1] is block, "a block is not in its place"
    for one, other in pairwise(arena._blocks[max(at - 2, 0) : at + 1]):
        assert one.offset + one.room <= 8 * other.first, "two blocks overlap"
    assert block.offset + block.room <= arena._top <= arena._end, "a block is outside its region"
    lists = (*arena._free.values(), *arena._busy.values())
    assert sum(map(len, lists)) == len(arena._blocks), "a block is in no list, or in two"
    funded = sum(arena._head + one.funded for one in arena._blocks)
    assert arena.taken[arena.worker] == funded, "the bytes taken are not those of the blocks"


def _is_not_released_too_often(arena: Arena, block: Block) -> None:
    assert all(arena.releases[count] <= times for count, times in block.sent.items()), "released more often than sent"


class Arena(Placing):
    """The region [start, start + size) of `memory` that belongs to `worker`; only its main thread allocates there.

    `taken` counts the bytes that each worker has taken; each writes its own. Together they stay within `capacity`, but
    two that ask at once may exceed it by what they ask.
    """

    def __init__(self, memory: Memory, start: int, size: int, worker: int, taken: memoryview, capacity: int) -> None:
        super().__init__(worker)
        self.memory = memory
        self._map = memory.map
        self.releases = memory.view.cast("Q")
        self.taken = taken
        self.capacity = capacity
        self._size = size
        self._end = start + size
        self._top = start
        self._head = -(-8 * len(taken) // LINE) * LINE  # bytes of the release counts of a block
        self._blocks: list[Block] = []
        self._offsets: list[int] = []  # of these blocks, ascending
        self._free: defaultdict[int, list[Block]] = defaultdict(list)  # by room
        self._busy: defaultdict[int, deque[Block]] = defaultdict(deque)

    @after(_is_nobodys)
    def take(self, nbytes: int) -> Block:
        """A block with room for `nbytes`, in use by a MESSAGE. WorkerError if shared memory is full."""
        room = room_of(nbytes, self._head)
        free = self._free[room]
        block = (free.pop() if free else self._reclaim(room)) or self._carve(room)
        if block.funded < nbytes:
            self._fund(block, nbytes)
        block.user = MESSAGE
        self._busy[room].append(block)
        return block

    def allocate(self, nbytes: int) -> memoryview:
        """A writable buffer of `nbytes` bytes, contents arbitrary.

        From LARGE_BYTES on, an array over it (`numpy.frombuffer(buffer, dtype, count)`) is recognised when it is sent,
        and is not copied. Sending hands it over: the writer may go on reading it, but must not write to it again.
        """
        if nbytes < LARGE_BYTES:  # it will be copied into a message
            return memoryview(bytearray(nbytes))
        block = self.take(nbytes)
        block.user = BUFFER
        buffer = loan_over(block.room)(self.memory.map, block.offset)
        buffer.__del__ = block.leave
        return memoryview(buffer).cast("B")[:nbytes]

    # Placing: a part is copied once, or not at all if it lies in a BUFFER already

    def array(self, array: Any, placed: Placed) -> Reference:
        base = array.base
        if type(base) is type(array):
            base = base.base
        if base is not None and array.flags.c_contiguous:  # its memory is another object's: perhaps a BUFFER
            found = self.found(array.__array_interface__["data"][0], array.nbytes, placed)
            if found is not None:
                array.flags.writeable = False
                return found
        nbytes = array.nbytes
        block = self.take(nbytes)
        placed.append(block)
        try:
            self._map[block.offset : block.offset + nbytes] = array
        except (ValueError, BufferError):  # strided
            numpy = sys.modules["numpy"]
            numpy.copyto(numpy.ndarray(array.shape, array.dtype, self._map, block.offset), array)
        return block.first, block.offset, block.room

    def buffer(self, data: bytes | memoryview, placed: Placed) -> Reference:
        if isinstance(data, memoryview) and not data.readonly:
            found = self.found(ctypes.addressof(ctypes.c_ubyte.from_buffer(data)), len(data), placed)
            if found is not None:
                return found
        block = self.take(len(data))
        placed.append(block)
        self._map[block.offset : block.offset + len(data)] = data
        return block.first, block.offset, block.room

    def commit(self, placed: Sequence[Block], receivers: Sequence[int]) -> None:
        for block in placed:
            sent = block.sent
            for receiver in receivers:
                count = block.first + receiver
                sent[count] = sent.get(count, 0) + 1
            if block.user == MESSAGE:
                block.user = NOBODY

    def found(self, address: int, nbytes: int, placed: Placed) -> Reference | None:
        """Place memory at an address of this process without a copy; None if it is not within a BUFFER."""
        offset = address - self.memory.address
        at = bisect_right(self._offsets, offset) - 1
        if at < 0 or offset >= self._end:
            return None
        block = self._blocks[at]
        inside = offset + nbytes <= block.offset + block.room
        if not inside or block.user != BUFFER:
            return None
        placed.append(block)
        return block.first, offset, room_of(nbytes)

    # Find a released block, or make a new one.

    def _reclaim(self, room: int) -> Block | None:
        """The first free one of a few busy blocks; those still in use go to the back, so that all get their turn."""
        busy = self._busy[room]
        for _ in range(min(MOST_TRIED, len(busy))):
            block = busy.popleft()
            if self._is_free(block):
                return block
            busy.append(block)
        return None

    @before(_is_not_released_too_often)
    def _is_free(self, block: Block) -> bool:
        if block.user:
            return False
        releases, sent, is_much = self.releases, block.sent, False
        for count, times in sent.items():
            if releases[count] != times:
                return False
            if times > MOST_COUNTED:
                is_much = True
        if is_much:
            for count in sent:
                releases[count] = 0
            sent.clear()
        return True

    def _carve(self, room: int) -> Block:
        """A new block from the unused end of the region. It gets its pages later."""
        whole = self._head + room
        begin = self._top + (self.memory.to_huge_page(self._top) if whole >= HUGE_PAGE else 0)
        end = begin + whole
        if end > self._end:
            self._sweep()
            if self._free[room]:
                return self._free[room].pop()
            raise WorkerError(
                f"the shared memory of worker {self.worker} is full: all {self._size:,} bytes of its addresses are "
                "used. Raise `ulimit -v`, or have fewer sessions open at a time"
            )
        block = Block(begin // 8, begin + self._head, room, -self._head)
        self._top = end
        self._blocks.append(block)
        self._offsets.append(block.offset)
        return block

    def _fund(self, block: Block, nbytes: int) -> None:
        wanted = -(-(self._head + nbytes) // PAGE) * PAGE - self._head - block.funded
        try:
            self._see_that_capacity_suffices(wanted)
            self.memory.fund(block.offset + block.funded, wanted)
        except WorkerError:
            self._free[block.room].append(block)
            raise
        self.taken[self.worker] += wanted
        block.funded += wanted

    def _see_that_capacity_suffices(self, nbytes: int) -> None:
        if sum(self.taken) + nbytes <= self.capacity:
            return
        self._sweep()
        for blocks in self._free.values():  # pages that lie idle serve better elsewhere
            for block in blocks:
                funded = self._head + block.funded
                if funded and self.memory.defund(8 * block.first, funded):
                    self.taken[self.worker] -= funded
                    block.funded = -self._head
                    block.sent.clear()  # its release counts are 0 again
        if sum(self.taken) + nbytes > self.capacity:
            raise WorkerError(
                f"shared memory is full: worker {self.worker} wanted another {nbytes:,} bytes, {sum(self.taken):,} of "
                f"{self.capacity:,} are in use (values that readers keep occupy it)"
            )

    def _sweep(self) -> None:
        """Every busy block that nobody sees any more becomes free."""
        for room, busy in self._busy.items():
            for _ in range(len(busy)):
                block = busy.popleft()
                (self._free[room] if self._is_free(block) else busy).append(block)


class Lender:
    """Makes the buffers of one receiver over blocks of any owner; they keep the mapping.

    A release count is a semaphore of POSIX. `sem_post` counts in C and from any thread. It orders memory: the owner
    may overwrite the block, and sees the count after our reads. No other thread runs while ctypes calls it.
    """

    def __init__(self, memory: Memory, receiver: int) -> None:
        self._memory = memory  # keeps the mapping, also in a forked process
        self._address = memory.address
        self._to_mine = 8 * receiver  # from the first release count of a block to this receiver's
        self._releases: dict[int, Callable[[], object]] = {}  # by the number of the first count

    def borrow(self, first: int, offset: int, room: int) -> Any:
        """A writable buffer of `room` bytes over a block; `first` is the number of its first release count."""
        buffer = loan_at(room)(self._address + offset)
        buffer.__del__ = self._releases.get(first) or self._release_of(first)
        return buffer

    def _release_of(self, first: int) -> Callable[[], object]:
        count = ctypes.c_uint64.from_buffer(self._memory.map, 8 * first + self._to_mine)  # keeps the mapping
        release = self._releases[first] = partial(_sem_post, ctypes.byref(count))
        return release


def _own_sem_post() -> Any:
    """The function of the C library, in an object of its own, as `_disown_all` changes it."""
    function = ctypes.PyDLL(None)["sem_post"]
    function.restype = None
    return function


_sem_post = _own_sem_post()


def _disown_all() -> None:
    """A forked process inherits buffers, but not the duty to release them: their function does nothing from now on.

    ctypes calls the address that the object holds at that moment.
    """
    global _sem_post
    nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p)
    ctypes.c_void_p.from_buffer(_sem_post).value = nothing.value
    _sem_post = _own_sem_post()


os.register_at_fork(after_in_child=_disown_all)
