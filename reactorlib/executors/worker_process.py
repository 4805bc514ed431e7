"""The function that a worker process runs, from its start to its end."""

from __future__ import annotations

import pickle
import socket
from collections.abc import Container
from contextlib import suppress
from functools import partial
from typing import NamedTuple

from reactorlib.clock import PhysicalClock
from reactorlib.elaboration.elaborate import elaborated
from reactorlib.elaboration.records import Cell, Elaborated
from reactorlib.errors import RunError, WorkerError
from reactorlib.executors.failure import Failure, Stopped
from reactorlib.executors.follower import Follower
from reactorlib.executors.library_threads import limit
from reactorlib.executors.likeness import Likeness, difference, likeness
from reactorlib.executors.messenger import Messenger
from reactorlib.executors.process_life import GONE, LEAVING, ProcessLife
from reactorlib.executors.remote_inbox import RemoteInbox
from reactorlib.schedule.partition import Partition
from reactorlib.transport.exchange import Endpoint, Exchange
from reactorlib.worker.context import current
from reactorlib.worker.scheduler import Outbox
from reactorlib.worker.worker import Worker


class WorkerSetup(NamedTuple):
    """Arguments of all worker processes."""

    parent: int  # process id
    exchange: Exchange
    program: Elaborated | tuple[bytes, Likeness]  # the pickle for processes that are spawned, and worker 0's likeness
    partition: Partition
    crossing_cells: Container[Cell]  # whose values other workers read
    clock: PhysicalClock
    calls: socket.socket  # to worker 0, for threads that reactions start
    traced: bool
    library_threads: int | None
    tied: bool  # to the thread that starts it: it lives as long as the run


def serve(number: int, setup: WorkerSetup) -> None:
    """The whole life of a worker process."""
    life = ProcessLife(number, setup.parent, setup.exchange, setup.tied)
    with suppress(Stopped):
        life.guard()
        limit(setup.library_threads, forked=isinstance(setup.program, Elaborated))
        current.worker = None
        messenger, outbox = Messenger(Endpoint(setup.exchange, number, life.check)), Outbox()
        try:
            outside = RemoteInbox(setup.clock, setup.calls.send, outbox.listen)
            worker = Worker(_program(number, setup), number, outside, outbox, setup.traced,
                            buffers=messenger.buffers(setup.crossing_cells))  # fmt: skip
            follower = Follower(worker, setup.partition, messenger, partial(life.enter, LEAVING))
        except Exception as error:  # noqa: BLE001  # a constructor or an import of the user's: worker 0 raises it
            messenger.fail(Failure(error, None))
        else:
            follower.live()
        life.enter(GONE)


def _program(number: int, setup: WorkerSetup) -> Elaborated:
    if isinstance(setup.program, Elaborated):
        return setup.program
    pickled, expected = setup.program
    try:
        cls, parameters = pickle.loads(pickled)
    except Exception as error:
        raise WorkerError(
            f"a new process cannot rebuild the program: {type(error).__name__}: {error}. Define its class in a module "
            "or script that can be imported, or use start_method='fork'"
        ) from error
    program = elaborated(cls, **parameters)
    names = ("worker 0", f"worker {number}")
    differs = difference((expected, likeness(program, setup.partition)), names)
    if differs is not None:
        raise RunError(
            f"{differs}; what a constructor makes must not depend on the process, as the order of a set does"
        )
    return program
