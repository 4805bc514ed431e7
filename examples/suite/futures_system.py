"""An actor system in the benchmark: an actor is an object in a process of concurrent.futures. It runs all workloads.

python -m harness run --workload ppo --backend serial --backend examples/suite/futures_system.py:System
"""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from multiprocessing import get_context
from typing import Any

from workloads.actors.system import REPLY_LIMIT_S, ActorDiedError, ActorSystem, Replies
from workloads.garbage import freeze

actors: list[Any] = []


def make(actor_class: Any, arguments: tuple[Any, ...]) -> None:
    """Make the actor of this process."""
    actors.append(actor_class(*arguments))


def call(method: str, *arguments: Any) -> Any:
    """Call the actor of this process."""
    return getattr(actors[0], method)(*arguments)


def replies(coming: list[Future[Any]]) -> list[Any]:
    """Wait for all replies, in order."""
    try:
        return [one.result(REPLY_LIMIT_S) for one in coming]
    except BrokenProcessPool as error:
        raise ActorDiedError("the process of an actor ended") from error


class System(ActorSystem):
    """Actors in processes of concurrent.futures."""

    pools: Sequence[ProcessPoolExecutor] = ()  # also where nothing was started

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        spawn = get_context("spawn")  # no process is forked beside the threads of other pools
        self.pools = [ProcessPoolExecutor(1, spawn, make, (actor_class, own)) for own in arguments]
        self.started = [pool.submit(freeze) for pool in self.pools]

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:
        """See ActorSystem."""
        replies(self.started)

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return partial(replies, [pool.submit(call, method, *arguments) for pool in self.pools])

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return partial(replies, [self.pools[actor].submit(call, method, *arguments)])

    def close(self) -> None:
        """See ActorSystem."""
        for pool in self.pools:
            pool.shutdown()
