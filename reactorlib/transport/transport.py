"""The surface of a transport: how one worker sends, receives and allocates. Shared memory and MPI implement it.

Large parts of messages go beside them: a `Placing` takes them, a `Lending` of the receiver finds them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from reactorlib.transport.codec import Codec

Placed = list[Any]  # what one message refers to
Reference = tuple[int, int, int]  # how a receiver finds a part: in shared memory release count, offset, room


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


class Placing(ABC):
    """Takes the large parts of a worker's messages. They are collected in `placed` until `commit`."""

    def __init__(self, worker: int) -> None:
        self.worker = worker

    @abstractmethod
    def array(self, array: Any, placed: Placed) -> Reference:
        """Place a NumPy array. One that lies in a buffer from `allocate` is read-only from now on: readers see it."""

    @abstractmethod
    def buffer(self, data: Any, placed: Placed) -> Reference:
        """Place a one-dimensional buffer of bytes."""

    def raw(self, buffer: memoryview, placed: Placed) -> Reference:
        """Place a buffer of an object that is pickled."""
        return self.buffer(buffer, placed)

    @abstractmethod
    def commit(self, placed: Placed, receivers: Sequence[int]) -> None:
        """The parts are on their way to these receivers. Without any, the message will not be sent."""


class Lending(Protocol):
    """Makes buffers over the parts that one other worker placed, from references to them."""

    def lend(self, first: int, offset: int, room: int) -> memoryview:
        """A read-only buffer of `room` bytes: as many as were placed, or more."""

    def borrow(self, first: int, offset: int, room: int) -> Any:
        """The same, writable, for tensors and batches."""
