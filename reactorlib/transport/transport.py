"""The surface of a transport: how one worker sends, receives and allocates. Shared memory and MPI implement it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol


class Coding(Protocol):
    """Values to messages and back. What a value's type is, it is again after decoding, exactly."""

    def encoder(self, receivers: Sequence[int]) -> Callable[[Any], bytes]:
        """`encode` for the values of one place, which come in few structures."""

    def encode(self, value: Any, receivers: Sequence[int]) -> bytes:
        """The message that each receiver decodes once. WorkerError: it cannot be pickled, or memory is full."""

    def decoder(self) -> Callable[[bytes], Any]:
        """`decode` for the messages of one place."""

    def decode(self, message: bytes) -> Any:
        """The value of a message. WorkerError: it cannot be rebuilt."""

    def close(self) -> None:
        """Let go of all that was made for encoding and decoding."""


class Transport(Protocol):
    """One worker's end. Messages of a pair of workers arrive in the order in which they were sent."""

    @property
    def codec(self) -> Coding:
        """For values that this worker sends, and those that it is sent."""

    def sender_to(self, worker: int) -> Callable[[bytes], None]:
        """A function that sends a message to another worker."""

    def receiver_from(self, worker: int) -> Callable[[], bytes]:
        """A function that waits for the next message of another worker. It ends with the error of a failed check."""

    def allocate(self, nbytes: int) -> Any:
        """A writable buffer that need not be copied to be sent."""

    def allocate_shared(self, nbytes: int) -> Any:
        """The same, where those to whom it is sent may write, too. WorkerError if workers share no memory."""
