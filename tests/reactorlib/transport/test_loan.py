"""A signal that arrives when memory is given back is handled after that, and the memory is given back."""

from __future__ import annotations

import gc
import os
import signal
import sys
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactorlib.executors.executor import exit_on_signal
from reactorlib.gymnasium.vector.layout import Lease
from reactorlib.transport.arena import Arena, Lender
from reactorlib.transport.memory import Memory
from reactorlib.transport.pool import Pool
from reactorlib.transport.waiting import Bell
from tests.reactorlib.executors import driven

Held = tuple[Any, Callable[[], bool]]  # the thing that is dropped, and whether its memory was given back
MIB = 1 << 20


class Trip:
    """A signal that arrives when this dies. Python then looks for signals at the next call, but in no `del`."""

    __slots__ = ("__del__",)

    def __init__(self, number: int) -> None:
        self.__del__ = partial(interrupt_main, number)


def arena() -> Arena:
    return Arena(Memory(1 << 30), 0, 1 << 30, 0, memoryview(bytearray(16)).cast("Q"), 64 * MIB)


def owned() -> Held:
    one = arena()
    view = np.frombuffer(one.allocate(MIB), np.uint8)[5:]
    return view, lambda: one._is_free(one._blocks[0])


def lent() -> Held:
    one = arena()
    block = one.take(MIB)
    one.commit([block], [1])
    view = np.frombuffer(Lender(one.memory, 1).borrow(block.first, block.offset, block.room), np.uint8)[5:]
    return view, lambda: one._is_free(block)


def lent_in_order() -> Held:
    """As on machines that reorder memory operations."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "uname", lambda: os.uname_result(("Linux", "", "", "", "aarch64")))
        return lent()


def pooled() -> Held:
    pool = Pool()
    return np.frombuffer(pool.allocate(MIB), np.uint8)[5:], lambda: any(pool._free.values())


def leased() -> Held:
    lease = Lease(np.zeros((10, 1000)))
    return lease.lend()[5:], lambda: lease.is_free


def descriptor(make: Callable[[], Any], number: Callable[[Any], int]) -> Held:
    one = make()
    at = Path(f"/proc/self/fd/{number(one)}")
    return one, lambda: not at.exists()


def session() -> Held:
    one = driven.opened(executor="processes", workers=2)
    execution = one._execution
    return one, lambda: execution.over == "it was killed" and not execution.executor.processes  # type: ignore[attr-defined]


KINDS: dict[str, Callable[[], Held]] = {
    "owned": owned,
    "lent": lent,
    "lent in order": lent_in_order,
    "pooled": pooled,
    "leased": leased,
    "memory": lambda: descriptor(lambda: Memory(MIB), lambda memory: memory.fd),
    "bell": lambda: descriptor(Bell, lambda bell: bell._descriptor.number),
    "session": session,
}


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    """Hypothesis has a callback of the garbage collector, which is written in Python and would swallow the signal."""
    callbacks = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = callbacks


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_a_release_is_handled_after_it(kind: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    signal.signal(signal.SIGTERM, exit_on_signal)
    held, is_given_back = KINDS[kind]()
    gc.collect()  # destructors of other tests' garbage would swallow the signal
    trip = Trip(number)

    def drop() -> None:
        nonlocal held, trip
        del trip
        del held
        gc.collect()  # a session is in a cycle

    with pytest.raises(KeyboardInterrupt if number == signal.SIGINT else SystemExit):
        drop()
    assert ignored == []
    assert is_given_back()
