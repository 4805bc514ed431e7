"""The members of a workload in shares, one per core: the driver holds the first share, an actor each of the others.

A call asks all members, with one message to each actor and one back. The driver asks its own members after it has sent
the call and before it waits. Shares are made as reactors are placed on workers.
"""

import pickle
from collections.abc import Callable, Iterable
from typing import Any

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from workloads.actors.system import ActorSystem
from workloads.columns import columns_of, rows_of
from workloads.parameter import UnsupportedError

# Rows of more bytes are not joined: a copy would cost more than the pickling of each array.
_LARGEST_JOINED_BYTES = 100 * 1024


class Share:
    """The members that one process holds, made in it."""

    def __init__(self, member_class: Any, arguments: Iterable[tuple[Any, ...]]) -> None:
        self.members = [member_class(*own) for own in arguments]
        self._joins: bool | None = None

    def replies(self, method: str, *arguments: Any) -> list[Any]:
        """The replies of all members to the same call, in their order."""
        return [getattr(member, method)(*arguments) for member in self.members]

    def batch(self, method: str, *arguments: Any) -> Any:
        """The same replies for another process: by column if the first ones were small and had columns."""
        rows = self.replies(method, *arguments)
        if self._joins is None:
            self._joins = pickled_bytes(rows) <= _LARGEST_JOINED_BYTES and columns_of(rows) is not rows
        return columns_of(rows) if self._joins else rows


class Members:
    """The members of a class, one per tuple of arguments, in shares of `share_class`, on the actors of a system.

    `own` is the driver's share, `actors` the number of the others. Raises UnsupportedError if the driver has all
    members.
    """

    def __init__(
        self,
        system: ActorSystem,
        member_class: Any,
        arguments: Iterable[tuple[Any, ...]],
        share_class: type[Share] = Share,
    ) -> None:
        shares = shares_of(list(arguments))
        if len(shares) == 1:
            raise UnsupportedError("all members are the driver's: it would be the plain loop again")
        self._system = system
        self._share_size = len(shares[0])
        self.actors = len(shares) - 1
        system.start(share_class, [(member_class, share) for share in shares[1:]])
        self.own = share_class(member_class, shares[0])

    def await_actors(self, largest_bytes: Callable[[int], int]) -> None:
        """Return once all actors are ready. `largest_bytes`: of an argument, or of the replies of this many members."""
        self._system.await_actors(lambda: largest_bytes(self._share_size))

    def gather(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every member, and wait for the replies, in the members' order.

        Drop them before the next call: large ones may lie in memory of the system's.
        """
        receive = self._system.send("batch", method, *arguments)
        replies = self.own.replies(method, *arguments)
        for batch in receive():
            replies += rows_of(batch)
        return replies


def shares_of(members: list[Any]) -> list[list[Any]]:
    """The members by share, in order: one share per core, as far as there are members."""
    workers = min(len(members), available_cpus())
    shares: list[list[Any]] = [[] for _ in range(workers)]
    for index, member in enumerate(members):
        shares[worker_of_member(index, len(members), workers)].append(member)
    return shares


def pickled_bytes(value: Any) -> int:
    """The size of a value when pickled; its arrays are not copied for it."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)
