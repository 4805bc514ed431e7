"""The Ray session of this process: opened once per style, quiet, and closed without a trace.

Owns `ray.init`, the environment variables of each style and the end of a run's actors. The actors and the
calls are the workloads' own.
"""

import atexit
import logging
import os
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import ray
from ray.exceptions import ObjectStoreFullError, OutOfDiskError, RayTaskError

from workloads import memory, ray_nodes, ray_tensors
from workloads.garbage import freeze
from workloads.parameter import ParameterError, unknown
from workloads.probe import Probe
from workloads.ray_styles import QUIET, STYLES, THREAD_LIMITS, is_setting
from workloads.shared_memory import Names

# Set for the next session, whatever its style, by those who compare settings of Ray.
ADDED: dict[str, str] = {}
# The part of the free memory that the object store of an advised session may fill: the processes need the rest.
STORE_SHARE = 0.6

# Of Python's temporary directory: below it are sockets, whose paths have to be shorter than 108 bytes.
_LONGEST_CHARACTERS = 24
_TEMPORARY = Path(tempfile.gettempdir() if len(tempfile.gettempdir()) <= _LONGEST_CHARACTERS else "/tmp")
_PREFIX = "ray-bench-"

_SHARED_MEMORY = Path("/dev/shm")
# By it Ray tells who may call. It would be kept in the home directory, and is remembered as long as this process lives.
_TOKEN = secrets.token_hex(32)


class StoreOverflowError(RuntimeError):
    """The object store is too small for the run, which in the style "paper" would have continued on disk."""


@dataclass
class _Open:
    """The session that is open, and what to put back when it closes."""

    style: str
    directory: Path
    saved_environment: dict[str, str | None]
    names: Names  # semaphores of compiled graphs, which stay where the raylet does not end by itself
    startup_ns: int = 0
    other_node: subprocess.Popen[bytes] | None = None

    def look(self) -> None:
        """Learn what the processes of the session have made, as long as they live."""
        self.names.look([os.getpid(), *(child.pid for child in psutil.Process().children(recursive=True))])


# Ray has at most one session per process, so there is one here.
_open: _Open | None = None


class Session:
    """The part of a session that one run uses."""

    def __init__(self, probe: Probe) -> None:
        self.probe = probe
        self.actors: list[Any] = []
        self._endings = ExitStack()

    def start(self, actor_class: Any, arguments: Iterable[tuple[Any, ...]], in_driver: int = 0) -> list[Any]:
        """Begin to start actors of a class, one per tuple of arguments; they are killed when the run ends.

        `in_driver`: how many shares of their work the driver has itself.
        """
        # An actor reserves no CPU, as by default while it runs. So any number of them starts on any machine.
        actor: Any = ray.remote(actor_class)
        owns = list(arguments)
        homes = ray_nodes.homes(len(owns), in_driver)
        started = [actor.options(num_cpus=0, **home).remote(*own) for own, home in zip(owns, homes, strict=True)]
        self.actors += started
        return started

    def await_actors(self) -> None:
        """Return once all actors that were started live, have made what their constructors make, and froze it.

        From then on tensors are pickled through NumPy, here and in the actors, unless the style is "paper".
        """
        in_actors: list[Any] = [freeze]
        if _open is None or _open.style == "paper":
            ray_tensors.send_as_torch_does()
        else:
            ray_tensors.send_as_arrays()
            in_actors.append(ray_tensors.send_as_arrays)
        for function in in_actors:
            ray.get([actor.__ray_call__.remote(function) for actor in self.actors])

    def on_end(self, ending: Callable[[], object]) -> None:
        """Have something done when the run ends, while its actors still live."""
        self._endings.callback(ending)

    @contextmanager
    def free_of_charge(self) -> Iterator[None]:
        """The time within does not count as start-up: a program of its own would not need it."""
        began_ns = time.perf_counter_ns()
        yield
        self.probe.charge_startup(began_ns - time.perf_counter_ns())

    def end(self) -> None:
        """Do what is to be done at the end, then kill the actors of this run."""
        if _open is not None:
            _open.look()
        try:
            self._endings.close()
        finally:
            for actor in self.actors:
                ray.kill(actor)


@contextmanager
def session(style: str, probe: Probe) -> Iterator[Session]:
    """The session of a style for the length of a run and its actors; Ray itself stays open for the next run.

    Raises ParameterError for an unknown style, StoreOverflowError when the object store of another style
    than "paper" is full.
    """
    start(style, probe)
    run = Session(probe)
    try:
        yield run
    except (ObjectStoreFullError, OutOfDiskError, RayTaskError) as error:
        cause = error.cause if isinstance(error, RayTaskError) else error
        if not isinstance(cause, ObjectStoreFullError | OutOfDiskError):
            raise
        raise StoreOverflowError(
            "Ray's object store is full; use fewer actors, smaller objects, or a machine with more memory"
        ) from error
    finally:
        run.end()


def start(style: str, probe: Probe) -> None:
    """Open Ray in a style unless it is open in that style, and charge its start to the probe either way."""
    global _open
    if style not in STYLES:
        raise ParameterError(unknown("style", style, STYLES))
    if _open is not None and _open.style == style:
        probe.charge_startup(_open.startup_ns)
        return
    stop()
    began_ns = time.perf_counter_ns()
    directory = _new_directory()
    # A user's own settings, which no style names, would be measured as Ray's defaults.
    own = {"RAY_TMPDIR": str(directory), "RAY_AUTH_TOKEN": _TOKEN}
    saved = _set_environment(THREAD_LIMITS | QUIET | STYLES[style] | ADDED | own)
    _open = _Open(style, directory, saved, Names())
    store_bytes = None if style == "paper" else _store_bytes()
    try:
        ray.init(
            address="local",  # never the cluster that RAY_ADDRESS or an earlier `ray start` points to
            include_dashboard=False,
            log_to_driver=False,
            logging_level=logging.ERROR,
            object_store_memory=store_bytes,
            _temp_dir=str(directory),
            **ray_nodes.of_head(),
        )
        _open.other_node = ray_nodes.join(store_bytes)
    except BaseException:
        stop()
        raise
    _open.startup_ns = time.perf_counter_ns() - began_ns
    atexit.register(stop)


def stop() -> None:
    """Close the session if one is open: its processes, shared memory, directory and environment variables."""
    global _open
    if _open is None:
        return
    closing, _open = _open, None
    atexit.unregister(stop)
    closing.look()
    if closing.other_node is not None:
        ray_nodes.leave(closing.other_node)
    ray.shutdown()
    shutil.rmtree(closing.directory, ignore_errors=True)
    closing.names.remove()
    for name, value in closing.saved_environment.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def _set_environment(variables: dict[str, str]) -> dict[str, str | None]:
    """Set these variables and remove all other settings of Ray's; returns what was there before."""
    saved = {name: os.environ.get(name) for name in (*variables, *filter(is_setting, os.environ))}
    for name in saved:
        os.environ.pop(name, None)
    os.environ.update(variables)
    return saved


def _new_directory() -> Path:
    """An empty directory for logs, sockets and spilled objects; those of killed processes are removed."""
    for left in _TEMPORARY.glob(f"{_PREFIX}*"):
        owner = left.name.removeprefix(_PREFIX)
        if owner.isdigit() and (int(owner) == os.getpid() or not psutil.pid_exists(int(owner))):
            shutil.rmtree(left, ignore_errors=True)
    directory = _TEMPORARY / f"{_PREFIX}{os.getpid()}"
    directory.mkdir(mode=0o700)
    return directory


def _store_bytes() -> int:
    free_bytes = min(memory.free(), shutil.disk_usage(_SHARED_MEMORY).free)
    return int(free_bytes * STORE_SHARE / ray_nodes.count())
