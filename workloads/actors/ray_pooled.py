"""Ray's actors, tuned as Ray advises: one plain call to each.

Ray's own pickling calls Python for every array, which costs more than a small array's bytes. It sends bytes as they
are. So a small call is pickled once for all actors, and a small reply once. Large arguments are stored once for all
actors. Large replies are left to Ray, which stores them where their readers need no copy.
"""

import pickle
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import ray
from ray.exceptions import ActorDiedError as RayActorDiedError

from workloads import ray_styles
from workloads.actors.members import pickled_bytes
from workloads.actors.system import ActorDiedError, ActorSystem, Replies
from workloads.probe import Probe
from workloads.ray_session import session


class Packing:
    """Pickles small values, and leaves large ones to Ray. All are taken to be as large as the first one."""

    def __init__(self) -> None:
        self._is_small: bool | None = None

    def packed(self, value: Any) -> Any:
        """A pickle of a small value, or the value itself. Bytes are always pickled: no pickle is taken for a value."""
        return pickle.dumps(value, protocol=5) if self.packs(value) or isinstance(value, bytes) else value

    def packs(self, value: Any) -> bool:
        """Whether values like this one are small."""
        if self._is_small is None:
            self._is_small = pickled_bytes(value) <= ray_styles.INLINE_LIMIT_BYTES
        return self._is_small


class PackingActor:
    """An actor of Ray that holds one of the workload's, and takes and gives small values as one pickle."""

    def __init__(self, actor_class: Any, arguments: tuple[Any, ...]) -> None:
        self._actor = actor_class(*arguments)
        self._packing = Packing()

    def call(self, method: str, *arguments: Any) -> Any:
        """The reply to a call, or its pickle."""
        return self._packing.packed(getattr(self._actor, method)(*arguments))

    def call_in_one(self, call: bytes | tuple[Any, ...]) -> Any:
        """The same for a call in one value: the method and its arguments, or a pickle of both."""
        return self.call(*(pickle.loads(call) if isinstance(call, bytes) else call))


class System(ActorSystem):
    """Actors of Ray in a session of this process, which stays open for the next run."""

    style = "tuned"

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self._scope = session(self.style, probe)
        self.session = self._scope.__enter__()
        self.actors: list[Any] = []
        self.packing = Packing()

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        self.actors = self.session.start(PackingActor, [(actor_class, own) for own in arguments], in_driver=1)

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:  # noqa: ARG002 - Ray allots memory by itself
        """See ActorSystem."""
        self.session.await_actors()

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._call(self.actors, method, arguments)

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._call(self.actors[actor : actor + 1], method, arguments)

    def _call(self, actors: Sequence[Any], method: str, arguments: tuple[Any, ...]) -> Replies:
        call = self.packing.packed((method, *arguments))
        if isinstance(call, bytes):
            return partial(received, [actor.call_in_one.remote(call) for actor in actors])
        stored = [one if isinstance(one, str | int | float) else ray.put(one) for one in arguments]
        return partial(received, [actor.call.remote(method, *stored) for actor in actors])

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._scope.__exit__(kind, error, trace)  # which names the reason where the object store is full

    def close(self) -> None:
        """See ActorSystem."""
        self.__exit__(None, None, None)


def received(coming: list[Any]) -> list[Any]:
    """The replies that Ray holds under these references, or under those of a compiled graph."""
    try:
        return [unpacked(reply) for reply in ray.get(coming)]
    except RayActorDiedError as error:
        raise ActorDiedError(str(error)) from error


def unpacked(reply: Any) -> Any:
    """A reply, of which a small one is a pickle."""
    return pickle.loads(reply) if isinstance(reply, bytes) else reply
