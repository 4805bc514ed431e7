"""An array that several workers fill, each its own part: where it lies in memory that all of them see, and how it goes
there. The program decides which reactor writes to which part, and when.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from pickle import PickleBuffer
from typing import Any

from reactorlib.errors import WorkerError
from reactorlib.transport.arrays import Writable
from reactorlib.transport.structure import LARGE_BYTES


class Batch:
    """An array that whoever is sent it may write to: rows of one batch, say, which many reactors fill in place.

    `Output.batch` and `Session.batch` make one. Readers of an output see everything that a reactor wrote before it
    set that output. Nothing is copied, in processes either. The array is valid as long as anybody keeps it.

    >>> from reactorlib import Bank, Input, Output, Reactor, Session, connect, reaction
    >>> class Row(Reactor):
    ...     batch, done = Input[Batch](), Output[bool]()
    ...     @reaction(batch, effects=done)
    ...     def fill(self, batch, done):
    ...         batch.value.array[self.bank_index] = self.bank_index + 1
    ...         done.set(True)
    >>> class Rows(Reactor):
    ...     batch, done = Input[Batch](), Output[bool](width=3)
    ...     def __init__(self):
    ...         self.rows = Bank(Row, 3)
    ...         connect(self.batch, self.rows.batch)
    ...         connect(self.rows.done, self.done)
    >>> with Session(Rows, executor="processes", workers=2) as session:
    ...     batch = session.batch((3, 2), int)
    ...     done = session.step(batch=batch)
    ...     print(batch.array.tolist())
    [[1, 1], [2, 2], [3, 3]]
    """

    __slots__ = ("_memory", "array")

    def __init__(self, memory: Any, shape: tuple[int, ...], dtype: Any) -> None:
        import numpy as np

        self._memory = memory  # a buffer of bytes, at least as many as the array has
        kind, count = np.dtype(dtype), math.prod(shape)
        self.array = np.frombuffer(memory, np.uint8, count * kind.itemsize).view(kind).reshape(shape)

    def __reduce_ex__(self, _protocol: Any) -> Any:
        if not isinstance(self._memory, memoryview):
            raise WorkerError(
                "a batch goes from the port, or the session, that made it to those who read it, no further"
            )
        return _attached, (PickleBuffer(self._memory), self.array.shape, self.array.dtype)


def batch(allocate: Callable[[int], Any] | None, shape: int | tuple[int, ...], dtype: Any) -> Batch:
    """A batch in the memory that `allocate` gives; where all workers share what they have, in any."""
    import numpy as np

    whole = tuple(map(int, shape)) if isinstance(shape, tuple | list) else (int(shape),)
    nbytes = max(math.prod(whole) * np.dtype(dtype).itemsize, LARGE_BYTES)  # else it would travel within a message
    return Batch(np.empty(nbytes, np.uint8) if allocate is None else allocate(nbytes), whole, dtype)


def _attached(lent: Any, shape: tuple[int, ...], dtype: Any) -> Batch:
    import numpy as np

    if not isinstance(lent, memoryview):
        raise WorkerError("a batch travels as the value of a port only: what is pickled otherwise is a copy")
    return Batch(np.asarray(Writable(np.frombuffer(lent, np.uint8))), shape, dtype)
