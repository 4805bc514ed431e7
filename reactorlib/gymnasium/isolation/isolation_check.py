"""The check itself: which plays differ from the one alone, and so what an environment depends on."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import gymnasium

from reactorlib.gymnasium.isolation.generators import GENERATORS
from reactorlib.gymnasium.isolation.play_server import LATE, Job, Played, imports_of, played
from reactorlib.gymnasium.isolation.plays import PARTS, RAISED, Row
from reactorlib.gymnasium.isolation.report import (
    FILES,
    HASH,
    OTHER,
    RESET,
    STATE,
    THREADS,
    Finding,
    Isolation,
    call_named,
)  # fmt: skip
from reactorlib.gymnasium.isolation.surroundings import OUTSIDE, WATCHED

_PLAYS_IN_LIMIT = 20  # a play takes at most this part of the limit, as most of the some 15 plays are short
_ALONE, _AGAIN = ("alone",), ("again",)
_IN_A_PROCESS = (*GENERATORS, *OUTSIDE)

_PLACES = 3  # of a culprit, that are named

Reasons = dict[str, tuple[str, ...]]  # culprits with their places


def check_isolation(
    make_env: str | Callable[[], Any], *, steps: int = 100, seed: int = 0, limit_s: float = 60.0
) -> Isolation:
    """Whether an environment depends on its seed and actions alone. If not, the result names the causes.

    `make_env` is a function that makes it, an id, or a name such as "package:Env-v0" or "file.py:make_env". The
    environment is played for `steps` steps in processes of the check's own. It plays alone, twice, next to others, in
    threads, in other processes, and with each of its surroundings changed. Cheap environments take some seconds. After
    `limit_s` seconds the check ends and names the plays that are missing.

    The plays write the files that the environment writes, and the check leaves them so. The report lists files that
    Python code of the environment changed.

    Raises RuntimeError with the traceback if the environment cannot be made, reset or stepped alone. If its process
    ends, the error says by which signal or exit status.

    >>> found = check_isolation("CartPole-v1", steps=20)
    >>> found.is_isolated, found.findings, found.remedy
    (True, (), 'none')
    """
    with TemporaryDirectory(prefix="reactorlib-check-") as folder:
        return _IsolationCheck(make_env, Path(folder), steps, seed, limit_s).run()


class _IsolationCheck:
    def __init__(self, make_env: Any, folder: Path, steps: int, seed: int, limit_s: float) -> None:
        self._name = make_env if isinstance(make_env, str) else getattr(make_env, "__qualname__", repr(make_env))
        self._began, self._limit_s, self._folder, self._started = monotonic(), limit_s, folder, 0
        self._make, self._specs, self._steps, self._seed = cloudpickle.dumps(make_env), [*_registered()], steps, seed
        self._findings: list[Finding] = []
        self._unchecked: list[str] = []
        self._changed, self._read = set[str](), set[str]()  # files
        self._are_infos_unlike = False  # so that a play's are no further finding
        self._alone: Played = {}

    def _play(self, plays: Sequence[tuple[str, ...]], changed: Sequence[str] = ()) -> dict[tuple[str, ...], Played]:
        """Play in a process with these surroundings changed. One at a time: they may write the same files."""
        self._started += 1
        left = self._began + self._limit_s - monotonic()
        if left <= 0:
            return {}
        path = [os.path.abspath(part) for part in sys.path]  # noqa: PTH100  # "" is the current folder
        folder, box_s = str(self._folder / str(self._started)), self._limit_s / _PLAYS_IN_LIMIT
        ended = played(
            Job(self._make, self._specs, path, folder, tuple(changed), self._seed, self._steps, box_s, left, [*plays],
                imports_of(self._alone))
        )  # fmt: skip
        for play in ended.values():
            self._changed.update(play.get("changed", ()))
            self._read.update(play.get("read", ()))
        return ended

    def run(self) -> Isolation:
        """All plays. Plays with further questions run only where something was found."""
        within = [_ALONE, _AGAIN, *(("alone", name) for name in _IN_A_PROCESS),
                  ("neighbours",), ("twice",), ("threads",)]  # fmt: skip
        played = self._play(within)
        self._alone = self._first(played)
        elsewhere = self._play([_ALONE], (*_IN_A_PROCESS, HASH))
        again = played.get(_AGAIN)
        if self._judge(OTHER, again, "again"):
            self._explain(again, ("watched", str(self._findings[-1].call)))
            self._are_infos_unlike = True
        if not self._culprits():
            self._judge_surroundings(played, elsewhere.get(_ALONE))
            self._are_infos_unlike = bool(self._findings)
            if not self._culprits() & {OTHER, FILES}:
                self._judge_company(played)
            self._judge_files()
        return self._isolation()

    def _culprits(self) -> set[str]:
        return {finding.culprit for finding in self._findings if finding.part != "info"}

    def _first(self, played: dict[tuple[str, ...], Played]) -> Played:
        alone = played.get(_ALONE, {"reason": LATE})
        if alone.get("reason") == LATE:
            raise RuntimeError(f"{self._name}: no play ended within {self._limit_s} s (limit_s)")
        rows = alone.get("rows", [])
        if "died" in alone:
            raise RuntimeError(f"{self._name} fails alone: {alone['died']} in {call_named(alone['call'])}")
        if "error" in alone or rows[-1][0] == RAISED.encode():
            raise RuntimeError(f"{self._name} fails alone: {alone.get('error') or rows[-1][1].decode()}")
        return alone

    def _judge(self, culprit: str, play: Played | None, name: str, places: Sequence[str] = ()) -> bool:
        """Whether a play differs from the one alone, which is then a finding."""
        if play is None or "reason" in play:
            self._unchecked.append(f"{name} ({LATE if play is None else play['reason']})")
            return False
        found = self._difference(play)
        if found is None or culprit in {finding.culprit for finding in self._findings}:
            return found is not None
        self._findings.append(Finding(culprit, *found, tuple(places)))
        return True

    def _difference(self, play: Played) -> tuple[int, str] | None:
        """The first call that differs from the play alone, and what of it."""
        if "died" in play:
            return play["call"], f"process ({play['died']})"
        found = _difference(self._alone["rows"], play["rows"])
        return None if found is not None and found[1] == "info" and self._are_infos_unlike else found

    def _explain(self, play: Any, watched: tuple[str, ...]) -> None:
        """Name the reason of the last finding: equal plays differ. If none is found, it stays as it is."""
        finding = self._findings[-1]
        reasons = self._of_files(play) or self._uncontrolled(watched)
        if reasons:
            self._findings[-1:] = [replace(finding, culprit=name, places=places) for name, places in reasons.items()]

    def _of_files(self, play: Played) -> Reasons:
        """Files, if this second play read what the first one changed, or if a third play is like the second."""
        found = self._read_back()
        if not found and self._changed and "rows" in play:
            third = self._play([_AGAIN]).get(_AGAIN, {})
            found = sorted(self._changed) if third.get("rows") == play["rows"] else []
        return {FILES: tuple(found[:_PLACES])} if found else {}

    def _uncontrolled(self, watched: tuple[str, ...]) -> Reasons:
        """The sources that the check does not control, as far as this play of the environment reads them."""
        places = self._play([watched], [WATCHED]).get(watched, {}).get("places", {})
        found = {name: tuple(places.get(f"{WATCHED} {name}", ())) for name in OUTSIDE}
        seen = {name: lines for name, lines in found.items() if lines}
        return seen if len(seen) < 2 else {OTHER: sum(seen.values(), ())[:_PLACES]}  # which of them is not known

    def _read_back(self) -> list[str]:
        """Files and folders that a play changed, and that another has read before it changed them."""
        return sorted(self._read & (self._changed | {str(Path(path).parent) for path in self._changed}))

    def _judge_surroundings(self, played: dict[tuple[str, ...], Played], elsewhere: Played | None) -> None:
        places = self._alone["places"]
        named = {name for name in _IN_A_PROCESS
                 if self._judge(name, played.get(("alone", name)), name, places.get(name, ()))}  # fmt: skip
        rest = [name for name in (*_IN_A_PROCESS, HASH) if name not in named]
        if named and elsewhere is not None:
            elsewhere = self._play([_ALONE], rest).get(_ALONE)
        if elsewhere is None or "reason" in elsewhere:
            self._unchecked.append(f"imported elsewhere ({LATE if elsewhere is None else elsewhere['reason']})")
        elif self._difference(elsewhere) is not None:
            self._judge_imports(rest)
        self._find_lines()

    def _judge_imports(self, rest: Sequence[str]) -> None:
        """It is not the same where it was imported in other surroundings: in which, or in any other process?"""
        for name in ((), *((name,) for name in rest)):
            play = self._play([_ALONE], name).get(_ALONE)
            culprit = name[0] if name else OTHER
            what = f"imported with another {culprit}" if name else "in another process"
            if self._judge(culprit, play, what, self._alone["places"].get(culprit, ())):
                if not name:
                    self._explain(play, ("asked",))
                return

    def _find_lines(self) -> None:
        drawn = [finding.culprit for finding in self._findings if finding.culprit in GENERATORS]
        traced = self._play([("traced", name) for name in drawn]) if drawn else {}
        for at, finding in enumerate(self._findings):
            lines = traced.get(("traced", finding.culprit), {}).get("places", ())
            if lines:
                self._findings[at] = Finding(finding.culprit, finding.call, finding.part, tuple(lines[:_PLACES]))

    def _judge_company(self, played: dict[tuple[str, ...], Played]) -> None:
        if self._judge(STATE, played.get(("neighbours",)), "next to others"):
            shared = self._play([("shared",)]).get(("shared",), {})
            last, places = self._findings.pop(), shared.get("places", ())
            by_files = sorted(self._changed) if not places else ()
            culprit = FILES if by_files else STATE
            self._findings.append(Finding(culprit, last.call, last.part, tuple(places or by_files)[:5]))
        for culprit, play in ((THREADS, "threads"), (RESET, "twice")):
            if not self._culprits():  # which would show again
                self._judge(culprit, played.get((play,)), play)

    def _judge_files(self) -> None:
        """Whether the first play is still repeated. Plays may differ if the environment reads its own files."""
        if self._read_back() and self._culprits() - {FILES}:
            last = self._play([_ALONE]).get(_ALONE, self._alone)
            if "reason" not in last and (found := self._difference(last)) is not None and found[1] != "info":
                self._findings = [Finding(FILES, *found, tuple(self._read_back()[:_PLACES]))]

    def _isolation(self) -> Isolation:
        findings, in_infos = (tuple(finding for finding in self._findings if (finding.part == "info") is of_infos)
                              for of_infos in (False, True))  # fmt: skip
        touched, calls = tuple(self._alone["touched"]), len(self._alone["rows"])
        unchecked, seconds = tuple(self._unchecked), monotonic() - self._began
        files = tuple(sorted(self._changed))
        return Isolation(self._name, findings, in_infos, touched, unchecked, calls, seconds, files)


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
