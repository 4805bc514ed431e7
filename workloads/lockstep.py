"""The members of a round on every core, each core its share, and between the cores nothing but counters.

A reference for parallel backends: nothing is sent, so no worker has the results of another. A waiting worker spins
for a while and then sleeps, as the workers of reactors do. A worker that only spins would be slowest where other
programs want the cores. Workers are processes, or threads: the difference is what sharing an interpreter costs.
"""

import mmap
import multiprocessing
import os
from collections.abc import Callable, Iterable
from functools import partial
from multiprocessing.process import BaseProcess
from threading import Thread
from types import TracebackType
from typing import Any, Self

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from reactorlib.transport.waiting import STATE_WORDS, Bell, Waiter
from workloads.parameter import UnsupportedError

_SLEEPS = 1  # the state of a worker that others have to wake
_OVER = (1 << 63) - 1  # the round after which there is none

# A member's part of a round.
Part = Callable[[], Any]


class Lockstep:
    """Workers that do a share of the members' parts, round by round; the caller has the first share.

    `make` makes a member by its index, in the process and thread that will run it. Workers are threads with `threads`,
    else forked processes. Raises UnsupportedError where processes cannot be forked.
    """

    def __init__(self, members: int, make: Callable[[int], Part], threads: bool = False) -> None:
        if not threads and "fork" not in multiprocessing.get_all_start_methods():
            raise UnsupportedError("its processes are forked, which this system cannot do")
        self._make = make
        self._threads = threads
        self._workers = min(members, available_cpus())
        self._shares: list[list[int]] = [[] for _ in range(self._workers)]
        for index in range(members):
            self._shares[worker_of_member(index, members, self._workers)].append(index)
        # Round numbers and states of all workers, on a cache line each: anonymous memory, shared by forking.
        self._rounds = memoryview(mmap.mmap(-1, 16 * STATE_WORDS * self._workers)).cast("q")
        self._states = self._rounds[STATE_WORDS * self._workers :].cast("B").cast("Q")
        self._bells = [Bell() for _ in range(self._workers)]
        self._parent = os.getpid()
        self._others: list[BaseProcess | Thread] = []
        self._round = 0

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def _start(self) -> None:
        new: Callable[..., BaseProcess | Thread] = (
            Thread if self._threads else multiprocessing.get_context("fork").Process
        )
        for worker in range(1, self._workers):
            other = new(target=self._serve, args=(worker,), daemon=True)
            other.start()
            self._others.append(other)
        self._waiter = self._waiter_of(0, self._see_that_all_live)
        self._parts = [self._make(index) for index in self._shares[0]]
        for worker in range(1, self._workers):
            self._await(worker, -1)

    def round(self) -> list[Any]:
        """Do a round; what the caller's parts have returned, once all workers have done theirs."""
        self._round += 1
        self._say(0, self._round, range(1, self._workers))
        done = [part() for part in self._parts]
        for worker in range(1, self._workers):
            self._await(worker, self._round)
        return done

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._say(0, _OVER, range(1, self._workers))
        for other in self._others:
            other.join(timeout=5.0)
            if isinstance(other, BaseProcess):
                if other.is_alive():
                    other.kill()
                    other.join()
                other.close()
        for bell in self._bells:
            bell.close()

    def _serve(self, worker: int) -> None:
        """The life of another worker. A process has a session of its own, as workers of reactors and Ray's have."""
        if not self._threads:
            os.setsid()
        waiter = self._waiter_of(worker, self._see_that_the_parent_lives)
        parts = [self._make(index) for index in self._shares[worker]]
        self._say(worker, -1, (0,))
        at = 0
        while True:
            waiter.wait(partial(self._has_begun, at + 1), _SLEEPS)
            at = self._rounds[0]
            if at == _OVER:
                return
            for part in parts:
                part()
            self._say(worker, at, (0,))

    def _waiter_of(self, worker: int, check: Callable[[], None]) -> Waiter:
        return Waiter(self._bells[worker], self._states, worker, check)

    def _has_begun(self, number: int) -> bool:
        return self._rounds[0] >= number

    def _await(self, worker: int, number: int) -> None:
        """Wait until another worker has done a round. With -1: until it has its members."""
        rounds, at = self._rounds, worker * STATE_WORDS
        self._waiter.wait(lambda: rounds[at] == number, _SLEEPS)

    def _say(self, worker: int, number: int, listeners: Iterable[int]) -> None:
        self._rounds[worker * STATE_WORDS] = number
        for listener in listeners:
            if self._states[listener * STATE_WORDS]:
                self._bells[listener].ring()

    def _see_that_all_live(self) -> None:
        if not all(other.is_alive() for other in self._others):
            raise RuntimeError("a worker of the lockstep loop has ended before the others")

    def _see_that_the_parent_lives(self) -> None:
        if not self._threads and os.getppid() != self._parent:
            os._exit(1)
