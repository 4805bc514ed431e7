"""Blocks live exactly as long as somebody can see them, and are used again; full is an error, not a crash."""

import gc
import threading
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reactorlib.errors import WorkerError
from reactorlib.transport.arena import Arena, Lender, room_of
from reactorlib.transport.exchange import Endpoint
from reactorlib.transport.memory import PAGE, Memory
from reactorlib.transport.structure import LARGE_BYTES
from tests.reactorlib.transport.conftest import MakeExchange
from tests.reactorlib.transport.peer import Peer, endpoint, resident_bytes

MIB = 1 << 20


def _arena(capacity: int = 64 * MIB, workers: int = 2, region: int = 1 << 34) -> Arena:
    memory = Memory(region)
    return Arena(memory, 0, region, 0, memoryview(bytearray(8 * workers)).cast("Q"), capacity)


@given(st.integers(1, 1 << 45))
def test_a_room_is_at_most_a_quarter_too_large(nbytes: int) -> None:
    room = room_of(nbytes)
    assert nbytes <= room == room_of(room)
    assert room <= nbytes * 1.25 or room - nbytes < PAGE
    assert room % PAGE == 0


def test_blocks_do_not_overlap() -> None:
    arena = _arena(capacity=1 << 30)
    blocks = [arena.take(nbytes) for nbytes in range(1, 60_000, 97)]
    spans = sorted((8 * block.first, block.offset, block.offset + block.room) for block in blocks)
    assert all(counts + 2 * 8 <= begin and begin % 64 == 0 for counts, begin, _ in spans)
    assert all(end <= counts for (_, _, end), (counts, _, _) in pairwise(spans))


def test_a_block_is_free_when_every_receiver_released_it() -> None:
    arena = _arena(workers=4)
    block = arena.take(5000)
    arena.commit([block], [1, 2, 2, 3])
    lenders = {receiver: Lender(arena.memory, receiver) for receiver in (1, 2, 3)}
    views = [lenders[receiver].borrow(block.first, block.offset, block.room) for receiver in (1, 2, 2, 3)]
    while views:
        assert arena.take(5000) is not block
        views.pop()
    assert block in [arena.take(5000) for _ in range(5)]


def test_the_last_of_many_views_releases() -> None:
    arena, lender = _small()
    block = arena.take(8000)
    arena.commit([block], [1])
    array = np.ndarray((1000,), "f8", lender.borrow(block.first, block.offset, block.room))
    views: list[Any] = [array, array[1:], array.reshape(10, 100), array[5:7].data, array.view("u1"), array.T[:3]]
    del array
    while views:
        assert not arena._is_free(block)
        views.pop(0)
    assert arena._is_free(block)


def _small() -> tuple[Arena, Lender]:
    arena = _arena()
    return arena, Lender(arena.memory, 1)


def test_a_cycle_is_released_when_it_is_collected() -> None:
    arena, lender = _small()
    block = arena.take(8000)
    arena.commit([block], [1])
    cycle: list[Any] = [lender.borrow(block.first, block.offset, block.room)]
    cycle.append(cycle)
    del cycle
    assert not arena._is_free(block)
    gc.collect()
    assert arena._is_free(block)


def test_release_counts_begin_again_before_they_overflow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.transport.arena.MOST_COUNTED", 3)
    arena, lender = _small()
    counted = set()
    for _ in range(20):
        block = arena.take(8000)
        arena.commit([block], [1])
        lender.borrow(block.first, block.offset, block.room)
        counted.add(arena.releases[block.first + 1])
    assert len(arena._blocks) == 1
    assert counted == {1, 2, 3, 4}


def test_memory_is_a_buffer_s_where_all_of_it_is_inside() -> None:
    arena = _arena()
    array = np.frombuffer(arena.allocate(8000), "u1")
    address = array.ctypes.data
    offset = address - arena.memory.address
    placed: list[Any] = []
    assert arena.found(address, 8000, placed) == (placed[0].first, offset, room_of(8000))
    room = placed[0].room
    assert arena.found(address + 100, room - 100, placed) is not None
    assert arena.found(address, room + 1, placed) is None
    assert arena.found(address + 100, room - 99, placed) is None
    assert arena.found(address - 1, 1, placed) is None
    assert len(placed) == 2


def test_an_allocated_buffer_is_kept_while_it_is_referred_to() -> None:
    arena, _ = _small()
    array = np.frombuffer(arena.allocate(8000), "f8")
    array[:] = 1
    others = [np.frombuffer(arena.allocate(8000), "f8") for _ in range(100)]
    for other in others:
        other[:] = 2
    assert (array == 1).all()
    address = array.ctypes.data
    del array
    assert address in [np.frombuffer(arena.allocate(8000), "f8").ctypes.data for _ in range(100)]


def test_views_outlive_arena_lender_and_memory() -> None:
    arena, lender = _small()
    block = arena.take(8000)
    arena.memory.map[block.offset : block.offset + 5] = b"hello"
    arena.commit([block], [1])
    view = lender.borrow(block.first, block.offset, block.room)
    own = arena.allocate(8000)
    own[:5] = b"there"
    arena.memory.close()
    del arena, lender, block
    gc.collect()
    assert bytes(memoryview(view)[:5]) == b"hello"
    assert bytes(own[:5]) == b"there"


def test_a_steady_state_takes_no_new_memory() -> None:
    arena, lender = _small()
    kept: deque[Any] = deque(maxlen=20)
    offsets = set()
    for number in range(5000):
        block = arena.take(8000 + number % 3)
        arena.commit([block], [1])
        kept.append(lender.borrow(block.first, block.offset, block.room))
        offsets.add(block.offset)
    assert len(offsets) < 20 + 30


def test_full_says_what_was_wanted_and_what_there_is() -> None:
    arena = _arena(capacity=10 * (MIB + PAGE))
    kept = [arena.allocate(MIB) for _ in range(10)]
    with pytest.raises(WorkerError) as caught:
        arena.allocate(3 * MIB - PAGE)
    for part in ("worker 0", "another 3,145,728 bytes", "10,526,720 of 10,526,720"):
        assert part in str(caught.value)
    kept.pop()
    assert arena.allocate(MIB)


def test_pages_of_free_blocks_serve_other_sizes() -> None:
    arena = _arena(capacity=10 * MIB)
    for size in (MIB, 2 * MIB, 3 * MIB, 9 * MIB, MIB // 2, 100, MIB):
        for _ in range(30):
            arena.allocate(size)[-1] = 1


def test_a_small_buffer_takes_no_shared_memory_as_it_is_copied_into_a_message() -> None:
    arena = _arena(capacity=PAGE)
    kept = [np.frombuffer(arena.allocate(LARGE_BYTES - 1), "u1") for _ in range(10)]
    assert sum(arena.taken) == 0
    assert len({array.ctypes.data for array in kept}) == 10


def test_addresses_can_run_out_and_small_blocks_stay_within_their_region() -> None:
    arena = _arena(capacity=1 << 30, region=10 * MIB)
    kept = [arena.allocate(MIB - PAGE) for _ in range(10)]
    with pytest.raises(WorkerError, match=r"all .* of its addresses are used"):
        arena.allocate(MIB - PAGE)
    kept.clear()
    assert arena.allocate(MIB - PAGE)


def test_the_machine_may_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(fd: int, offset: int, length: int) -> None:
        raise OSError(28, "No space left on device")

    arena = _arena()
    arena.allocate(MIB)
    monkeypatch.setattr("os.posix_fallocate", refuse)
    with pytest.raises(WorkerError, match="the machine refused another 2,097,152 bytes \\(No space left"):
        arena.allocate(2 * MIB - PAGE)
    monkeypatch.undo()
    assert arena.allocate(2 * MIB - PAGE)


def test_several_workers_share_one_limit(make_exchange: MakeExchange) -> None:
    exchange = make_exchange(3, capacity=10 * MIB)
    ends = [endpoint(exchange, worker) for worker in range(3)]
    kept = [end.arena.allocate(3 * MIB - PAGE) for end in ends]
    with pytest.raises(WorkerError, match="worker 2 wanted another 3,145,728 bytes, 9,437,184 of 10,485,760"):
        ends[2].arena.allocate(3 * MIB - PAGE)
    del kept


def test_releases_from_many_threads_are_all_counted() -> None:
    arena, lender = _small()
    block = arena.take(8000)
    rounds, threads = 2000, 4
    arena.commit([block], [1] * rounds * threads)

    def lend() -> None:
        for _ in range(rounds):
            lender.borrow(block.first, block.offset, block.room)

    running = [threading.Thread(target=lend) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join(60)
    assert arena._is_free(block)


def test_a_forked_process_releases_nothing_that_it_inherited(make_exchange: MakeExchange) -> None:
    exchange = make_exchange(3)
    ends = [endpoint(exchange, 0), endpoint(exchange, 1)]
    encode = ends[0].codec.encoder([1])
    array = ends[1].codec.decode(encode(np.arange(10_000)))
    held = [array]

    def drop(end: Endpoint) -> None:
        held.clear()
        gc.collect()
        end.sender_to(0)(b"dropped")

    del array
    with Peer(exchange, 2, drop):
        assert ends[0].receiver_from(2)() == b"dropped"
        for _ in range(50):
            ends[1].codec.decode(encode(np.zeros(10_000, int)))
        assert (held[0] == np.arange(10_000)).all()


@pytest.mark.parametrize(
    "wrap", [lambda a: a, lambda a: (a, 1.0), lambda a: {None: a}], ids=["array", "tuple", "pickle"]
)
def test_a_view_kept_for_a_thousand_rounds_stays_intact(
    make_exchange: MakeExchange, wrap: Callable[[Any], Any], fenced: bool
) -> None:
    rounds = 1000

    def keep(end: Endpoint) -> None:
        receive, decode, send = end.receiver_from(0), end.codec.decode, end.sender_to(0)
        kept: dict[int, Any] = {}
        for number in range(rounds):
            value = decode(receive())
            array = value if isinstance(value, np.ndarray) else value[0 if isinstance(value, tuple) else None]
            if number % 100 == 0:
                kept[number] = array[10:5000]
            assert array[0] == array[-1] == number
            send(b"next")
        for number, array in kept.items():
            assert (array == number).all(), number

    exchange = make_exchange(fenced=fenced)
    end = endpoint(exchange, 0)
    encode = end.codec.encoder([1])
    with Peer(exchange, 1, keep):
        for number in range(rounds):
            end.sender_to(1)(encode(wrap(np.full(10_000, number))))
            assert end.receiver_from(1)() == b"next"
    assert len(end.arena._blocks) < 40


@pytest.mark.slow(reason="hundreds of MiB; `make test` sees that blocks are used again")
def test_resident_memory_is_flat(make_exchange: MakeExchange) -> None:
    def echo(end: Endpoint) -> None:
        receive, decode, send = end.receiver_from(0), end.codec.decode, end.sender_to(0)
        encode = end.codec.encoder([0])
        while (value := decode(receive())) is not None:
            send(encode(value))

    exchange = make_exchange()
    end = endpoint(exchange, 0)
    encode, decode = end.codec.encoder([1]), end.codec.decode
    with Peer(exchange, 1, echo) as peer:

        def rounds(count: int) -> int:
            for number in range(count):
                end.sender_to(1)(encode((np.full(20_000, number), "x" * (number % 1000 * 20), {None: [1] * 2000})))
                assert decode(end.receiver_from(1)())[0][-1] == number
            return resident_bytes(peer.pid)

        rounds(1500)
        before, taken = rounds(1500), sum(end.arena.taken)
        after = rounds(6000)
        assert after - before < MIB
        assert sum(end.arena.taken) == taken
        end.sender_to(1)(encode(None))
