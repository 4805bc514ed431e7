"""Messages between the workers of one run over MPI: one rank per worker, on any MPI that mpi4py was built for.

What is small is one message of MPI; large parts follow it, each by itself, from where it lies in the sender's memory
to where the receiver reads it, never pickled. Every receive names its source, so that no timing can matter. Never
decides who lives: a wait asks the `check` of whoever made it.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CDLL
from select import select
from struct import Struct
from time import perf_counter_ns as clock
from time import sleep
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.codec import Codec
from reactorlib.transport.placing import Placed, Placing, Reference
from reactorlib.transport.waiting import Spinner

ROOM = 16 * 1024  # of a message with its head, in the memory of a receiver
HEAD = Struct("<II")  # bytes of the message, parts that follow
PART = Struct("<QQ")  # number of a part, bytes
LONGEST = ROOM - HEAD.size  # of what comes with the head: else it follows, as the parts do
TAGS = 1 << 13  # MPI grants twice as many at least
# A rank looks for so long in any case: longer than another one sleeps at first, or both would sleep in turn; and
# not so long where what comes ends a sleep.
LOOK_NS, LOOK_FAR_NS = 100_000, 10_000
LOOKS = 8  # after each sleep
MOST_IDLE = 100  # then one is always ready, and no use
FD_SETSIZE = 1024  # select takes descriptors below this only
SHORTEST_SLEEP_NS, LONGEST_SLEEP_NS = 20_000, 2_000_000
TIMER_SLACK_NS = 1_000  # by how much the system may prolong a sleep; usually more than the shortest
_PR_SET_TIMERSLACK, _PR_GET_TIMERSLACK = 29, 30
PATIENCE = 8  # a wait is prolonged by a part of this size, as it can only be looked at, and not be woken

Parts = dict[int, Any]  # by number

_orphans: list[Any] = []  # requests that were broken off, with their memory: MPI may still use it


class Waiter:
    """How a rank waits: it looks for a short time, then between sleeps.

    MPI offers nothing to sleep on. But what brings it messages from a network has an epoll of its own, whose readiness
    ends a sleep here, where a rank has no `fellows` on its host. Nothing depends on that, as all sleeps are short.
    Between ranks of one host nothing ends a sleep: they look for longer first.
    """

    def __init__(self, check: Callable[[], None], spin_ns: int, fellows: Sequence[int]) -> None:
        self.check = check
        self._spinner = Spinner(spin_ns, lambda: fellows)
        self._slack_ns = set_timer_slack(TIMER_SLACK_NS)
        self._events = [] if fellows else event_polls()
        self._is_woken = bool(self._events)
        self._look_ns = LOOK_FAR_NS if self._is_woken else LOOK_NS
        self._idle = 0  # so many times in succession one was ready, and nothing had come

    def wait(self, arrived: Callable[[], bool], meanwhile: Callable[[], None] | None = None) -> None:
        """Wait until `arrived()`; `meanwhile` is called between looks. Ends with the error of a failed check."""
        now = began = clock()
        while now < began + self._look_ns:
            for _ in range(4):
                if arrived():
                    return
            os.sched_yield()  # whom it waits for may be waiting for this processor
            now = clock()
        self._spinner.spin(arrived, now)
        while True:
            for _ in range(LOOKS):  # MPI may need several to take what is there
                if arrived():
                    self._idle = 0
                    return
            self.check()
            if meanwhile is not None:
                meanwhile()
            self._sleep(min(max((clock() - began) // PATIENCE, SHORTEST_SLEEP_NS), LONGEST_SLEEP_NS))

    def _sleep(self, duration_ns: int) -> None:
        if self._is_woken and self._idle < MOST_IDLE:
            try:
                if select(self._events, (), (), LONGEST_SLEEP_NS / 1e9)[0]:
                    self._idle += 1
            except OSError:  # somebody closed one
                self._is_woken = False
        else:
            sleep(duration_ns / 1e9)

    def close(self) -> None:
        """Leave the thread as it was."""
        set_timer_slack(self._slack_ns)


def event_polls() -> list[int]:
    """Descriptors of the epolls in this process."""
    found = []
    with suppress(OSError):
        for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
            with suppress(OSError):
                if "eventpoll" in os.readlink(f"/proc/self/fd/{name}") and int(name) < FD_SETSIZE:  # noqa: PTH115
                    found.append(int(name))
    return found


def set_timer_slack(slack_ns: int) -> int:
    """Let the system prolong sleeps of this thread by so much; what it was before, and 0 for as usual."""
    if sys.platform != "linux":
        return 0
    prctl = CDLL(None).prctl
    before: int = prctl(_PR_GET_TIMERSLACK, 0, 0, 0, 0)
    prctl(_PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)
    return max(before, 0)


class Beside(Placing):
    """Large parts travel beside the message, with the next one that is sent to each receiver."""

    def __init__(self, worker: int, workers: int, buffer: type) -> None:
        super().__init__(worker)
        self.pending: list[list[tuple[int, Any]]] = [[] for _ in range(workers)]
        self._buffer = buffer
        self._number = 0

    def array(self, array: Any, placed: Placed) -> Reference:
        base = array.base
        if type(base) is type(array):
            base = base.base
        if isinstance(base, memoryview) and type(base.obj) is self._buffer:
            array.flags.writeable = False
        flat = sys.modules["numpy"].ascontiguousarray(array).reshape(-1)
        return self.buffer(memoryview(flat.view("u1")), placed)

    def buffer(self, data: Any, placed: Placed) -> Reference:
        self._number = number = self._number + 1
        placed.append((number, data))
        return number, 0, len(data)

    def commit(self, placed: Placed, receivers: Sequence[int]) -> None:
        for receiver in receivers:
            self.pending[receiver] += placed


class Received:
    """What came beside the latest message of one worker: kept by the buffers over it, and until the next message."""

    def __init__(self) -> None:
        self.parts: Parts = {}

    def lend(self, first: int, offset: int, room: int) -> memoryview:
        return memoryview(self.parts[first]).toreadonly()

    def borrow(self, first: int, offset: int, room: int) -> Any:
        return self.parts[first]


class Incoming:
    """What one other worker sends to this one. A receive for its next message is always under way."""

    def __init__(self, transport: MPITransport, source: int, received: Received) -> None:
        self._transport = transport
        self._source = source
        self._received = received
        self._room = bytearray(ROOM)
        self._view = memoryview(self._room)
        self._request = transport.comm.Recv_init([self._room, transport.byte], source, transport.tag)
        self._start = self._request.Start
        self._arrived = self._request.Test
        self._backlog: deque[tuple[bytes, Parts]] = deque()  # taken, not yet asked for
        self._start()

    def receive(self) -> bytes:
        """The next message; waits for it as long as the check lets it."""
        if self._backlog:
            message, self._received.parts = self._backlog.popleft()
            return message
        if not self._arrived():
            self._transport.waiter.wait(self._arrived)
        length, count = HEAD.unpack_from(self._room)
        if not count and length <= LONGEST:
            message = bytes(self._view[HEAD.size : HEAD.size + length])
            self._start()
            return message
        message, self._received.parts = self._taken()
        return message

    def pull(self) -> None:
        """Take what has arrived, so that its sender can go on; `receive` will return it."""
        while self._arrived():
            self._backlog.append(self._taken())

    def _taken(self) -> tuple[bytes, Parts]:
        """The message in the room and its parts. Their sender sees to it that they come while this waits."""
        length, count = HEAD.unpack_from(self._room)
        size = count * PART.size + length
        tail = self._view[HEAD.size : HEAD.size + size] if size <= LONGEST else self._follow([size])[0]
        message = bytes(tail[count * PART.size :])
        wanted = [PART.unpack_from(tail, at) for at in range(0, count * PART.size, PART.size)]
        self._start()
        return message, dict(zip((n for n, _ in wanted), self._follow([size for _, size in wanted]), strict=True))

    def _follow(self, sizes: list[int]) -> list[memoryview]:
        """Buffers of these sizes, with what the sender sent next."""
        transport = self._transport
        buffers = [transport.allocate(nbytes) for nbytes in sizes]
        transport.finish([transport.comm.Irecv([b, transport.byte], self._source, transport.tag + 1) for b in buffers])
        return buffers

    def close(self) -> None:
        """Let go of the receive that is under way."""
        self._request.Cancel()
        self._request.Wait()
        self._request.Free()


class MPITransport:
    """The end of worker `me` of `workers`, the ranks of `comm` from 0 on. `run` is the number of the run in it.

    `fellows`: processes of the other ranks on this host. For one thread. Runs have tags of their own: what is left of
    a run that was broken off meets no later one.
    """

    def __init__(
        self, comm: Any, workers: int, run: int, check: Callable[[], None], spin_ns: int, fellows: Sequence[int]
    ) -> None:
        from mpi4py import MPI

        self.comm = comm
        self.me: int = comm.rank
        self.tag = 2 * (run % TAGS)
        self.byte = MPI.BYTE
        self.waiter = Waiter(check, spin_ns, fellows)
        self._new_buffer = MPI.buffer.allocate
        self._all_done = MPI.Request.Testall
        received = [Received() for _ in range(workers)]
        self._placing = Beside(self.me, workers, MPI.buffer)
        self.codec = Codec(self._placing, received)
        self._incoming = {s: Incoming(self, s, received[s]) for s in range(workers) if s != self.me}

    def allocate(self, nbytes: int) -> memoryview:
        """A buffer of this process: any can be sent from where it is."""
        buffer: Any = self._new_buffer(nbytes)
        return memoryview(buffer)

    def allocate_shared(self, nbytes: int) -> memoryview:
        """Ranks have no memory that others see."""
        raise WorkerError("a batch lies in memory that all workers see, and ranks have none: send each part as a value")

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        """A function that waits for the next message of another worker."""
        return self._incoming[worker].receive

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        """A function that sends a message to another worker."""
        pending, isend, tag, pack = self._placing.pending[worker], self.comm.Isend, self.tag, HEAD.pack

        def send(message: bytes) -> None:
            length = len(message)
            if pending or length > LONGEST:
                self._send_parts(worker, message)
                return
            request = isend(pack(length, 0) + message, worker, tag)
            if not request.Test():
                self.finish([request], self._pull)

        return send

    def _send_parts(self, worker: int, message: bytes) -> None:
        pending = self._placing.pending[worker]
        parts = [data for _, data in pending]
        tail = b"".join([*(PART.pack(number, len(data)) for number, data in pending), message])
        head = HEAD.pack(len(message), len(pending))
        pending.clear()
        if len(tail) > LONGEST:
            parts.insert(0, tail)
            tail = b""
        requests = [self.comm.Isend(head + tail, worker, self.tag)]
        requests += [self.comm.Isend([data, self.byte], worker, self.tag + 1) for data in parts]
        self.finish(requests, self._pull)

    def finish(self, requests: list[Any], meanwhile: Callable[[], None] | None = None) -> None:
        """Wait until what is sent may change, or what is received has come."""
        test = self._all_done
        try:
            self.waiter.wait(lambda: bool(test(requests)), meanwhile)
        except BaseException:
            _orphans.append(requests)
            raise

    def _pull(self) -> None:
        for incoming in self._incoming.values():
            incoming.pull()

    def close(self) -> None:
        """The run has ended: nothing is received any more."""
        self.codec.close()
        self.waiter.close()
        for incoming in self._incoming.values():
            incoming.close()
        self._incoming.clear()
