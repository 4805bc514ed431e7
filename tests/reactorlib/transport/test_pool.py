"""Memory of large arrays is used again, and never while somebody refers to it."""

import multiprocessing
import threading

import numpy as np

from reactorlib.transport.pool import MOST_IDLE_BYTES, Pool
from reactorlib.worker.cells import LARGE_IN_THREADS


def array(pool: Pool, value: int, nbytes: int = LARGE_IN_THREADS) -> np.ndarray:
    made = np.frombuffer(pool.allocate(nbytes), np.uint8, nbytes)
    made.fill(value)
    return made


def address(made: np.ndarray) -> int:
    return int(made.__array_interface__["data"][0])


def test_memory_that_nobody_refers_to_is_used_again() -> None:
    pool = Pool()
    first = array(pool, 1)
    before = address(first)
    del first
    assert address(array(pool, 2)) == before


def test_memory_that_a_view_refers_to_is_not() -> None:
    pool = Pool()
    part = array(pool, 1)[5:9]
    others = [array(pool, 2) for _ in range(3)]
    assert part.tolist() == [1] * 4
    assert len({address(other) for other in others}) == 3


def test_much_idle_memory_is_given_back_when_more_is_needed() -> None:
    pool = Pool()
    array(pool, 1)
    array(pool, 1, 2 * MOST_IDLE_BYTES)
    assert [len(free) for free in pool._free.values()] == [1, 1]
    array(pool, 1, 4 * LARGE_IN_THREADS)
    assert [len(free) for free in pool._free.values()] == [0, 0, 1]


def test_a_forked_process_has_its_own_copy() -> None:
    held = array(Pool(), 1)
    child = multiprocessing.get_context("fork").Process(target=held.fill, args=(2,))
    child.start()
    child.join(60)
    assert child.exitcode == 0
    assert (held == 1).all()


def test_threads_never_share_memory_that_is_in_use() -> None:
    pool, wrong = Pool(), []

    def work(number: int) -> None:
        for _ in range(200):
            held = [array(pool, number) for _ in range(3)]
            if not all((one == number).all() for one in held):
                wrong.append(number)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    assert not wrong
