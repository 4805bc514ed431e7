"""A pool of Ray actors, one per core, each with its share of the members that are actors of their own elsewhere.

Owns the shares and the batches: a call to an actor asks all of its members, and the replies come back in one message.
What members are and what they are asked is the workloads' own. This is how RLlib's runners hold environments, and
shares are made as reactors are placed on workers.
"""

import pickle
from collections.abc import Iterable
from typing import Any

import ray

from reactorlib.cpus import available_cpus
from reactorlib.schedule.partition import worker_of_member
from workloads.ray_session import Session
from workloads.ray_styles import INLINE_LIMIT_BYTES

# A pickle of the replies of a share's members, or a list of them.
Batch = bytes | list[Any]


class Share:
    """The members of one actor, made in it."""

    def __init__(self, member_class: Any, arguments: Iterable[tuple[Any, ...]]) -> None:
        self.members = [member_class(*own) for own in arguments]
        self._is_small: bool | None = None  # as the first batch was, and the others are like it

    def ask(self, method: str, *arguments: Any) -> Batch:
        """The replies of all members to the same call, in their order."""
        replies = [getattr(member, method)(*arguments) for member in self.members]
        if self._is_small is None:
            self._is_small = _pickled_bytes(replies) <= INLINE_LIMIT_BYTES
        # Ray's own pickling calls Python for every array, which costs more than a small array's bytes; large ones it
        # puts where the driver reads them without a copy.
        return pickle.dumps(replies, protocol=5) if self._is_small else replies


class Pool:
    """The actors that hold the members of a class, one member per tuple of arguments, in shares of `share_class`."""

    def __init__(
        self,
        ray_session: Session,
        member_class: Any,
        arguments: Iterable[tuple[Any, ...]],
        share_class: type[Share] = Share,
    ) -> None:
        members = list(arguments)
        workers = min(len(members), available_cpus())
        shares: list[list[tuple[Any, ...]]] = [[] for _ in range(workers)]
        for index, own in enumerate(members):
            shares[worker_of_member(index, len(members), workers)].append(own)
        self.actors = ray_session.start(share_class, ((member_class, share) for share in shares))

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every member; the references of the batches to come, one per actor."""
        return [actor.ask.remote(method, *arguments) for actor in self.actors]

    def gather(self, method: str, *arguments: Any) -> list[Any]:
        """Call a method of every member, and wait for the replies, in the members' order."""
        return replies(ray.get(self.ask(method, *arguments)))


def replies(batches: Iterable[Batch]) -> list[Any]:
    """The replies in batches, one after the other."""
    return [reply for batch in batches for reply in (pickle.loads(batch) if isinstance(batch, bytes) else batch)]


def _pickled_bytes(value: Any) -> int:
    """What a value takes, pickled; its arrays are not copied for it."""
    buffers: list[pickle.PickleBuffer] = []
    head = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
    return len(head) + sum(buffer.raw().nbytes for buffer in buffers)
