"""Monarch's actors: a mesh of them, to which one message is cast, and their replies as a mesh of values.

Monarch can be opened once per process. So it stays open for the next run, and ends with the process.
"""

import atexit
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from workloads import ray_tensors
from workloads.actors.holder import Holder, Processes
from workloads.actors.message import Parts, parts_of, replied
from workloads.actors.system import ActorDiedError, ActorSystem, Replies
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.ray_styles import THREAD_LIMITS

# Monarch reads them when it is imported. It keeps a log in the temporary directory, here one of this process. A run's
# processes may be stopped between its turns, for longer than Monarch waits for signs of life. A driver waits longer.
_SETTINGS = {"MONARCH_FILE_LOG": "error", "MONARCH_LOG_SUFFIX": f"reactors-{os.getpid()}"}
_SETTINGS |= dict.fromkeys(
    (
        "HYPERACTOR_MESH_GET_ACTOR_STATE_MAX_IDLE",
        "HYPERACTOR_MESH_GET_PROC_STATE_MAX_IDLE",
        "HYPERACTOR_MESH_ORPHAN_TIMEOUT",
        "HYPERACTOR_MESH_SUPERVISION_WATCHDOG_TIMEOUT",
        "HYPERACTOR_MESSAGE_DELIVERY_TIMEOUT",
    ),
    "4m",
)
os.environ.update(_SETTINGS)
try:
    import monarch.actor
    from monarch._rust_bindings.monarch_hyperactor.supervision import SupervisionError
    from monarch.actor import Actor, HostMesh, ProcMesh, current_rank, default_bootstrap_cmd, endpoint, this_host
except ImportError:
    raise UnsupportedError.missing("torchmonarch", "actors") from None

_ENDING_LIMIT_S = 30.0

_startup_ns: int | None = None  # of Monarch in this process, once it is open


class MonarchActor(Actor):
    """An actor of Monarch that holds one of the workload's."""

    def __init__(self) -> None:
        self._holder = Holder()

    @endpoint
    def make(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> list[bytes]:
        """Make the workload's actor of the arguments at this actor's place."""
        return _in_bytes(self._holder.make(actor_class, arguments[current_rank().rank]))

    @endpoint
    def call(self, *parts: bytes) -> list[bytes]:
        """The parts of the reply to a call."""
        return _in_bytes(self._holder.call(parts))


class System(ActorSystem):
    """A mesh of Monarch's actors on this machine, each in a process of its own."""

    def __init__(self, probe: Probe) -> None:
        super().__init__(probe)
        self._host = _opened(probe)
        self._mesh: ProcMesh | None = None
        self._processes = Processes()

    def start(self, actor_class: Any, arguments: Sequence[tuple[Any, ...]]) -> None:
        """See ActorSystem."""
        paths = os.pathsep.join(sys.path)
        command = default_bootstrap_cmd().with_env({**_SETTINGS, **THREAD_LIMITS, "PYTHONPATH": paths})
        self._mesh = self._host.spawn_procs(per_host={"actors": len(arguments)}, bootstrap_command=command)
        actors = self._mesh.spawn("actors", MonarchActor)
        self._call_all = actors.call
        self._calls = [actors.slice(actors=index).call for index in range(len(arguments))]
        self._made = actors.make.call(actor_class, list(arguments))

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:  # noqa: ARG002 - memory grows with the messages
        """See ActorSystem. From then on tensors are pickled through NumPy, here and in the actors."""
        self._processes.watch(self._received(self._made))
        ray_tensors.send_as_arrays()

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._cast(self._call_all, method, arguments)

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """See ActorSystem."""
        return self._cast(self._calls[actor], method, arguments)

    def _cast(self, call: Any, method: str, arguments: tuple[Any, ...]) -> Replies:
        return partial(self._received, call.call(*_in_bytes(parts_of((method, arguments)))))

    def _received(self, coming: Any) -> list[Any]:
        """The replies of the actors, in their order."""
        try:
            replies = self._processes.result(coming.get)
        except SupervisionError as error:
            raise ActorDiedError(str(error)) from error
        return [replied(parts) for parts in replies.values()]

    def close(self) -> None:
        """See ActorSystem."""
        ray_tensors.send_as_torch_does()
        self._processes.close()
        if self._mesh is not None:
            self._mesh.stop().get(timeout=_ENDING_LIMIT_S)
        _remove_log()


def _in_bytes(parts: Parts) -> list[bytes]:
    """The parts as what Monarch sends without another copy."""
    return [bytes(part) for part in parts]


def _opened(probe: Probe) -> HostMesh:
    """This machine as Monarch has it. Its start is charged to the probe, also where an earlier run has paid for it."""
    global _startup_ns
    began_ns = time.perf_counter_ns()
    with _silence():
        host = this_host()
        host.initialized.get(timeout=_ENDING_LIMIT_S)
    if _startup_ns is None:
        _startup_ns = time.perf_counter_ns() - began_ns
        # By default a dead process is a KeyboardInterrupt here. The call that waits for it raises an error anyway.
        monarch.actor.unhandled_fault_hook = lambda _failure: None
        atexit.register(_remove_log)
    else:
        probe.charge_startup(_startup_ns)
    return host


@contextmanager
def _silence() -> Iterator[None]:
    """Keep from the console what Monarch prints when it starts."""
    sys.stderr.flush()
    console, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(console, 2)
        os.close(console)


def _remove_log() -> None:
    """Remove the log, those of processes that have ended, and their directory where nothing else is in it.

    All processes have opened the log by then.
    """
    for log in Path("/tmp").glob("*/monarch_log_reactors-*.log"):
        process = int(log.stem.rpartition("-")[2])
        if process == os.getpid() or not psutil.pid_exists(process):
            with suppress(OSError):
                log.unlink()
                log.parent.rmdir()
