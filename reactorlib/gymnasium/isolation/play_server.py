"""A process in which the check imports an environment, and which forks a process for each play.

The check starts it by `serving`. It reads its job from standard input, and answers by a connection.
"""

from __future__ import annotations

import faulthandler
import importlib
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import Any, NamedTuple

import gymnasium

from reactorlib.gymnasium.isolation.plays import Plays, Row
from reactorlib.gymnasium.isolation.report import HASH
from reactorlib.gymnasium.isolation.surroundings import Surroundings
from reactorlib.gymnasium.isolation.touched_files import Watch
from reactorlib.tool import standard_output, user_module

LATE = "no time was left"
_GRACE_S = 2.0  # for processes that end by themselves


class Job(NamedTuple):
    """The environment that a server plays, and how."""

    make: bytes  # pickled: a function, or the name of an environment
    specs: list[bytes]  # the environments that are registered, pickled
    changed: tuple[str, ...]  # surroundings
    imports: list[str]  # modules that plays of the environment import
    seed: int
    steps: int
    box_s: float  # of a play
    until: float  # of the check, as `monotonic` counts


@dataclass
class Played:
    """The result of a play, or of an import. `error` says why there are no rows, or `died` that the process ended."""

    rows: list[Row] = field(default_factory=list)
    error: str = ""
    died: str = ""
    call: int = 0  # that had begun when it died
    touched: list[str] = field(default_factory=list)  # generators
    places: dict[str, dict[str, int]] = field(default_factory=dict)  # as of Surroundings
    changed: list[str] = field(default_factory=list)  # files
    read: list[str] = field(default_factory=list)
    imports: list[str] = field(default_factory=list)  # modules that other plays find imported


@contextmanager
def serving(job: Job) -> Iterator[Callable[..., Played]]:
    """Start a server, and yield what plays there: it takes the name of a method of Plays and its arguments.

    RuntimeError if the environment cannot be imported, or if the server ends. All its processes have ended afterwards.
    """
    ours, theirs = Pipe()
    path = [os.path.abspath(part) for part in sys.path]  # noqa: PTH100  # "" is the current folder
    program = f"import sys; sys.path[:] = {path!r}; import {__name__} as server; server.serve({theirs.fileno()})"
    hashes = {"PYTHONHASHSEED": "1" if HASH in job.changed else "0", "PYTHONDONTWRITEBYTECODE": "1"}
    with ours, theirs, TemporaryFile() as stdin, TemporaryFile() as stderr:  # no pipes: a reader may never come
        stdin.write(pickle.dumps(job))
        stdin.seek(0)
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=stdin, stdout=subprocess.DEVNULL, stderr=stderr,
            pass_fds=[theirs.fileno()], env=os.environ | hashes, start_new_session=True,
        )  # fmt: skip
        theirs.close()

        def play(*play: str) -> Played:
            left = job.until - monotonic()
            try:
                if left > 0 and play:
                    ours.send(play)
                if left > 0 and ours.poll(left):
                    return ours.recv()  # type: ignore[no-any-return]
            except (EOFError, ConnectionError):
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE_S)
                stderr.seek(0)
                told = stderr.read().decode(errors="replace")
                end = "no answer" if process.returncode is None else ended_by(process.returncode)
                raise RuntimeError(f"the environment cannot be played: {end}\n{told}".strip()) from None
            return Played(error=LATE)

        try:
            imported = play()
            if imported.error not in ("", LATE):  # which plays report as well
                raise RuntimeError(imported.error)
            yield play
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # also what its environments have started
            process.wait()


def serve(number: int) -> None:
    """Import the environment and play, as the connection of this number asks."""
    job: Job = pickle.load(sys.stdin.buffer)
    connection: Connection[Any, Any] = Connection(number)
    around, watch = Surroundings(job.changed), Watch()
    around.install()
    for pickled in job.specs:
        with suppress(Exception):  # of a class whose module this process cannot find: a play may import it
            spec = pickle.loads(pickled)
            gymnasium.registry.setdefault(spec.id, spec)
    target: Any = None
    try:
        target = pickle.loads(job.make)
        plays = Plays(maker(target), around, job.seed, job.steps, job.box_s)
    except BaseException as error:  # noqa: BLE001  # of the environment's module, which may also exit
        told = f"it cannot be imported:\n{traceback.format_exc(limit=-3)}"
        if isinstance(target, str):
            told = user_module.failure(target.rpartition(":")[0], error)
        connection.send(Played(error=told))
        return
    own = frozenset(sys.modules)
    _import(job.imports)
    connection.send(Played())
    try:
        while True:
            name, *arguments = connection.recv()
            act = partial(getattr(plays, name), *arguments)
            found = _forked(act, job.until, around, watch, own)
            if _import(found.imports):  # they may have drawn from what the next plays find untouched
                found = _forked(act, job.until, around, watch, own)
            connection.send(found)
    except (EOFError, ConnectionError):  # the check was killed; a thread of the environment's module is not waited for
        standard_output.leave(1)


def _import(names: list[str]) -> bool:
    """Import what can be imported by its name; whether any was new. An import may take seconds."""
    before = len(sys.modules)
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)
    return len(sys.modules) > before


def _forked(
    act: Callable[[], list[Row]], until: float, around: Surroundings, watch: Watch, own: frozenset[str]
) -> Played:
    """Act in a process of its own. `own` are the modules that it need not import.

    A play that changed files is not repeated, as it would read them. So all plays of that environment import their own
    modules, except torch, whose generator is seeded before a play.
    """
    sys.stdout.flush()
    around.reached[0] = 0
    with os.fdopen(os.memfd_create("play"), "w+b") as result:
        child = os.fork()
        if child == 0:
            faulthandler.dump_traceback_later(max(1.0, until - monotonic() + 1), exit=True)  # also if the others fail
            try:
                found = Played(act(), touched=sorted(around.touched), places=around.places)
            except BaseException:  # noqa: BLE001  # of the environment: a report, whatever it is
                found = Played(error=traceback.format_exc(limit=-3))
            found.changed, found.read = watch.changed(), watch.read()
            imports = [name for name in [*sys.modules] if name not in own]
            found.imports = [] if found.changed and "torch" not in imports else imports
            pickle.dump(found, result)
            result.flush()
            os._exit(0)
        ended = os.waitpid(child, 0)[1]  # the check ends this process when its time is over
        if os.fstat(result.fileno()).st_size:
            result.seek(0)
            return pickle.load(result)  # type: ignore[no-any-return]
    return Played(died=ended_by(os.waitstatus_to_exitcode(ended)), call=around.reached[0])


def ended_by(code: int) -> str:
    """The end of a process, in words.

    >>> ended_by(3), ended_by(-11)
    ('its process exited with status 3', 'its process was ended by SIGSEGV')
    """
    if code >= 0:
        return f"its process exited with status {code}"
    names = {one.value: one.name for one in signal.Signals}
    return f"its process was ended by {names.get(-code, f'signal {-code}')}"


def maker(target: str | Callable[[], Any]) -> Callable[[], Any]:
    """The function that makes an environment of this name; a function is its own. Imports what the name names.

    >>> maker("CartPole-v1")().spec.id, maker("gymnasium.envs.classic_control:CartPoleEnv")().unwrapped.gravity
    ('CartPole-v1', 9.8)
    """
    if not isinstance(target, str):
        return target
    place, colon, name = target.rpartition(":")
    module = _module(place) if colon else None
    made: Any = getattr(module, name, None)
    return made if callable(made) else partial(gymnasium.make, name)


def _module(place: str) -> Any:
    if not place.endswith(".py"):
        return user_module.module(place)
    path = Path(place).resolve()
    sys.path.append(str(path.parent))  # for what it imports from there
    return user_module.of_file(path)
