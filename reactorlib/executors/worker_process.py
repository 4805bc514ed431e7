"""The function that a worker process runs, from its start to its end."""

from __future__ import annotations

import pickle
import socket
from contextlib import suppress
from typing import NamedTuple

from reactorlib.clock import Clock
from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors.distributed_follower import DistributedFollower, worker_of
from reactorlib.executors.failure import Failure, Stopped
from reactorlib.executors.library_threads import limit
from reactorlib.executors.post import Post
from reactorlib.executors.process_life import GONE, ProcessLife
from reactorlib.executors.same_program import Likeness, difference, likeness
from reactorlib.executors.thread_calls import Caller
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Exchange
from reactorlib.worker.context import current, origin
from reactorlib.worker.user_threads import hook


class Setup(NamedTuple):
    """What a worker process knows from the start. `program` is pickled as class and parameters if it is spawned."""

    worker: int
    parent: int  # process id
    exchange: Exchange
    program: Elaborated | bytes
    likeness: Likeness | None  # of worker 0's program, if it is spawned
    partition: Partition
    clock: Clock
    calls: socket.socket  # to worker 0, for threads that reactions start
    traced: bool
    survives: bool | None  # SIGTERM to the whole group, as worker 0 does by a handler; None: if it has one by then
    library_threads: int | None
    tied: bool  # to the thread that starts it: it lives as long as the run


def serve(setup: Setup) -> None:
    """The whole life of a worker process."""
    life = ProcessLife(setup.worker, setup.parent, setup.exchange, setup.tied, setup.survives)
    with suppress(Stopped):
        life.guard()
        limit(setup.library_threads, forked=isinstance(setup.program, Elaborated))
        current.worker = None
        origin.set(None)
        hook()
        post = Post(setup.exchange.endpoint(setup.worker, life.check))
        try:
            follower = _follower(setup, post, life)
        except Exception as error:  # noqa: BLE001  # a constructor or an import of the user's: worker 0 raises it
            post.fail(Failure(error, None))
            life.enter(GONE)
            return
        follower.say_ready()
        try:
            follower.serve()
            life.enter(GONE)
        except Stopped:
            follower.leave_early()
        follower.worker.outside.over = True


def _follower(setup: Setup, post: Post, life: ProcessLife) -> DistributedFollower:
    outside = Caller(setup.clock, setup.calls.send)
    worker = worker_of(_program(setup), setup.worker, outside, setup.traced)
    outside.announce = lambda: worker.outbox.append(("listen",))
    return DistributedFollower(worker, setup.partition, post, life.leave)


def _program(setup: Setup) -> Elaborated:
    if isinstance(setup.program, Elaborated):
        return setup.program
    try:
        cls, parameters = pickle.loads(setup.program)
    except Exception as error:
        raise WorkerError(
            f"a new process cannot rebuild the program: {type(error).__name__}: {error}. Define its class in a module "
            "or script that can be imported, or use start_method='fork'"
        ) from error
    program = elaborated(cls, **parameters)
    assert setup.likeness is not None
    names = ("worker 0", f"worker {setup.worker}")
    differs = difference((setup.likeness, likeness(program, setup.partition)), names)
    if differs is not None:
        raise RunError(
            f"{differs}; what a constructor makes must not depend on the process, as the order of a set does"
        )
    return program
