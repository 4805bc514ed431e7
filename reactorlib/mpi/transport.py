"""Messages between the workers of one run over MPI: one rank per worker, on any MPI that mpi4py was built for.

A small message is one message of MPI. Large parts follow it, each by itself and never pickled, from where they lie in
the sender's memory to where the receiver reads them. Every receive names its source, so no timing can matter.
"""

from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from ctypes import CDLL
from struct import Struct
from time import perf_counter_ns as clock
from time import sleep
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.executors.executor import OutOfTime
from reactorlib.transport.codec import Codec, Placed, Placing, Reference
from reactorlib.transport.waiting import Spinner

ROOM = 16 * 1024  # of a message with its head, in the memory of a receiver
MESSAGE_HEAD = Struct("<II")  # bytes of the message, parts that follow
PART_HEAD = Struct("<QQ")  # number of a part, bytes
LONGEST = ROOM - MESSAGE_HEAD.size  # bytes that come with the head; more follow, as the parts do
TAGS = 1 << 13  # MPI grants twice as many at least

LOOK_NS = 100_000  # longer than its neighbours sleep at first, or two ranks would sleep in turn
LOOKS = 8  # after each sleep: MPI may need several to take what is there
SHORTEST_SLEEP_NS, LONGEST_SLEEP_NS = 20_000, 2_000_000
PATIENCE = 8  # a sleep lasts at most this part of the wait so far
TIMER_SLACK_NS = 1_000  # the default is 50 us, more than the shortest sleep
_PR_SET_TIMERSLACK = 29

Parts = dict[int, Any]  # by number

_orphans: list[Any] = []  # requests that were broken off, with their memory: MPI may still use it


class SeparateParts(Placing):
    """Large parts are messages of their own. They follow the next message that is sent to each receiver."""

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


class Incoming:
    """Messages of one other worker. A receive for the next one is always under way.

    The parts of the latest message are kept until the next one, or by the buffers over them.
    """

    def __init__(self, transport: MPITransport, source: int) -> None:
        self._transport = transport
        self._source = source
        self._parts: Parts = {}
        self._room = bytearray(ROOM)
        self._view = memoryview(self._room)
        self._request = transport.comm.Recv_init([self._room, transport.byte], source, transport.tag)
        self._start = self._request.Start
        self._arrived = self._request.Test
        self._backlog: deque[tuple[bytes, Parts]] = deque()  # taken, not yet asked for
        self._start()

    def borrow(self, first: int, offset: int, room: int) -> Any:
        return self._parts[first]

    def receive(self) -> bytes:
        """The next message. Waits until the check raises."""
        if self._backlog:
            message, self._parts = self._backlog.popleft()
            return message
        if not self._arrived():
            self._transport.waiter.wait(self._arrived)
        length, count = MESSAGE_HEAD.unpack_from(self._room)
        if not count and length <= LONGEST:
            message = bytes(self._view[MESSAGE_HEAD.size : MESSAGE_HEAD.size + length])
            self._start()
            return message
        message, self._parts = self._taken()
        return message

    def pull(self) -> None:
        """Take what has arrived, so that its sender can continue. `receive` returns it later."""
        while self._arrived():
            self._backlog.append(self._taken())

    def _taken(self) -> tuple[bytes, Parts]:
        """The message in the room and its parts, which its sender is sending."""
        length, count = MESSAGE_HEAD.unpack_from(self._room)
        size = count * PART_HEAD.size + length
        tail = self._view[MESSAGE_HEAD.size : MESSAGE_HEAD.size + size] if size <= LONGEST else self._follow([size])[0]
        message = bytes(tail[count * PART_HEAD.size :])
        wanted = [PART_HEAD.unpack_from(tail, at) for at in range(0, count * PART_HEAD.size, PART_HEAD.size)]
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
        if not self._request.Test():  # else it is not under way: a signal came between its end and the next start
            self._request.Cancel()
            self._request.Wait()
        self._request.Free()


class MPITransport:
    """This rank's end, for one thread. Workers are the ranks of `comm` from 0 on.

    `neighbours`: processes of the other ranks on this host. `run`: its number. Each run has tags of its own, so that a
    later run meets no message of one that was broken off.
    """

    def __init__(
        self, comm: Any, workers: int, run: int, check: Callable[[], None], spin_ns: int, neighbours: Sequence[int]
    ) -> None:
        from mpi4py import MPI

        self.comm = comm
        self.me: int = comm.rank
        self.tag = 2 * (run % TAGS)
        self.byte = MPI.BYTE
        self.is_closed = False
        self.waiter = RankWaiter(check, spin_ns, neighbours)
        set_timer_slack(TIMER_SLACK_NS)
        self._new_buffer = MPI.buffer.allocate
        self._all_done = MPI.Request.Testall
        self._placing = SeparateParts(self.me, workers, MPI.buffer)
        self._incoming = {source: Incoming(self, source) for source in range(workers) if source != self.me}
        self.codec = Codec(self._placing, {source: incoming.borrow for source, incoming in self._incoming.items()})

    def allocate(self, nbytes: int) -> memoryview:
        """A buffer of this process: any can be sent from where it is."""
        buffer: Any = self._new_buffer(nbytes)
        return memoryview(buffer)

    def allocate_shared(self, nbytes: int) -> memoryview:
        """Ranks have no memory that others see."""
        raise WorkerError("a batch lies in memory that all workers see, and ranks have none: send each part as a value")

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        return self._incoming[worker].receive

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        pending, isend, tag, pack = self._placing.pending[worker], self.comm.Isend, self.tag, MESSAGE_HEAD.pack

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
        tail = b"".join([*(PART_HEAD.pack(number, len(data)) for number, data in pending), message])
        head = MESSAGE_HEAD.pack(len(message), len(pending))
        pending.clear()
        if len(tail) > LONGEST:
            parts.insert(0, tail)
            tail = b""
        requests = [self.comm.Isend(head + tail, worker, self.tag)]
        requests += [self.comm.Isend([data, self.byte], worker, self.tag + 1) for data in parts]
        self.finish(requests, self._pull)

    def finish(self, requests: list[Any], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until the requests are complete: buffers that are sent may change, and buffers to receive are full.

        No limit of time ends it, as a part of the message is taken already.
        """
        test = self._all_done
        try:
            while True:
                with suppress(OutOfTime):
                    self.waiter.wait(lambda: bool(test(requests)), meanwhile)
                    return
                sleep(LONGEST_SLEEP_NS / 1e9)
        except BaseException:
            _orphans.append(requests)
            raise

    def _pull(self) -> None:
        for incoming in self._incoming.values():
            incoming.pull()

    def close(self) -> None:
        self.is_closed = True
        self.codec.close()
        set_timer_slack(0)
        for incoming in self._incoming.values():
            incoming.close()
        self._incoming.clear()


class RankWaiter:
    """The waits of one rank, which looks for a short time, then between sleeps.

    MPI offers nothing to sleep on. It would spin, and take the processor from environments that need it.
    `neighbours`: processes of the other ranks on this host.
    """

    def __init__(self, check: Callable[[], None], spin_ns: int, neighbours: Sequence[int]) -> None:
        self.check = check
        self._spinner = Spinner(spin_ns, lambda: neighbours)

    def wait(self, arrived: Callable[[], bool], meanwhile: Callable[[], None] = lambda: None) -> None:
        """Wait until `arrived()` or until the check raises. Call `meanwhile` between looks."""
        now = began = clock()
        while now < began + LOOK_NS:
            for _ in range(4):
                if arrived():
                    return
            os.sched_yield()  # the sender may need this processor
            now = clock()
        self._spinner.spin(arrived, now)
        while True:
            for _ in range(LOOKS):
                if arrived():
                    return
            self.check()
            meanwhile()
            sleep(min(max((clock() - began) // PATIENCE, SHORTEST_SLEEP_NS), LONGEST_SLEEP_NS) / 1e9)


def set_timer_slack(slack_ns: int) -> None:
    """Set by how much the system may prolong a sleep of this thread, 0 for the default."""
    CDLL(None).prctl(_PR_SET_TIMERSLACK, slack_ns, 0, 0, 0)
