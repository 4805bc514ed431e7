"""The workload's actor in an actor of another system, and the processes of a system's actors as a driver sees them."""

import os
import time
from collections.abc import Callable, Iterable
from multiprocessing.connection import wait
from typing import Any, TypeVar

from workloads import ray_tensors
from workloads.actors.message import Parts, outcome, value_of
from workloads.actors.system import REPLY_LIMIT_S, ActorDiedError
from workloads.garbage import freeze

# A framework may notice a dead process late. So the processes are looked at each time that a wait was this long.
_LOOK_S = 0.5

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

        return outcome(begin)

    def call(self, parts: Iterable[Any]) -> Parts:
        """The reply to a call, which is a method's name and its arguments."""

        def answer() -> Any:
            method, arguments = value_of(parts)
            return getattr(self._actor, method)(*arguments)

        return outcome(answer)


class Processes:
    """The processes of actors, for a driver that waits for replies of theirs."""

    def __init__(self) -> None:
        self._ended: list[int] = []  # descriptors, each of which can be read once its process has ended

    def watch(self, processes: Iterable[int]) -> None:
        """Add processes by their identifiers."""
        self._ended += map(os.pidfd_open, processes)

    def result(self, within: Callable[[float], T]) -> T:
        """The result of a function, which waits for the seconds that it is given, and then raises TimeoutError.

        It is called again until it has a result. Raises ActorDiedError when a process has ended meanwhile, and
        TimeoutError after five minutes.
        """
        give_up = time.monotonic() + REPLY_LIMIT_S
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
