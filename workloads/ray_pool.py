"""Members in shares, one per core: the driver holds the first share, and a Ray actor each of the others.

Or each member has an actor of its own, and the driver has none. A call to an actor asks all members of its share, and
one message brings their replies. Small calls and replies are packed by one pickle, the replies by column. The driver
asks its own members between the calls and the wait for the replies. Shares are made as reactors are placed on workers.
"""

import pickle
from collections.abc import Iterable
from typing import Any

import ray

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from workloads.columns import columns_of, rows_of
from workloads.parameter import UnsupportedError
from workloads.ray_graph import ExecuteAll, broadcast_graph
from workloads.ray_session import Session
from workloads.ray_styles import INLINE_LIMIT_BYTES

# A pickle of the replies of a share's members, by column where they have arrays, or a list of them.
Batch = bytes | list[Any]


class Packing:
    """Pickles small values, and leaves large ones to Ray. All are taken to be as large as the first one.

    Ray's own pickling calls Python for every array, which costs more than a small array's bytes. It sends bytes as they
    are. Large arrays it puts where their readers see them without a copy.
    """

    def __init__(self) -> None:
        self._is_small: bool | None = None
        self._has_columns = True

    def pack(self, value: Any) -> Any:
        """A pickle of a small value, or the value itself."""
        return pickle.dumps(value, protocol=5) if self._packs(value) else value

    def pack_rows(self, rows: list[Any]) -> Any:
        """A pickle of small rows, by column if the first ones had columns, or the rows themselves."""
        if self._is_small is False:
            return rows
        columns = columns_of(rows) if self._has_columns else rows
        self._has_columns = columns is not rows
        return pickle.dumps(columns, protocol=5) if self._packs(columns) else rows

    def _packs(self, value: Any) -> bool:
        if self._is_small is None:
            self._is_small = _pickled_bytes(value) <= INLINE_LIMIT_BYTES
        return self._is_small


class Share:
    """The members that one process holds, made in it."""

    def __init__(self, member_class: Any, arguments: Iterable[tuple[Any, ...]]) -> None:
        self.members = [member_class(*own) for own in arguments]
        self._packing = Packing()

    def replies(self, method: str, *arguments: Any) -> list[Any]:
        """The replies of all members to the same call, in their order."""
        return [getattr(member, method)(*arguments) for member in self.members]

    def batch(self, method: str, *arguments: Any) -> Batch:
        """The same replies for another process."""
        batch: Batch = self._packing.pack_rows(self.replies(method, *arguments))
        return batch

    def batch_of(self, call: bytes | tuple[Any, ...]) -> Batch:
        """The same for a call in one value: the method and its arguments, or a pickle of both."""
        return self.batch(*(pickle.loads(call) if isinstance(call, bytes) else call))


class Pool:
    """The members of a class, one per tuple of arguments, in shares of `share_class`. With `apart`: each in an actor
    of its own. `share_size`: the members of the largest share. Raises UnsupportedError if the driver has all.
    """

    def __init__(
        self,
        ray_session: Session,
        member_class: Any,
        arguments: Iterable[tuple[Any, ...]],
        share_class: type[Share] = Share,
        *,
        apart: bool = False,
    ) -> None:
        members = list(arguments)
        self._execute: ExecuteAll | None = None
        self._packing = Packing()
        if apart:
            self.actors = ray_session.start(share_class, ((member_class, [own]) for own in members))
            self.own = share_class(member_class, [])
            self.share_size = 1
            return
        workers = min(len(members), available_cpus())
        if workers == 1:
            raise UnsupportedError("all members are the driver's: it would be the plain loop again")
        shares: list[list[tuple[Any, ...]]] = [[] for _ in range(workers)]
        for index, own in enumerate(members):
            shares[worker_of_member(index, len(members), workers)].append(own)
        self.actors = ray_session.start(share_class, ((member_class, share) for share in shares[1:]), 1)
        self.own = share_class(member_class, shares[0])
        self.share_size = len(shares[0])

    def compile(self, ray_session: Session, message_bytes: int) -> None:
        """Make all later calls by one compiled graph, which is an actor's only caller from now on.

        `message_bytes`: the largest payload, of the arguments or of a share's replies. Drop the replies of a call
        before the next call: large ones occupy the graph's buffer.
        """
        self._execute = broadcast_graph(ray_session, [actor.batch_of for actor in self.actors], message_bytes)

    def gather(self, method: str, *arguments: Any, stored: bool = False) -> list[Any]:
        """Call a method of every member, and wait for the replies, in the members' order.

        With `stored` the arguments go through the object store, once for all actors. A compiled graph has them there
        in any case.
        """
        coming = self._call(method, arguments, stored)
        replies = self.own.replies(method, *arguments)
        for batch in ray.get(coming):
            replies += rows_of(pickle.loads(batch) if isinstance(batch, bytes) else batch)
        return replies

    def _call(self, method: str, arguments: tuple[Any, ...], stored: bool) -> list[Any]:
        if stored and self._execute is None:
            sent = [ray.put(argument) for argument in arguments]
            return [actor.batch.remote(method, *sent) for actor in self.actors]
        call = self._packing.pack((method, *arguments))
        if self._execute is not None:
            return self._execute(call)
        return [actor.batch_of.remote(call) for actor in self.actors]


def _pickled_bytes(value: Any) -> int:
    """The size of a value when pickled; its arrays are not copied for it."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)
