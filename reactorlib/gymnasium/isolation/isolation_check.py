"""The check itself: which plays differ from the one alone, and so what an environment depends on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

import cloudpickle  # type: ignore[import-untyped]
import gymnasium

from reactorlib.gymnasium.isolation.generators import GENERATORS
from reactorlib.gymnasium.isolation.play_server import LATE, Job, Played, serving
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
_PLACES = 3  # of a culprit, that are named

Places = dict[str, dict[str, int]]  # as of Surroundings


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
    return _IsolationCheck(make_env, steps, seed, limit_s).run()


class _IsolationCheck:
    def __init__(self, make_env: Any, steps: int, seed: int, limit_s: float) -> None:
        self._name = make_env if isinstance(make_env, str) else getattr(make_env, "__qualname__", repr(make_env))
        self._began, self._limit_s = monotonic(), limit_s
        box_s, until = limit_s / _PLAYS_IN_LIMIT, self._began + limit_s
        self._job = Job(cloudpickle.dumps(make_env), [*_registered()], (), [], seed, steps, box_s, until)
        self._findings: list[Finding] = []
        self._unchecked: list[str] = []
        self._changed, self._read = set[str](), set[str]()  # files
        self._are_infos_unlike = False  # so that a play's are no further finding

    def run(self) -> Isolation:
        """All plays, one at a time, as they may write the same files. Where something is found, more follow."""
        with serving(self._job) as self._here:
            self._alone = self._first(self._play("alone"))
            self._again = self._play("alone")
            if self._judge(OTHER, self._again, "again"):
                self._are_infos_unlike = True
            if not self._culprits():
                self._judge_surroundings()
                self._are_infos_unlike = bool(self._findings)
                if OTHER not in self._culprits():
                    self._judge_company()
            self._judge_files()
        findings, in_infos = (tuple(finding for finding in self._findings if (finding.part == "info") is of_infos)
                              for of_infos in (False, True))  # fmt: skip
        touched, unchecked, files = tuple(self._alone.touched), tuple(self._unchecked), tuple(sorted(self._changed))
        calls, seconds = len(self._alone.rows), monotonic() - self._began
        return Isolation(self._name, findings, in_infos, touched, unchecked, calls, seconds, files)

    def _play(self, *play: str) -> Played:
        """Play in the process that has imported the environment in the usual surroundings."""
        return self._kept(self._here(*play))

    def _play_elsewhere(self, changed: Sequence[str]) -> Played:
        """Play alone where the environment was imported with these surroundings changed."""
        with serving(self._job._replace(changed=tuple(changed), imports=self._alone.imports)) as play:
            return self._kept(play("alone"))

    def _kept(self, played: Played) -> Played:
        self._changed.update(played.changed)
        self._read.update(played.read)
        return played

    def _culprits(self) -> set[str]:
        return {finding.culprit for finding in self._findings if finding.part != "info"}

    def _first(self, alone: Played) -> Played:
        if alone.error == LATE:
            raise RuntimeError(f"{self._name}: no play ended within {self._limit_s} s (limit_s)")
        if alone.died:
            raise RuntimeError(f"{self._name} fails alone: {alone.died} in {call_named(alone.call)}")
        if alone.error or alone.rows[-1][0] == RAISED.encode():
            raise RuntimeError(f"{self._name} fails alone: {alone.error or alone.rows[-1][1].decode()}")
        return alone

    def _judge(self, culprit: str, play: Played, name: str) -> bool:
        """Whether a play differs from the one alone, which is then a finding."""
        if play.error:
            self._unchecked.append(f"{name} ({play.error.splitlines()[-1]})")
            return False
        found = self._difference(play)
        if found is None or (found[1] == "info" and self._are_infos_unlike):
            return False
        self._findings.append(Finding(culprit, *found, _lines(self._alone.places, culprit, found[0])))
        return True

    def _difference(self, play: Played) -> tuple[int, str] | None:
        """The first call that differs from the play alone, and what of it."""
        return (play.call, f"process ({play.died})") if play.died else _difference(self._alone.rows, play.rows)

    def _judge_surroundings(self) -> None:
        named = {name for name in (*GENERATORS, *OUTSIDE) if self._judge(name, self._play("alone", name), name)}
        drawn = self._play("alone", WATCHED).places if named & {*GENERATORS} else {}
        for at, one in enumerate(self._findings):
            if one.culprit in drawn:
                self._findings[at] = replace(one, places=_lines(drawn, one.culprit, one.call))
        rest = [name for name in (*GENERATORS, *OUTSIDE, HASH) if name not in named]
        elsewhere = self._play_elsewhere(rest)
        if elsewhere.error:
            self._unchecked.append(f"imported elsewhere ({elsewhere.error.splitlines()[-1]})")
        elif self._difference(elsewhere) is not None:
            self._judge_imports(rest)

    def _judge_imports(self, rest: Sequence[str]) -> None:
        """It is not the same where it was imported in other surroundings: in which, or in any other process?"""
        if self._judge(OTHER, self._play_elsewhere(()), "in another process"):
            return
        for name in rest:
            if self._judge(name, self._play_elsewhere([name]), f"imported with another {name}"):
                return

    def _judge_company(self) -> None:
        if self._judge(STATE, self._play("neighbours"), "next to others"):
            shared = _lines(self._play("shared").places, STATE, 0)
            by_files = () if shared else tuple(sorted(self._changed)[:_PLACES])
            culprit = FILES if by_files else STATE
            self._findings[-1] = replace(self._findings[-1], culprit=culprit, places=shared or by_files)
        for culprit, play in ((THREADS, "threads"), (RESET, "twice")):
            if not self._culprits():  # which would show again
                self._judge(culprit, self._play(play), play)

    def _judge_files(self) -> None:
        """Whether the first play is still repeated. If not, the environment may have read its own files.

        It has if a play read what it or another had changed, or if all plays are alike but for the first.
        """
        if not self._findings or not self._changed:
            return
        last = self._play("alone")
        found = None if last.error else self._difference(last)
        read = sorted(self._read & (self._changed | {str(Path(path).parent) for path in self._changed}))
        if found is None or (found[1] == "info" and self._culprits()):
            return
        if read or last.rows == self._again.rows:
            self._findings = [Finding(FILES, *found, tuple((read or sorted(self._changed))[:_PLACES]))]


def _lines(places: Places, culprit: str, call: int) -> tuple[str, ...]:
    """The lines that asked for a culprit first, until this call."""
    return tuple(line for line, first in places.get(culprit, {}).items() if first <= call)[:_PLACES]


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
