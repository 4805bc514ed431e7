"""Actors in processes of the standard library's multiprocessing, as one writes them by hand: a socket to each.

A call is pickled once for all actors. Large arguments are copied once, into memory that all actors read, and large
replies into memory that the driver reads. An actor's method uses arguments only until it returns. Small calls wait in
the socket while their actor is busy.
"""

import multiprocessing
import os
import socket
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

import psutil

from reactorlib.executors.library_threads import limit
from workloads import ray_tensors
from workloads.actors.channel import Channel, Outbox
from workloads.actors.holder import Holder
from workloads.actors.message import parts_of, replied
from workloads.actors.system import REPLY_LIMIT_S, ActorDiedError, ActorSystem, InFlight, Replies
from workloads.probe import Probe

_ENDING_LIMIT_S = 5.0
# Calls of this size and number fit into the buffer of a socket. So sending never waits, whatever the actors do.
_MOST_IN_FLIGHT = 64
_LARGEST_IN_FLIGHT_BYTES = 1024


class System(ActorSystem):
    """A process for each actor."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self._processes: list[BaseProcess] = []
        self._channels: list[Channel] = []
        self._are_alive: list[Callable[[], bool]] = []
        self._outbox = Outbox()
        self._in_flight: deque[InFlight] = deque()
        self._holding: set[int] = set()  # actors to whose replies, in their memory, the driver may have views

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        # A fork takes milliseconds, but a lock that another thread holds would stay locked: next to threads of Ray, an
        # actor may hang. A new interpreter imports everything again. A server that forks would stay after the run.
        method = "fork" if psutil.Process().num_threads() == 1 else "spawn"
        context: Any = multiprocessing.get_context(method)
        ours: list[socket.socket] = []
        for own in arguments:
            our_end, its_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            ours.append(our_end)
            # As long as another process has our end as well, the actor does not notice that we have closed it.
            inherited = ours if method == "fork" else []
            process = context.Process(target=_live, args=(its_end, inherited, actor_class, own), daemon=True)
            self.connect(our_end, process.is_alive)
            with its_end:
                process.start()
            self._processes.append(process)

    def connect(self, connection: socket.socket, is_alive: Callable[[], bool]) -> None:
        """Add the connection to the next actor. `is_alive` is asked when its replies take long.

        A connection ends with its process, unless that process has left others.
        """
        channel = Channel(connection)
        channel.wake_after(1)
        self._channels.append(channel)
        self._are_alive.append(is_alive)

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:  # noqa: ARG002 - memory grows with the messages
        """See ActorSystem. From then on tensors are pickled through NumPy, here and in the actors."""
        self._receive(range(len(self._channels)))
        ray_tensors.send_as_arrays()

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._call(range(len(self._channels)), method, arguments)

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._call((actor,), method, arguments)

    def _call(self, actors: Sequence[int], method: str, arguments: tuple[Any, ...]) -> Replies:
        parts = parts_of((method, arguments))
        if self._in_flight:
            self._holding.update(range(len(self._channels)))
            may_wait = len(parts) == 1 and len(parts[0]) <= _LARGEST_IN_FLIGHT_BYTES
            self._take_replies(_MOST_IN_FLIGHT - 1 if may_wait else 0)
        packet = self._outbox.packet(parts)
        for actor in actors:
            with suppress(OSError):  # the actor has died, which its reply reports
                self._channels[actor].send(packet, self._outbox.memory, actor in self._holding)
        self._holding.difference_update(actors)
        call = InFlight(partial(self._receive, actors))
        self._in_flight.append(call)
        return partial(self._replies, call)

    def _replies(self, call: InFlight) -> list[Any]:
        """The replies to a call. Those to the calls before it come first."""
        if call in self._in_flight:
            self._take_replies(len(self._in_flight) - self._in_flight.index(call) - 1)
        return call()

    def _take_replies(self, left: int) -> None:
        """Take the replies to the first calls in flight, until so many calls are left."""
        while len(self._in_flight) > left:
            self._in_flight.popleft().fetch()

    def _receive(self, actors: Sequence[int]) -> list[Any]:
        """The next reply of each of these actors. All are taken before the exception of one is raised."""
        replies, errors = [], []
        for actor in actors:
            try:
                replies.append(self._reply(actor))
            except Exception as error:  # noqa: BLE001 - whatever a method raises
                errors.append(error)
        if errors:
            raise errors[0]
        return replies

    def _reply(self, actor: int) -> Any:
        channel, give_up = self._channels[actor], monotonic() + REPLY_LIMIT_S
        while True:
            try:
                parts, _ = channel.receive()
                break
            except BlockingIOError:
                if not self._are_alive[actor]():
                    raise ActorDiedError(f"actor {actor} died") from None
                if monotonic() > give_up:
                    channel.close()  # or else the reply would be taken for that to a later call
                    raise TimeoutError(f"actor {actor} has not replied for {REPLY_LIMIT_S:.0f} s") from None
            except OSError as error:
                raise ActorDiedError(f"actor {actor} died") from error
        return replied(parts)

    def close(self) -> None:
        """See ActorSystem. Actors end by themselves when their channel is closed, or else they are killed."""
        ray_tensors.send_as_torch_does()
        for channel in self._channels:
            channel.close()
        give_up = monotonic() + _ENDING_LIMIT_S
        for process in self._processes:
            process.join(max(0.0, give_up - monotonic()))
            if process.is_alive():
                process.kill()
                process.join(_ENDING_LIMIT_S)
            process.close()
        self._processes.clear()


def serve(connection: socket.socket, make: Callable[[], Any]) -> None:
    """The life of an actor: make it, say so, and answer calls until the driver's end of the connection is closed."""
    channel, outbox, holder = Channel(connection), Outbox(), Holder()
    reply = holder.make(make, ())
    with suppress(OSError):  # the driver has gone
        while True:
            channel.send(outbox.packet(reply), outbox.memory)
            parts, holds_replies = channel.receive()
            if holds_replies:
                outbox.memory = None
            reply = holder.call(parts)


def _live(
    connection: socket.socket, inherited: Sequence[socket.socket], actor_class: Any, arguments: tuple[Any, ...]
) -> None:
    """Run the process of an actor. It has a session of its own, as workers of reactors and Ray's have."""
    os.setsid()
    for other in inherited:
        other.close()
    threading.Thread(target=_end_with_the_driver, daemon=True).start()
    limit(1, forked=True)
    serve(connection, partial(actor_class, *arguments))


def _end_with_the_driver() -> None:
    """End this process as soon as the driver has ended, also in the midst of a call."""
    driver = multiprocessing.parent_process()
    assert driver is not None
    driver.join()
    os._exit(1)
