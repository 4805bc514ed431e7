"""The workload's actor in an actor of a framework, for frameworks whose own pickling calls Python for every array.

A message is pickled here, once for all who receive it. The framework has only bytes to send: a pickle, and apart from
it the contents of large arrays, which are copied less often like that. What the actor raises is part of a reply. So an
error of the framework is never taken for one of the actor's.
"""

import os
import pickle
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import wait
from multiprocessing.pool import ExceptionWithTraceback  # type: ignore[attr-defined]
from typing import Any, TypeAlias, TypeVar

from workloads import ray_tensors
from workloads.actors.system import ActorDiedError
from workloads.garbage import freeze

# Larger arrays lie apart from the pickle.
_LARGEST_INLINE_BYTES = 16 * 1024
_REPLY_LIMIT_S = 300.0  # as in Ray's compiled graphs
# A framework may notice a dead process late. So the processes are looked at each time that a wait was this long.
_LOOK_S = 0.5

# A pickle, and the contents of the large arrays of the value in order.
Parts: TypeAlias = list[bytes | pickle.PickleBuffer]
T = TypeVar("T")


class Holder:
    """Makes an actor, and calls it."""

    def make(self, actor_class: Any, arguments: tuple[Any, ...]) -> Parts:
        """Make the actor, freeze it, and reply with its process. From then on tensors are pickled through NumPy."""

        def begin() -> int:
            self._actor = actor_class(*arguments)
            ray_tensors.send_as_arrays()
            freeze()
            return os.getpid()

        return _outcome(begin)

    def call(self, parts: Iterable[Any]) -> Parts:
        """The reply to a call, which is a method's name and its arguments."""

        def answer() -> Any:
            method, arguments = value_of(parts)
            return getattr(self._actor, method)(*arguments)

        return _outcome(answer)


class Processes:
    """The processes of actors, for a driver that waits for replies of theirs."""

    def __init__(self) -> None:
        self._ended: list[int] = []  # descriptors, each of which can be read once its process has ended

    def watch(self, processes: Iterable[int]) -> None:
        """Add processes by their identifiers."""
        self._ended += map(os.pidfd_open, processes)

    def result(self, within: Callable[[float], T]) -> T:
        """What a function returns that waits for so many seconds, and is called again where it raises TimeoutError.

        Raises ActorDiedError when a process has ended meanwhile, and TimeoutError after five minutes.
        """
        give_up = time.monotonic() + _REPLY_LIMIT_S
        while True:
            try:
                return within(_LOOK_S)
            except TimeoutError:
                if self.have_ended(0):
                    raise ActorDiedError("the process of an actor ended") from None
                if time.monotonic() > give_up:
                    raise

    def have_ended(self, seconds: float) -> bool:
        """Whether one of them has ended, or does so within this time."""
        return bool(wait(self._ended, seconds))

    def close(self) -> None:
        """Watch them no longer."""
        while self._ended:
            os.close(self._ended.pop())


def parts_of(value: Any) -> Parts:
    """The parts of a value. Its large arrays are not copied for it."""
    large: Parts = []

    def stays(buffer: pickle.PickleBuffer) -> bool:
        is_small = buffer.raw().nbytes <= _LARGEST_INLINE_BYTES
        if not is_small:
            large.append(buffer)
        return is_small

    return [pickle.dumps(value, protocol=5, buffer_callback=stays), *large]


def value_of(parts: Iterable[Any]) -> Any:
    """The value again. Its large arrays are views of the parts."""
    head, *large = parts
    return pickle.loads(head, buffers=large)


def replied(parts: Iterable[Any]) -> Any:
    """What an actor returned, by its reply. Raises what it raised."""
    error, value = value_of(parts)
    if error is not None:
        raise error
    return value


def _outcome(call: Callable[[], Any]) -> Parts:
    """A reply with what a call raises, if anything, and what it returns."""
    try:
        return parts_of((None, call()))
    except Exception as error:  # noqa: BLE001 - whatever a method raises
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # noqa: BLE001 - whatever its class does
            error = RuntimeError(f"{type(error).__name__}: {error}")
        return parts_of((ExceptionWithTraceback(error, error.__traceback__), None))
