"""Dask's actors: a worker for each, with a connection of its own to the driver.

Dask keeps no order among calls in flight to the same actor. So each call waits for the replies to the one before it.
"""

import asyncio
import logging
import os
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from workloads import ray_tensors
from workloads.actors.holder import Holder, Processes
from workloads.actors.message import Parts, parts_of, replied
from workloads.actors.system import ActorDiedError, ActorSystem, InFlight, Replies
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.ray_styles import THREAD_LIMITS

# A thread of its own for messages of more than 10 MiB makes them slower. Dask reads this when it is imported, also in
# its workers.
os.environ["DASK_DISTRIBUTED__COMM__OFFLOAD"] = "False"
try:
    import dask
    from distributed import Client, LocalCluster
except ImportError:
    raise UnsupportedError.missing("distributed", "actors") from None

_START_LIMIT_S = 60
_ENDING_LIMIT_S = 30
_SETTINGS = {
    "distributed.nanny.pre-spawn-environ": THREAD_LIMITS,
    "distributed.scheduler.worker-ttl": None,  # a run's processes may be stopped between its turns
    "distributed.worker.profile.enabled": False,
    "distributed.scheduler.work-stealing": False,
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.admin.system-monitor.interval": "1h",
}


class DaskActor:
    """An actor of Dask that holds one of the workload's.

    Its methods are coroutines, which Dask runs in the thread that has received the call.
    """

    def __init__(self) -> None:
        self._holder = Holder()

    async def make(self, actor_class: Any, arguments: tuple[Any, ...]) -> Parts:
        """Make the workload's actor."""
        return self._holder.make(actor_class, arguments)

    async def call(self, *parts: Any) -> Parts:
        """The parts of the reply to a call."""
        return self._holder.call(parts)


async def _all(coming: Sequence[Any]) -> list[Any]:
    """The results of futures. Dask would wait for each of them in a call of its own."""
    return list(await asyncio.gather(*coming))


class System(ActorSystem):
    """A cluster of Dask on this machine, of one worker per actor."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self._directory = tempfile.TemporaryDirectory(prefix="dask-bench-")
        self._cluster: LocalCluster | None = None
        self._client: Any = None
        self._actors: list[Any] = []
        self._processes = Processes()
        self._last = InFlight(list)

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        with dask.config.set({**_SETTINGS, "temporary-directory": self._directory.name}):
            self._cluster = LocalCluster(
                n_workers=len(arguments),
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                scheduler_kwargs={"dashboard": False},
                memory_limit=None,
                silence_logs=logging.CRITICAL,
                local_directory=self._directory.name,
            )
            self._client = Client(self._cluster, direct_to_workers=True, timeout=_START_LIMIT_S)
        workers = sorted(self._client.scheduler_info(-1)["workers"])
        created = [self._client.submit(DaskActor, actor=True, workers=[own], pure=False) for own in workers]
        self._actors = [future.result(timeout=_START_LIMIT_S) for future in created]
        made = [actor.make(actor_class, own) for actor, own in zip(self._actors, arguments, strict=True)]
        self._made = partial(self._received, made)

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:  # noqa: ARG002 - memory grows with the messages
        """See ActorSystem. From then on tensors are pickled through NumPy, here and in the actors."""
        self._processes.watch(self._made())
        ray_tensors.send_as_arrays()

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem. The driver does a share of its own next, for whose length Dask's thread could not send."""
        replies = self._call(self._actors, method, arguments)
        self._client.sync(asyncio.sleep, 0)
        return replies

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._call(self._actors[actor : actor + 1], method, arguments)

    def _call(self, actors: Sequence[Any], method: str, arguments: tuple[Any, ...]) -> Replies:
        self._last.fetch()
        parts = parts_of((method, arguments))
        try:
            coming = [actor.call(*parts) for actor in actors]
        except RuntimeError as error:  # Dask knows that a worker was lost
            raise ActorDiedError(str(error)) from error
        self._last = InFlight(partial(self._received, coming))
        return self._last

    def _received(self, coming: Sequence[Any]) -> list[Any]:
        """The replies of actors, in their order."""
        try:
            replies = self._processes.result(lambda limit_s: self._client.sync(_all, coming, callback_timeout=limit_s))
        except OSError as error:
            if isinstance(error, TimeoutError) or not self._processes.have_ended(1):
                raise
            raise ActorDiedError(str(error)) from error
        return [replied(parts) for parts in replies]

    def close(self) -> None:
        """See ActorSystem."""
        ray_tensors.send_as_torch_does()
        self._processes.close()
        for part in (self._client, self._cluster):
            if part is not None:
                part.close(timeout=_ENDING_LIMIT_S)
        self._directory.cleanup()
