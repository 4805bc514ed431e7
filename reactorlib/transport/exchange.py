"""Everything the workers of a run share, made once before they start, and each worker's end of it.

The memory is laid out as: a control page, a ring for each ordered pair of workers, an arena for each worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.arena import BLOCKS, Arena
from reactorlib.transport.channel import RING_BYTES, Channel, KernelChannel
from reactorlib.transport.codec import Codec
from reactorlib.transport.memory import PAGE, Memory, default_capacity
from reactorlib.transport.ordering import keeps_store_order
from reactorlib.transport.quota import Quota
from reactorlib.transport.signals import SPIN_NS, Bell, Waiter

CONTROL_LINE = 64


class Exchange:
    """The shared memory, bells and abort flag of a run with `workers` workers.

    Make it before the workers start. A forked worker inherits it; for a spawned one it is pickled as an
    argument of its `multiprocessing.Process`. `pairs` are the (sender, receiver) that will ever talk: all, if not
    given. `kernel`: order memory through system calls, as needed where the machine keeps no store order.
    """

    def __init__(
        self,
        workers: int,
        *,
        pairs: Sequence[tuple[int, int]] | None = None,
        capacity: int | None = None,
        kernel: bool | None = None,
        spin_ns: int | None = None,
    ) -> None:
        self.workers = workers
        self.capacity = default_capacity() if capacity is None else capacity
        self.kernel = not keeps_store_order() if kernel is None else kernel
        self.spin_ns = (SPIN_NS if workers <= _processors() else 0) if spin_ns is None else spin_ns
        self.pairs = tuple(
            (s, r) for s in range(workers) for r in range(workers) if s != r
        ) if pairs is None else tuple(pairs)  # fmt: skip
        self._lay_out()
        self.memory = Memory(self._size)
        self.memory.fund(0, self._rings)
        self.bells = [Bell() for _ in range(workers)]
        self.posts = {pair: Bell(counting=True) for pair in self.pairs} if self.kernel else {}

    def _lay_out(self) -> None:
        self._states = CONTROL_LINE
        self._counts = self._states + CONTROL_LINE * self.workers
        self._rings = _pages(self._counts + 8 * self.workers)
        self._arenas = self._rings + _pages(RING_BYTES) * len(self.pairs)
        table = _pages(4 * BLOCKS * self.workers)
        self._region = table + _pages(min(8 * self.capacity, (1 << 44) // self.workers))
        self._size = self._arenas + self._region * self.workers

    def abort(self) -> None:
        """Tell every worker to stop: their waits end within 50 ms."""
        self.memory.map[0] = 1
        for bell in self.bells:
            bell.ring()

    @property
    def aborted(self) -> bool:
        """Whether some worker called `abort`."""
        return self.memory.map[0] != 0

    def check(self) -> None:
        """Raise WorkerError if the run was aborted."""
        if self.aborted:
            raise WorkerError("the run was aborted by another worker")

    def endpoint(self, me: int, check: Callable[[], None] | None = None) -> Endpoint:
        """The end of worker `me`, made in its own process. `check` ends waits by raising; default: `self.check`."""
        return Endpoint(self, me, check or self.check)

    def close(self) -> None:
        """Close the descriptors of this process; views of shared memory stay valid."""
        for bell in (*self.bells, *self.posts.values()):
            bell.close()
        self.bells, self.posts = [], {}
        self.memory.close()

    # For workers that are spawned: descriptors travel with the new process

    def __getstate__(self) -> dict[str, Any]:
        from multiprocessing.reduction import DupFd

        state = self.__dict__.copy()
        state["memory"] = DupFd(self.memory.fd)
        state["bells"] = [(bell.counting, [DupFd(fd) for fd in bell.fds]) for bell in self.bells]
        state["posts"] = {pair: (bell.counting, [DupFd(fd) for fd in bell.fds]) for pair, bell in self.posts.items()}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.memory = Memory.attach(state["memory"].detach(), self._size)
        self.bells = [_received(bell) for bell in state["bells"]]
        self.posts = {pair: _received(bell) for pair, bell in state["posts"].items()}


class Endpoint:
    """What one worker needs to talk to the others: codec, arena, channels. For its main thread."""

    def __init__(self, exchange: Exchange, me: int, check: Callable[[], None]) -> None:
        self.exchange = exchange
        self.me = me
        memory, workers = exchange.memory, exchange.workers
        counts = memory.view[exchange._counts : exchange._counts + 8 * workers].cast("Q")
        self._arenas = [
            Arena(memory, exchange._arenas + w * exchange._region, exchange._region, w, workers,
                  Quota(counts, exchange.capacity, w))
            for w in range(workers)
        ]  # fmt: skip
        self.arena = self._arenas[me]
        self.codec = Codec(self.arena, [arena.releases for arena in self._arenas], me)
        self._states = memory.view[exchange._states : exchange._counts].cast("Q")
        self.waiter = Waiter(exchange.bells[me], self._states, me * 8, check, self._pull, exchange.spin_ns)
        self._incoming = {s: self._channel(s, r) for s, r in exchange.pairs if r == me}
        self._outgoing = {r: self._channel(s, r) for s, r in exchange.pairs if s == me}

    def _channel(self, sender: int, receiver: int) -> Channel:
        exchange = self.exchange
        pair = sender, receiver
        start = exchange._rings + _pages(RING_BYTES) * exchange.pairs.index(pair)
        other = exchange.bells[receiver if sender == self.me else sender]
        arguments = exchange.memory, start, sender, receiver, self._states, self._arenas[sender], self.waiter, other
        return KernelChannel(*arguments, exchange.posts[pair]) if exchange.kernel else Channel(*arguments)

    def outgoing(self, receiver: int) -> Channel:
        """The channel to another worker."""
        return self._outgoing[receiver]

    def incoming(self, sender: int) -> Channel:
        """The channel from another worker."""
        return self._incoming[sender]

    def wait(self, senders: Sequence[int] | None = None, limit_ns: int | None = None) -> bool:
        """Wait until a message of any of these (default: all) has arrived; False if `limit_ns` passed before."""
        channels = [*self._incoming.values()] if senders is None else [self._incoming[s] for s in senders]
        return self.waiter.wait(lambda: any(channel.arrived() for channel in channels), limit_ns=limit_ns)

    def _pull(self) -> None:
        for channel in self._incoming.values():
            channel.pull()


def _received(state: tuple[bool, list[Any]]) -> Bell:
    counting, fds = state
    received = [fd.detach() for fd in fds]
    return Bell(counting, (received[0], received[-1]))


def _pages(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
