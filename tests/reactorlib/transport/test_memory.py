"""Large ranges of shared memory have huge pages where the system gives them, and small ones where it does not."""

import mmap
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reactorlib.transport import memory as module
from reactorlib.transport.arena import Arena
from reactorlib.transport.memory import HUGE_PAGE, PAGE, Memory

REGION, SIZE = 1 << 34, 5 * HUGE_PAGE + 3 * PAGE


def huge_bytes(memory: Memory) -> int:
    """How much of a mapping this process sees through huge pages."""
    text = Path("/proc/self/smaps").read_text("ascii")
    own = next(part for part in text.split(f"\n{memory.address:x}-")[1:])
    return 1024 * int(own.partition("ShmemPmdMapped:")[2].split()[0])


def collapses() -> bool:
    """Whether the system makes huge pages of shared memory when it is asked to."""
    memory = Memory(REGION)
    memory.fund(0, HUGE_PAGE)
    try:
        memory.map.madvise(25, 0, HUGE_PAGE)
    except OSError:
        return False
    memory.map[0] = 1
    return huge_bytes(memory) == HUGE_PAGE


def arena() -> Arena:
    return Arena(Memory(REGION), 0, REGION, 0, memoryview(bytearray(16)).cast("Q"), 1 << 30)


def test_huge_pages_take_no_more_memory_than_small_ones() -> None:
    ours = arena()
    ours.take(100)
    small = sum(ours.taken)
    block = ours.take(SIZE)
    assert (ours.memory.address + 8 * block.first) % HUGE_PAGE == 0
    assert sum(ours.taken) - small == SIZE + PAGE
    assert 512 * os.fstat(ours.memory.fd).st_blocks == sum(ours.taken)
    ours.memory.map[block.offset : block.offset + SIZE] = bytes(SIZE)
    assert huge_bytes(ours.memory) == (5 * HUGE_PAGE if collapses() else 0)


def test_small_blocks_have_none_and_leave_no_gaps() -> None:
    ours = arena()
    first, second = ours.take(HUGE_PAGE - 2 * PAGE), ours.take(100)
    assert 8 * second.first == first.offset + first.room
    ours.memory.map[first.offset : first.offset + first.room] = bytes(first.room)
    assert huge_bytes(ours.memory) == 0


def test_a_block_is_used_again_after_its_pages_were_given_back() -> None:
    ours = arena()
    ours.capacity = 2 * SIZE
    for _ in range(2):
        for nbytes in (SIZE, SIZE + HUGE_PAGE):
            block = ours.take(nbytes)
            ours.memory.map[block.offset : block.offset + nbytes] = b"x" * nbytes
            ours.commit([block], [])
    assert ours.memory.map[block.offset] == ord("x")


@pytest.mark.parametrize("advice", [(), (12_345,), (12_345, mmap.MADV_HUGEPAGE)])
def test_a_system_without_them_gives_small_pages(advice: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ADVICE", advice)
    memory = Memory(REGION)
    memory.fund(PAGE, SIZE)
    assert 512 * os.fstat(memory.fd).st_blocks == SIZE
    memory.map[PAGE : PAGE + SIZE] = b"y" * SIZE
    assert huge_bytes(memory) == 0


@pytest.mark.parametrize("beyond", [0, PAGE, HUGE_PAGE - PAGE])
@pytest.mark.parametrize("size", [2 * HUGE_PAGE, REGION + PAGE])
def test_a_mapping_begins_with_a_huge_page_if_the_next_one_is_put_below_the_last(
    beyond: int, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []

    def mapped(_descriptor: int, nbytes: int) -> Any:
        """A system that places each mapping below those that there are, at first `beyond` a huge page."""
        top = made[-1].address if made else 100 * REGION + size + beyond
        made.append(SimpleNamespace(address=top - nbytes, close=made.pop))
        return made[-1]

    monkeypatch.setattr(module, "mmap", SimpleNamespace(mmap=mapped))
    monkeypatch.setattr(module, "address_of", lambda mapping: mapping.address)
    memory: Any = SimpleNamespace(fd=-1, size=size)
    assert Memory._mapped(memory).address % HUGE_PAGE == 0
    assert len(made) == (1 if beyond == 0 else 2)
