"""The interface of an actor system: what the drivers of the workloads need of it, and nothing else.

A system is one file with a class `System`. SYSTEMS has those of this suite. Another one is named by its place.
"""

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self

from workloads import outside
from workloads.parameter import ParameterError, UnsupportedError, unknown
from workloads.probe import Probe

# Waits for the replies to a call, and returns them: one of each actor that was called, in the order of the actors.
# It is called once at most.
Replies = Callable[[], list[Any]]

# The longest wait for a reply, as in Ray's compiled graphs.
REPLY_LIMIT_S = 300.0

# The systems of this suite, each in the module of its name in this package.
SYSTEMS = ("ray-pooled", "ray-queue", "ray-pooled-compiled", "pipes", "monarch", "dask")


class InFlight:
    """A call whose replies a system has to take before the next call, whether or not somebody has asked for them."""

    def __init__(self, receive: Replies) -> None:
        self._receive: Replies | None = receive
        self._replies: list[Any] = []
        self._error: Exception | None = None

    def fetch(self) -> None:
        """Wait for the replies, unless they are here. An exception is kept for those who ask for them."""
        if self._receive is not None:
            receive, self._receive = self._receive, None
            try:
                self._replies = receive()
            except Exception as error:  # noqa: BLE001 - whatever a method raises
                self._error = error

    def __call__(self) -> list[Any]:
        """The replies, which are not kept here: see Replies."""
        self.fetch()
        if self._error is not None:
            raise self._error
        replies, self._replies = self._replies, []
        return replies


class ActorDiedError(RuntimeError):
    """The process of an actor ended while somebody waited for its reply."""


class ActorSystem(ABC):
    """Actors of one class, each in a process of its own, for the length of a run: `with System(probe) as system`.

    A subclass opens its framework in `__init__` and closes it in `close`, so that no process and no file stays.
    `start` is called once, then `await_actors`, then the others in any order. The driver does not change an argument
    before it has the replies. It drops the replies to a call before the next call, as they may lie in memory of the
    system's. `Replies` raises an exception of a method again, as the same class or one that derives from it.
    """

    def __init__(self, probe: Probe) -> None:
        """`probe`: for the time that counts as start-up, see `Probe.charge_startup`."""
        self.probe = probe

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @abstractmethod
    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """Begin to start an actor of this class for each tuple of arguments. The class can be pickled by its name."""

    @abstractmethod
    def await_actors(self, largest_bytes: Callable[[], int]) -> None:
        """Return once all actors live, have made what their constructors make, and froze it (`garbage.freeze`).

        `largest_bytes`: the bytes of the largest argument or reply that will come, for those who allot memory. Asking
        for them takes time that no program of its own would need.
        """

    @abstractmethod
    def send(self, method: str, *arguments: Any) -> Replies:
        """Call a method of all actors with the same arguments, and return before they reply."""

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:  # noqa: ARG002 - a subclass uses them
        """The same for one of them, by its index. Calls to one actor are done in the order in which they are sent.

        Raises UnsupportedError where the system calls all actors or none.
        """
        raise UnsupportedError("this system can't call one actor by itself")

    @abstractmethod
    def close(self) -> None:
        """End all actors, also if `start` was not called. A framework may stay open for later runs of the process."""


def load(name: str) -> type[ActorSystem]:
    """The class of a system by its name in SYSTEMS, or from outside (see `outside.PLACES`).

    Raises ParameterError for any other name or class.
    """
    if name in SYSTEMS:
        found = importlib.import_module(f"{__package__}.{name.replace('-', '_')}").System
    elif name in outside.PLACES:
        found = outside.named(name)
    else:
        raise ParameterError(unknown("system", name, SYSTEMS))
    if not (isinstance(found, type) and issubclass(found, ActorSystem)):
        raise ParameterError(f"system: {name} is no class that derives from ActorSystem")
    return found
