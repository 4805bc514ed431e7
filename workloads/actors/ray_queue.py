"""The messages of `pipes` between actors that Ray starts and places: no message passes through Ray.

vLLM's Ray executor does so since its pull request 36836. Here an actor of Ray serves a connection to the driver.
"""

import os
import select
import socket
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import ray

from workloads.actors import pipes
from workloads.actors.system import REPLY_LIMIT_S
from workloads.probe import Probe
from workloads.ray_session import session


class Server:
    """An actor of Ray, which holds one of the workload's."""

    def serve(self, address: str, actor_class: Any, arguments: tuple[Any, ...]) -> None:
        """Connect to the driver, and answer its calls until it closes the connection."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as connection:
            connection.connect(address)
            pipes.serve(connection, partial(actor_class, *arguments))


class System(pipes.System):
    """Actors of Ray on this node, with a connection each, whose end says that an actor has died."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self._scope = session("tuned", probe)
        self._session = self._scope.__enter__()
        self._coming: list[tuple[socket.socket, Any]] = []

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        for server, own in zip(self._session.start(Server, [()] * len(arguments)), arguments, strict=True):
            # Only this user may enter the directory, which goes with the session.
            address = f"{os.environ['RAY_TMPDIR']}/{uuid.uuid4().hex}"
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            listener.bind(address)
            listener.listen()
            listener.settimeout(1.0)
            self._coming.append((listener, server.serve.remote(address, actor_class, own)))

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:
        """See ActorSystem. Raises what keeps an actor from connecting."""
        for listener, serving in self._coming:
            for _ in range(int(REPLY_LIMIT_S)):
                if select.select([listener], [], [], 1.0)[0] or ray.wait([serving], timeout=0)[0]:
                    break
            ray.get(ray.wait([serving], timeout=0)[0])
            self.connect(listener.accept()[0], lambda: True)
        super().await_actors(largest_bytes)

    def close(self) -> None:
        """See ActorSystem."""
        super().close()
        for listener, _ in self._coming:
            listener.close()
        self._scope.__exit__(None, None, None)
