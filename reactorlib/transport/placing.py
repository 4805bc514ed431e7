"""Where the large parts of messages go: beside them. Shared memory and MPI have each their way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

Placed = list[Any]  # what one message refers to
Reference = tuple[int, int, int]  # how a receiver finds a part: in shared memory release count, offset, room


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
