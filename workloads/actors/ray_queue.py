"""The messages of `pipes` between actors that Ray starts and places: no message passes through Ray.

vLLM's Ray executor does so since its pull request 36836. Here an actor of Ray serves a connection to the driver.
"""

import os
import socket
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from workloads import two_nodes
from workloads.actors import pipes
from workloads.parameter import UnsupportedError
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
    """Actors of Ray, each with a connection to the driver. Its end is all that says that an actor has died."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        if two_nodes.are_here():
            raise UnsupportedError("its messages are in memory, which two nodes do not share")
        self._scope = session("tuned", probe)
        self._session = self._scope.__enter__()
        self._listeners: list[socket.socket] = []

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        servers = self._session.start(Server, [()] * len(arguments))
        for index, (server, own) in enumerate(zip(servers, arguments, strict=True)):
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._listeners.append(listener)
            address = Path(os.environ["RAY_TMPDIR"], f"actor-{index}")  # where only this user may enter
            address.unlink(missing_ok=True)  # of an earlier run
            listener.bind(str(address))
            listener.listen()
            listener.settimeout(pipes.REPLY_LIMIT_S)
            server.serve.remote(str(address), actor_class, own)

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:
        """See ActorSystem."""
        for listener in self._listeners:
            self.connect(listener.accept()[0], lambda: True)
        super().await_actors(largest_bytes)

    def close(self) -> None:
        """See ActorSystem."""
        super().close()
        for listener in self._listeners:
            listener.close()
        self._scope.__exit__(None, None, None)
