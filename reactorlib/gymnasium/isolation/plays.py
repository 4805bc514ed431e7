"""Plays of an environment: alone, next to others, a second time, in threads. Each yields a digest of every call."""

from __future__ import annotations

import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from copy import deepcopy
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from types import FrameType, FunctionType, ModuleType
from typing import Any

from reactorlib.gymnasium.isolation import generators
from reactorlib.gymnasium.isolation.surroundings import Surroundings, monotonic, place
from reactorlib.worker.canonical_form import canonical

PARTS = ("observation", "reward", "terminated", "truncated", "info")
RAISED = "error"
Row = tuple[bytes, ...]  # a digest of each part of a call's result, or RAISED and the error


class Player:
    """An environment, the digests of its calls, and the actions that it is sent."""

    def __init__(
        self, make: Callable[[], Any], seed: int, around: Surroundings, steps: int, is_judged: bool = True
    ) -> None:
        self.rows: list[Row] = []
        self.touched: set[str] = set()  # generators that a call has changed
        self._seed, self._around, self._steps, self._is_judged = seed, around, steps, is_judged
        self._env: Any = None
        self._actions: list[Any] = []
        self._act(lambda: self._made(make))

    def _made(self, make: Callable[[], Any]) -> None:
        self._env = make()
        with self._around.held():
            space = deepcopy(self._env.action_space)  # environments of one class may share theirs
            space.seed(self._seed)
            self._actions = [space.sample() for _ in range(self._steps)]

    def _act(self, call: Callable[[], Any]) -> Any:
        """Call, unless an earlier call has failed."""
        if self.failed:
            return None
        self._around.disturb()
        if self._is_judged:
            self._around.reached = len(self.rows)
        before = generators.forms()
        try:
            return call()
        except Exception as error:  # noqa: BLE001  # the environment's: an error is an outcome
            self.rows.append((RAISED.encode(), f"{type(error).__name__}: {error}".encode()))
            return None
        finally:
            after = generators.forms()
            self.touched |= {name for name in before if before[name] != after[name]}

    @property
    def failed(self) -> bool:
        return bool(self.rows) and self.rows[-1][0] == RAISED.encode()

    def reset(self) -> None:
        """Begin with the seed."""
        self._coming = iter(self._actions)
        self._reset(self._seed)

    def _reset(self, seed: int | None) -> None:
        told = self._act(lambda: self._env.reset(seed=seed))
        if not self.failed:
            observation, info = told
            self._record(observation, 0.0, False, False, info)

    def step(self) -> None:
        """Take a step, or where the episode has ended, begin another."""
        if self.failed:
            return
        action = next(self._coming)
        if self._ended:
            self._reset(None)
            return
        told = self._act(lambda: self._env.step(action))
        if not self.failed:
            self._record(*told)

    def _record(self, *parts: Any) -> None:
        self.rows.append(tuple(_digest(part) for part in parts))
        self._ended = bool(parts[2]) or bool(parts[3])

    def close(self) -> None:
        """Close it, and ignore its errors."""
        if self._env is not None:
            self._act(self._env.close)


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

    def _rounds(self) -> Iterator[int]:
        """Take the number of steps that was asked for, or fewer if the time is over."""
        until = monotonic() + self._box_s
        for step in range(self._steps):
            yield step
            if monotonic() > until:
                return

    def _played(self, player: Player) -> dict[str, Any]:
        player.reset()
        for _ in self._rounds():
            player.step()
        return {"rows": player.rows, "touched": sorted(player.touched)} | self.asked()

    def alone(self, *changed: str) -> dict[str, Any]:
        """By itself, where this is changed."""
        self._around.begin(*changed)
        player = self._player(0)
        result = self._played(player)
        player.close()
        return result

    again = alone  # another time

    def asked(self) -> dict[str, Any]:
        """The lines that have asked for each of the surroundings until now."""
        return {"places": {culprit: [*lines] for culprit, lines in self._around.places.items()}}

    def watched(self, call: str) -> dict[str, Any]:
        """By itself, until this call. Lines that its import has run do not count."""
        self._around.forget()
        self._steps = int(call)
        return self.alone()

    def twice(self) -> dict[str, Any]:
        """Once, and then once more from the same seed."""
        self._around.begin()
        player = self._player(0)
        self._played(player)
        player.rows.clear()
        self._around.begin()
        return self._played(player)

    def neighbours(self) -> dict[str, Any]:
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
        for acting in chain([Player.reset], (Player.step for _ in self._rounds())):
            for each in (one, player, other):
                around: Any = nullcontext() if each is player else self._around.held()
                with around:
                    acting(each)
        return {"rows": player.rows}

    def threads(self) -> dict[str, Any]:
        """Play next to two others, each in a thread of its own."""
        self._around.begin()
        sys.setswitchinterval(1e-5)
        results: dict[int, dict[str, Any]] = {}

        def play(number: int) -> None:
            try:
                results[number] = self._played(self._player(number))
            except BaseException:  # noqa: BLE001  # no call of the environment: those are rows
                results[number] = {"error": traceback.format_exc(limit=-3)}

        several = [threading.Thread(target=play, args=(number,)) for number in (1, 0, 2)]
        for thread in several:
            thread.start()
        for thread in several:
            thread.join()
        return results[0]

    def traced(self, name: str) -> dict[str, Any]:
        """The lines after which this generator has another state."""
        self._around.begin()
        found: dict[str, None] = {}
        last: list[Any] = [generators.forms((name,)), None]

        def trace(frame: FrameType, _event: str, _argument: Any) -> Any:
            state = generators.forms((name,))
            if state != last[0] and last[1] is not None:
                found[last[1]] = None
            last[:] = state, place(frame)
            return trace

        player = self._player(0)
        sys.settrace(trace)
        player.reset()
        for _ in self._rounds():
            player.step()
            if found:
                break
        sys.settrace(None)
        return {"places": [*found]}

    def shared(self) -> dict[str, Any]:
        """The attributes of classes and modules, and of the process, that another environment has changed."""
        self._around.begin()
        player = self._player(0)
        player.reset()
        spaces = dict(_namespaces(player._env))
        before = {label: _forms(space) for label, space in spaces.items()}
        with self._around.held():
            other = self._player(1)
            other.reset()
            for _ in self._rounds():
                other.step()
        after = {label: _forms(space) for label, space in spaces.items()}
        return {"places": [f"{label}.{name}" for label in spaces for name in after[label]
                           if after[label][name] != before[label].get(name)]}  # fmt: skip


def _namespaces(env: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of the classes of an environment and its wrappers, and of their modules, by name."""
    yield "os.environ", lambda: dict(os.environ)
    yield "os", lambda: {"getcwd()": str(Path.cwd())}
    while env is not None:
        for cls in type(env).__mro__:
            if cls.__module__.partition(".")[0] in ("builtins", "gymnasium", "typing"):
                continue
            yield f"{cls.__module__}.{cls.__qualname__}", lambda cls=cls: dict(vars(cls))
            for function in vars(cls).values():
                if isinstance(function, FunctionType):
                    names = function.__globals__
                    yield cls.__module__, lambda names=names: dict(names)
                    yield from _siblings(cls.__module__, names)
        env = vars(env).get("env")


def _siblings(module: str, names: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    package = module.partition(".")[0]
    for value in [*names.values()]:
        of = value if isinstance(value, ModuleType) else sys.modules.get(getattr(value, "__module__", None) or "")
        if of is not None and of.__name__.partition(".")[0] == package:
            yield of.__name__, lambda of=of: dict(vars(of))


def _forms(read: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The forms of all that has one and is neither code nor Python's own."""
    found = {}
    for name, value in read().items():
        if name.startswith("__") or isinstance(value, type | ModuleType | FunctionType | property | classmethod):
            continue
        try:
            found[name] = canonical(value.get_state() if hasattr(value, "get_state") else value)
        except Exception:  # noqa: BLE001  # any class may refuse to be pickled
            continue
    return found
