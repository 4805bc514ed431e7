"""The process in which the check imports an environment: it forks a process for each play, and ends.

The check starts it by `played`. It reads its job from standard input, and leaves a file for each play.
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
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple

import gymnasium

from reactorlib.gymnasium.isolation.plays import Plays
from reactorlib.gymnasium.isolation.report import HASH
from reactorlib.gymnasium.isolation.surroundings import Surroundings
from reactorlib.gymnasium.isolation.touched_files import Watch
from reactorlib.tool import standard_output, user_module

IMPORT = "import"  # the result of a failed one
LATE = "no time was left"
_LOOK_S = 0.002
_GRACE_S = 2.0  # for a server that should have ended by itself

Played = dict[str, Any]  # the result of a play
Act = Callable[[], Played]


class Job(NamedTuple):
    """The task of a server: these plays, each a method of Plays and its arguments."""

    make: bytes  # pickled: a function, or the name of an environment
    specs: list[bytes]  # the environments that are registered, pickled
    path: list[str]  # where modules are: `sys.path` before this one is imported
    folder: str  # for results
    changed: tuple[str, ...]
    seed: int
    steps: int
    box_s: float  # of a play
    limit_s: float  # of all
    plays: list[tuple[str, ...]]
    imports: list[str]  # modules that plays of the environment import

    def result(self, play: tuple[str, ...]) -> Path:
        """The file for the result of a play."""
        return Path(self.folder, ".".join(play))


def played(job: Job) -> dict[tuple[str, ...], Played]:
    """The results of a server: of each play that has ended in time."""
    results = Path(job.folder)
    results.mkdir()
    changed = {"PYTHONHASHSEED": "1" if HASH in job.changed else "0", "PYTHONDONTWRITEBYTECODE": "1"}
    server = "import reactorlib.gymnasium.isolation.play_server as server; server.serve_stdin()"
    program = f"import sys; sys.path[:] = {job.path!r}; {server}"
    told = results / "stderr"  # a pipe would be open for as long as what an environment has started
    with told.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr,
            env=os.environ | changed, start_new_session=True,
        )  # fmt: skip
    is_late = False
    try:
        process.communicate(pickle.dumps(tuple(job)), job.limit_s + _GRACE_S)
    except subprocess.TimeoutExpired:
        is_late = True
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also what its environments have started
        process.wait()
    if process.returncode == 1 and (traceback := told.read_text(errors="replace")):
        raise RuntimeError(f"the check failed:\n{traceback}")
    paths = {play: job.result(play) for play in [*job.plays, (IMPORT,)]}
    ended = {play: pickle.loads(path.read_bytes()) for play, path in paths.items() if path.exists()}
    if failed := ended.pop((IMPORT,), None):
        raise RuntimeError(failed["error"])
    if len(ended) < len(job.plays) and not is_late:
        raise RuntimeError(f"it cannot be imported: {ended_by(process.returncode)}")
    return ended


def serve(job: Job) -> None:
    """Import the environment and play."""
    until = monotonic() + job.limit_s
    around, watch = Surroundings(job.changed), Watch(Path(job.folder).parent)
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
        of_name = isinstance(target, str)
        told = user_module.failure(target.rpartition(":")[0], error) if of_name else traceback.format_exc(limit=-3)
        _write(job.result((IMPORT,)), {"error": told if of_name else f"it cannot be imported:\n{told}"})
        return
    own = frozenset(sys.modules)
    _import(job.imports)
    for play in job.plays:
        act, result = partial(getattr(plays, play[0]), *play[1:]), job.result(play)
        _forked(act, result, until, around, watch, own)
        if _import(imports_of(pickle.loads(result.read_bytes()))):
            result.unlink()  # its imports may have drawn from what the next plays find untouched
            _forked(act, result, until, around, watch, own)


def imports_of(play: dict[str, Any]) -> list[str]:
    """The modules that other plays find imported, since this one has imported them. An import may take seconds.

    A play that changed files is not repeated, as it would read them. So all plays of that environment import their own,
    except torch, whose generator is seeded before a play.
    """
    names: list[str] = play.get("imports", [])
    return [] if play.get("changed") and "torch" not in names else names


def _import(names: list[str]) -> bool:
    """Import what can be imported by its name; whether any was new."""
    before = len(sys.modules)
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)
    return len(sys.modules) > before


def _forked(act: Act, result: Path, until: float, around: Surroundings, watch: Watch, own: frozenset[str]) -> None:
    """Act in a process of its own, which is ended at this time. `own` are the modules that it need not import."""
    sys.stdout.flush()
    around.reached = 0
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(max(1.0, until - monotonic() + 1), exit=True)  # also if the others fail
        try:
            found = act()
        except BaseException as error:  # noqa: BLE001  # of the environment: a report, whatever it is
            found = {"error": traceback.format_exc(limit=-3), "reason": f"{type(error).__name__}: {error}"}
        imports = [name for name in [*sys.modules] if name not in own]
        _write(result, {**found, "changed": watch.changed(), "read": watch.read(), "imports": imports})
        os._exit(0)
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if monotonic() > until:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            _write(result, {"reason": LATE})
            return
        sleep(_LOOK_S)
    if not result.exists():
        _write(result, {"died": ended_by(os.waitstatus_to_exitcode(ended[1])), "call": around.reached})


def ended_by(code: int) -> str:
    """The end of a process, in words.

    >>> ended_by(3), ended_by(-11)
    ('its process exited with status 3', 'its process was ended by SIGSEGV')
    """
    if code >= 0:
        return f"its process exited with status {code}"
    names = {one.value: one.name for one in signal.Signals}
    return f"its process was ended by {names.get(-code, f'signal {-code}')}"


def _write(path: Path, found: dict[str, Any]) -> None:
    half = path.with_suffix(".half")
    half.write_bytes(pickle.dumps(found))
    half.rename(path)


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


def serve_stdin() -> None:
    """Do the job that standard input has, and end: a thread of the environment's module is not waited for."""
    serve(Job(*pickle.load(sys.stdin.buffer)))
    standard_output.leave(0)
