"""The surface of a transport: how one worker sends, receives and allocates. Shared memory and MPI implement it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from reactorlib.transport.codec import Codec


class Transport(Protocol):
    """One worker's end. Messages of a pair of workers arrive in the order in which they were sent."""

    @property
    def codec(self) -> Codec:
        """Encodes values that this worker sends, and decodes those that it receives."""

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        """A function that sends a message to another worker."""

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        """A function that waits for the next message of another worker. It ends with the error of a failed check."""

    def allocate(self, nbytes: int) -> Any:
        """A writable buffer that need not be copied to be sent."""

    def allocate_shared(self, nbytes: int) -> Any:
        """The same, where its receivers may write. WorkerError if workers share no memory."""
