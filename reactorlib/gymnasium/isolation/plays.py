"""Plays of an environment: alone, next to others, a second time, in threads. Each yields a digest of every call."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from copy import deepcopy
from hashlib import blake2b
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from reactorlib.gymnasium.isolation import generators
from reactorlib.gymnasium.isolation.report import STATE
from reactorlib.gymnasium.isolation.surroundings import Surroundings, monotonic
from reactorlib.worker.canonical_form import canonical

PARTS = ("observation", "reward", "terminated", "truncated", "info")
RAISED = "error"
Row = tuple[bytes, ...]  # a digest of each part of a call's result, or RAISED and the error


class Player:
    """An environment, the digests of its calls, and the actions that it is sent."""

    def __init__(self, make: Callable[[], Any], seed: int, around: Surroundings, steps: int, is_judged: bool) -> None:
        self.rows: list[Row] = []
        self.env: Any = None
        self._seed, self._around, self._steps, self._is_judged = seed, around, steps, is_judged
        self._actions: list[Any] = []
        self._call(lambda: self._made(make))
        self.begin()

    def _made(self, make: Callable[[], Any]) -> None:
        self.env = make()
        with self._around.held():
            space = deepcopy(self.env.action_space)  # environments of one class may share theirs
            space.seed(self._seed)
            self._actions = [space.sample() for _ in range(self._steps)]

    def begin(self) -> None:
        """Begin with the seed."""
        self._results = self._episodes()

    def _episodes(self) -> Iterator[tuple[Any, ...]]:
        """The results of its calls: a reset with the seed, then steps, and a reset after the end of an episode."""
        seed: int | None = self._seed
        is_over = True
        for action in (None, *self._actions):
            if is_over:
                observation, info = self.env.reset(seed=seed)
                reward, terminated, truncated, seed = 0.0, False, False, None
            else:
                observation, reward, terminated, truncated, info = self.env.step(action)
            is_over = bool(terminated) or bool(truncated)
            yield observation, reward, terminated, truncated, info

    def act(self) -> None:
        """Make the next call."""
        self._call(lambda: self.rows.append(tuple(_digest(part) for part in next(self._results))))

    def close(self) -> None:
        """Close it, and ignore its errors."""
        if self.env is not None:
            self._call(self.env.close)

    def _call(self, call: Callable[[], Any]) -> None:
        """Call, unless an earlier call has failed."""
        if self.rows and self.rows[-1][0] == RAISED.encode():
            return
        self._around.disturb()
        if self._is_judged:
            self._around.reached[0] = len(self.rows)
        before = generators.forms()
        try:
            call()
        except Exception as error:  # noqa: BLE001  # the environment's: an error is an outcome
            self.rows.append((RAISED.encode(), f"{type(error).__name__}: {error}".encode()))
        finally:
            after = generators.forms()
            self._around.touched |= {name for name in before if before[name] != after[name]}


def _digest(part: Any) -> bytes:
    try:
        return blake2b(canonical(part), digest_size=8).digest()
    except Exception:  # noqa: BLE001  # what cannot be pickled cannot be compared: its type must do
        return type(part).__qualname__.encode()


class Plays:
    """The plays of one environment, each of which wants a process of its own: a fork of one that has imported it."""

    def __init__(self, make: Callable[[], Any], around: Surroundings, seed: int, steps: int, box_s: float) -> None:
        self._make, self._around, self._seed, self._steps, self._box_s = make, around, seed, steps, box_s

    def _player(self, number: int) -> Player:
        return Player(self._make, self._seed + number, self._around, self._steps, number == 0)

    def _rounds(self) -> Iterator[None]:
        """As many calls as were asked for, a reset and steps, or fewer if the time is over."""
        yield
        until = monotonic() + self._box_s
        for _ in range(self._steps):
            yield
            if monotonic() > until:
                return

    def _played(self, player: Player) -> list[Row]:
        for _ in self._rounds():
            player.act()
        return player.rows

    def alone(self, *changed: str) -> list[Row]:
        """By itself, where this is changed."""
        self._around.begin(*changed)
        player = self._player(0)
        rows = [*self._played(player)]
        player.close()
        return rows

    def twice(self) -> list[Row]:
        """Once, and then once more from the same seed."""
        self._around.begin()
        player = self._player(0)
        self._played(player)
        player.rows.clear()
        player.begin()
        self._around.begin()
        return self._played(player)

    def neighbours(self) -> list[Row]:
        """Between two others, and after one that has ended. Their own use of the surroundings does not count."""
        self._around.begin()
        with self._around.held():
            before = self._player(1)
            self._played(before)
            before.close()
            one = self._player(2)
        player = self._player(0)
        with self._around.held():
            other = self._player(3)
        for _ in self._rounds():
            for each in (one, player, other):
                with nullcontext() if each is player else self._around.held():
                    each.act()
        return player.rows

    def threads(self) -> list[Row]:
        """Next to two others, each in a thread of its own."""
        self._around.begin()
        sys.setswitchinterval(1e-5)
        with ThreadPoolExecutor(3) as pool:
            several = [pool.submit(lambda number: self._played(self._player(number)), number) for number in (1, 0, 2)]
        return several[1].result()

    def shared(self) -> list[Row]:
        """Note the attributes of classes and modules, and of the process, that another environment changes."""
        self._around.begin()
        player = self._player(0)
        player.act()
        before = _shared(player.env)
        with self._around.held():
            self._played(self._player(1))
        after = _shared(player.env)
        self._around.places[STATE] = {name: 0 for name, form in after.items() if form != before.get(name)}
        return player.rows


def _shared(env: Any) -> dict[str, bytes]:
    """The forms of the attributes of an environment's and its wrappers' classes and modules, and of the process."""
    spaces: dict[str, Any] = {"os.environ": dict(os.environ), "os": {"getcwd()": str(Path.cwd())}}
    while env is not None:
        for cls in type(env).__mro__:
            package = cls.__module__.partition(".")[0]
            if package in ("builtins", "gymnasium", "typing"):
                continue
            spaces[f"{cls.__module__}.{cls.__qualname__}"] = vars(cls)
            for function in vars(cls).values():
                if isinstance(function, FunctionType):
                    spaces[cls.__module__] = function.__globals__
            for value in [*spaces.get(cls.__module__, {}).values()]:
                of = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", "") or "")
                if of is not None and of.__name__.partition(".")[0] == package:
                    spaces.setdefault(of.__name__, vars(of))
        env = vars(env).get("env")
    return {f"{label}.{name}": form for label, space in spaces.items() for name, form in _forms(space)}


def _forms(space: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """The forms of all that has one and is neither code nor Python's own."""
    for name, value in [*space.items()]:
        if name.startswith("__") or isinstance(value, type | ModuleType | FunctionType | property | classmethod):
            continue
        with suppress(Exception):  # any class may refuse to be pickled
            yield name, canonical(value.get_state() if hasattr(value, "get_state") else value)
