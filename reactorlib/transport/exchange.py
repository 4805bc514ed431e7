"""Everything the workers of a run share, made once before they start, and each worker's end of it.

The memory is laid out as: the abort flag, a cache line for each worker, a flag and a ring for each ordered pair of
workers, an arena for each worker.
"""

from __future__ import annotations

from collections.abc import Callable

from reactorlib.cpus import usable_cpus
from reactorlib.transport.arena import LINE, Arena, Lender
from reactorlib.transport.channel import RING_BYTES, MessageChannel
from reactorlib.transport.codec import Codec
from reactorlib.transport.memory import PAGE, Memory, default_capacity, keeps_store_order, most_addresses
from reactorlib.transport.waiting import SPIN_NS, STAGE, STATE_WORDS, TAKEN, Bell, Waiter

LEAST_ADDRESSES = 1 << 20  # of one arena


class Exchange:
    """The shared memory, bells and abort flag of a run with `workers` workers.

    Make it before the workers start. A forked worker inherits it; for a spawned one it is pickled as an
    argument of its `multiprocessing.Process`. `fenced`: the machine does not keep the order of stores and loads.
    """

    def __init__(self, workers: int, *, capacity: int | None = None, fenced: bool | None = None) -> None:
        self.workers = workers
        self.capacity = default_capacity() if capacity is None else capacity
        self.fenced = not keeps_store_order() if fenced is None else fenced
        self.spin_ns = SPIN_NS if workers <= usable_cpus() else 0
        self.memory = self._make_memory()
        self.memory.fund(0, self.rings)
        self.bells: list[Bell] = []
        try:
            self.bells += (Bell() for _ in range(workers))
        except OSError:
            self.close()
            raise

    def _make_memory(self) -> Memory:
        """Map eight times the capacity for each worker: with many addresses, sizes may vary.

        Map less if many addresses of the process are in use, or if the system has fewer of them.
        """
        share = min(8 * self.capacity, (most_addresses() - self._lay_out(0)) // self.workers)
        while True:
            share = max(share, LEAST_ADDRESSES)
            try:
                return Memory(self._lay_out(share))
            except OSError:
                if share == LEAST_ADDRESSES:
                    raise
            share //= 2

    def _lay_out(self, arena_bytes: int) -> int:
        """Where everything is in the memory; its size."""
        self.used = LINE + 8 * STATE_WORDS * self.workers
        self.rings = _pages(self.used + self.workers**2)
        self.arenas = self.rings + _pages(RING_BYTES) * self.workers**2
        self.region = _pages(arena_bytes)
        return self.arenas + self.region * self.workers

    def lines(self) -> memoryview:
        """The lines of all workers, STATE_WORDS words each."""
        return self.memory.view[LINE : self.used].cast("Q")

    def abort(self) -> None:
        """Tell every worker to stop: their waits end within 50 ms."""
        self.memory.map[0] = 1
        for bell in self.bells:
            bell.ring()

    @property
    def aborted(self) -> bool:
        return self.memory.map[0] != 0

    def taken(self) -> int:
        """How many bytes of shared memory the arenas of all workers have taken."""
        return sum(self.lines()[TAKEN::STATE_WORDS])

    @property
    def stages(self) -> memoryview:
        """How far each worker is in its life, at first 0."""
        return self.lines()[STAGE::STATE_WORDS]

    def close(self) -> None:
        """Close the descriptors of this process; views of shared memory stay valid."""
        for bell in self.bells:
            bell.close()
        self.bells = []
        self.memory.close()


class Endpoint:
    """The means of worker `me` to reach the others: codec, arena, channels. For its main thread, in its own process.

    `check` is called in waits, at least every 50 ms, and ends them by raising.
    """

    def __init__(self, exchange: Exchange, me: int, check: Callable[[], None]) -> None:
        self.exchange = exchange
        self.me = me
        memory, lines, size = exchange.memory, exchange.lines(), exchange.region
        self.arena = Arena(memory, exchange.arenas + size * me, size, me, lines[TAKEN::STATE_WORDS], exchange.capacity)
        self.allocate = self.allocate_shared = self.arena.allocate
        self._lender = Lender(memory, me)
        self.codec = Codec(self.arena, dict.fromkeys(range(exchange.workers), self._lender.borrow))
        self.waiter = Waiter(exchange.bells[me], lines, me, check, self._pull, exchange.spin_ns)
        self._channels: dict[tuple[int, int], MessageChannel] = {}  # by sender and receiver
        # By sender, then receiver: whether the sender has ever opened its channel to the receiver.
        self._opened = memory.view[exchange.used : exchange.used + exchange.workers**2]

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        self._opened[self.me * self.exchange.workers + worker] = 1
        return self.channel(self.me, worker).send

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        return self.channel(worker, self.me).receive

    def channel(self, sender: int, receiver: int) -> MessageChannel:
        """This worker's end of the channel of a pair to which it belongs."""
        if (sender, receiver) not in self._channels:
            exchange = self.exchange
            ring = exchange.rings + _pages(RING_BYTES) * (sender * exchange.workers + receiver)
            bell = exchange.bells[receiver if sender == self.me else sender]
            self._channels[sender, receiver] = MessageChannel(
                sender, receiver, ring, self.waiter, self.arena, self._lender, bell, exchange.fenced
            )
        return self._channels[sender, receiver]

    def _pull(self) -> None:
        for sender, opened in enumerate(self._opened[self.me :: self.exchange.workers]):
            if opened:
                self.channel(sender, self.me).pull()


def _pages(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE
