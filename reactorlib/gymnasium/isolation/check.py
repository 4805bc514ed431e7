"""The check itself: which plays differ from the one alone, and so what an environment depends on."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import gymnasium

from reactorlib.gymnasium.generators import GENERATORS
from reactorlib.gymnasium.isolation.plays import PARTS, RAISED, Row
from reactorlib.gymnasium.isolation.report import FILES, HASH, OTHER, RESET, STATE, THREADS, Finding, Isolation
from reactorlib.gymnasium.isolation.server import IMPORT, Job
from reactorlib.gymnasium.isolation.surroundings import OUTSIDE

_PLAYS_IN_LIMIT = 20  # a play takes at most this part of the limit, as most of the some 15 plays are short
_GRACE_S = 2.0  # for a server that should have ended by itself
_ALONE = ("alone",)
_IN_A_PROCESS = (*GENERATORS, *OUTSIDE)

Played = dict[str, Any]


def check_isolation(
    make_env: str | Callable[[], Any], *, steps: int = 100, seed: int = 0, limit_s: float = 60.0
) -> Isolation:
    """Whether an environment depends on its seed and actions alone; if not, on what else.

    `make_env` is a function that makes it, an id, or a name such as "package:Env-v0" or "file.py:make_env". The
    environment is played for `steps` steps in processes of the check's own. It plays alone, twice, next to others, in
    threads, in other processes, and with each of its surroundings changed. Cheap environments take some seconds. After
    `limit_s` seconds the check ends and names the plays that are missing. Files that a play writes are put back.

    Raises RuntimeError with the traceback if the environment cannot be made, reset or stepped alone.

    >>> found = check_isolation("CartPole-v1", steps=20)
    >>> found.is_isolated, found.findings, found.remedy
    (True, (), 'none')
    """
    with TemporaryDirectory(prefix="reactorlib-check-") as folder:
        return _IsolationCheck(make_env, Path(folder), steps, seed, limit_s).run()


def _served(job: Job) -> dict[tuple[str, ...], Played]:
    """The results of a server: of each play that has ended in time."""
    results = Path(job.folder)
    results.mkdir()
    changed = {"PYTHONHASHSEED": "1" if HASH in job.changed else "0", "PYTHONDONTWRITEBYTECODE": "1"}
    program = (
        f"import sys; sys.path[:] = {job.path!r}; import reactorlib.gymnasium.isolation.server as s; s.serve_stdin()"
    )
    told = results / "stderr"  # a pipe would be open for as long as what an environment has started
    with told.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=stderr,
            env=os.environ | changed, start_new_session=True,
        )  # fmt: skip
    try:
        with suppress(subprocess.TimeoutExpired):
            process.communicate(pickle.dumps(tuple(job)), job.limit_s + _GRACE_S)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # also what its environments have started
        process.wait()
    if process.returncode == 1:
        raise RuntimeError(f"the check failed:\n{told.read_text(errors='replace')}")
    error = results / IMPORT
    if error.exists():
        raise RuntimeError(f"it cannot be imported:\n{pickle.loads(error.read_bytes())['error']}")
    found = {play: results / ".".join(play) for play in job.plays}
    return {play: pickle.loads(path.read_bytes()) for play, path in found.items() if path.exists()}


class _IsolationCheck:
    def __init__(self, make_env: Any, folder: Path, steps: int, seed: int, limit_s: float) -> None:
        self._name = make_env if isinstance(make_env, str) else getattr(make_env, "__qualname__", repr(make_env))
        self._began, self._limit_s, self._folder = monotonic(), limit_s, folder
        self._make, self._specs = cloudpickle.dumps(make_env), [*_registered()]
        self._steps, self._seed = steps, seed
        self._started = 0
        self._findings: list[Finding] = []
        self._unchecked: list[str] = []
        self._alone: Played = {}

    def _play(self, plays: Sequence[tuple[str, ...]], changed: Sequence[str] = ()) -> dict[tuple[str, ...], Played]:
        """Play in a process with these surroundings changed. One at a time: they may write the same files."""
        self._started += 1
        left = self._began + self._limit_s - monotonic()
        if left <= 0:
            return {}
        path = [os.path.abspath(part) for part in sys.path]  # noqa: PTH100  # "" is the current folder
        folder, box_s = str(self._folder / str(self._started)), self._limit_s / _PLAYS_IN_LIMIT
        return _served(
            Job(self._make, self._specs, path, folder, tuple(changed), self._seed, self._steps, box_s, left, [*plays],
                self._alone.get("torch", False))
        )  # fmt: skip

    def run(self) -> Isolation:
        """All plays. Plays with further questions run only where something was found."""
        within = [("alone",), ("again",), *(("alone", name) for name in _IN_A_PROCESS),
                  ("neighbours",), ("twice",), ("threads",)]  # fmt: skip
        played = self._play(within)
        self._alone = self._first(played)
        elsewhere = self._play([_ALONE], (*_IN_A_PROCESS, HASH))
        self._judge(OTHER, played.get(("again",)), "again")
        if not self._findings:
            self._judge_surroundings(played, elsewhere.get(_ALONE))
        self._judge_files()
        if not self._culprits() & {OTHER, FILES}:
            self._judge_company(played)
        return self._isolation()

    def _culprits(self) -> set[str]:
        return {finding.culprit for finding in self._findings}

    def _first(self, played: dict[tuple[str, ...], Played]) -> Played:
        alone = played.get(("alone",))
        if alone is None:
            raise RuntimeError(f"{self._name}: no play ended within {self._limit_s} s (limit_s)")
        rows = alone.get("rows", [])
        if "error" in alone or rows[-1][0] == RAISED.encode():
            raise RuntimeError(f"{self._name} fails alone: {alone.get('error') or rows[-1][1].decode()}")
        return alone

    def _judge(self, culprit: str, play: Played | None, name: str, places: Sequence[str] = ()) -> bool:
        """Whether a play differs from the one alone, which is then a finding."""
        if play is None or "error" in play:
            self._unchecked.append(name)
            return False
        found = _difference(self._alone["rows"], play["rows"])
        if found is None or culprit in self._culprits():
            return found is not None
        self._findings.append(Finding(culprit, *found, tuple(places)))
        return True

    def _judge_surroundings(self, played: dict[tuple[str, ...], Played], elsewhere: Played | None) -> None:
        places = self._alone["places"]
        named = {name for name in _IN_A_PROCESS
                 if self._judge(name, played.get(("alone", name)), name, places.get(name, ()))}  # fmt: skip
        rest = [name for name in (*_IN_A_PROCESS, HASH) if name not in named]
        if named and elsewhere is not None:
            elsewhere = self._play([_ALONE], rest).get(_ALONE)
        if elsewhere is None:
            self._unchecked.append("imported elsewhere")
        elif _difference(self._alone["rows"], elsewhere.get("rows", [])) is not None:
            self._judge_imports(rest)
        self._find_lines()

    def _judge_imports(self, rest: Sequence[str]) -> None:
        """It is not the same where it was imported in other surroundings: in which, or in any other process?"""
        for name in ((), *((name,) for name in rest)):
            play = self._play([_ALONE], name).get(_ALONE)
            culprit = name[0] if name else OTHER
            what = f"imported with another {culprit}" if name else "in another process"
            if self._judge(culprit, play, what, self._alone["places"].get(culprit, ())):
                return

    def _find_lines(self) -> None:
        drawn = [finding.culprit for finding in self._findings if finding.culprit in GENERATORS]
        traced = self._play([("traced", name) for name in drawn]) if drawn else {}
        for at, finding in enumerate(self._findings):
            lines = traced.get(("traced", finding.culprit), {}).get("places", ())
            if lines:
                self._findings[at] = Finding(finding.culprit, finding.call, finding.part, tuple(lines[:3]))

    def _judge_files(self) -> None:
        wrote = self._alone["wrote"]
        if wrote:
            play = ("leftover",)
            self._judge(FILES, self._play([play]).get(play), FILES, wrote[:3])

    def _judge_company(self, played: dict[tuple[str, ...], Played]) -> None:
        if self._judge(STATE, played.get(("neighbours",)), "next to others"):
            shared = self._play([("shared",)]).get(("shared",), {})
            last, places = self._findings.pop(), shared.get("places", ())
            by_files = self._alone["wrote"] if not places else ()
            culprit = FILES if by_files else STATE
            self._findings.append(Finding(culprit, last.call, last.part, tuple(places or by_files)[:5]))
        for culprit, play in ((THREADS, "threads"), (RESET, "twice")):
            if not self._culprits():  # which would show again
                self._judge(culprit, played.get((play,)), play)

    def _isolation(self) -> Isolation:
        return Isolation(
            self._name,
            tuple(finding for finding in self._findings if finding.part != "info"),
            tuple(finding for finding in self._findings if finding.part == "info"),
            tuple(self._alone["touched"]),
            tuple(self._unchecked),
            len(self._alone["rows"]),
            monotonic() - self._began,
        )


def _difference(one: list[Row], other: list[Row]) -> tuple[int, str] | None:
    """The first call whose results differ, and what of them. Infos count only where nothing else differs."""
    in_infos = None
    for call, (a, b) in enumerate(zip(one, other, strict=False)):
        if a == b:
            continue
        if RAISED.encode() in (a[0], b[0]):
            return call, RAISED
        part = next(name for name, x, y in zip(PARTS, a, b, strict=True) if x != y)
        if part != "info":
            return call, part
        in_infos = in_infos or (call, part)
    return in_infos


def _registered() -> Iterator[bytes]:
    """The environments that are registered, as far as they can be sent."""
    for spec in gymnasium.registry.values():
        with suppress(Exception):
            yield cloudpickle.dumps(spec)
