"""The surroundings of an environment, made equal for every play: generators, clock, process id, entropy.

Only a process of the check's own is changed, and before it imports the environment. The standard library keeps the real
clock and process id: its waits and its processes depend on them. Functions of modules are replaced, and no types:
compiled modules rely on their layout. So `datetime.now()` and an unseeded `random.Random()` are not equal for every
play.
"""

from __future__ import annotations

import os
import random
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from mmap import mmap
from pathlib import Path
from types import FrameType
from typing import Any

from reactorlib.gymnasium.isolation import generators

OUTSIDE = ("time", "process id", "entropy")
WATCHED = "watched"  # a surrounding that changes nothing, and finds the lines that draw
IMPORT = -1  # the number of the call before reset
_NO_PROCESS = 1 << 22  # Linux numbers its processes below
_OURS = str(Path(__file__).resolve().parents[2])
_LIBRARY = sysconfig.get_paths()["stdlib"]
_OF_GENERATORS = tuple(f"{os.sep}{name}{os.sep}" for name in ("numpy", "torch"))
monotonic = time.monotonic  # the real one


def is_library(file: str) -> bool:
    """Whether a file belongs to Python's standard library."""
    return file.startswith(("<frozen", _LIBRARY)) and "site-packages" not in file


def _is_foreign(file: str) -> bool:
    """Whether a file is the standard library's, or NumPy's or torch's, or ours."""
    return is_library(file) or file.startswith(_OURS) or any(part in file for part in _OF_GENERATORS)


def place(frame: FrameType | None) -> str | None:
    """The innermost line of a stack that is not foreign."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not _is_foreign(file):
            path = Path(file)
            near = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
            return f"{near}:{frame.f_lineno}"
        frame = frame.f_back
    return None


class Surroundings:
    """`changed` names those that differ from the usual ones.

    `places` has the lines that asked for each, and the call in which they first did: 0 is reset, IMPORT before.
    """

    def __init__(self, changed: tuple[str, ...] = ()) -> None:
        self.changed = changed
        self.places: dict[str, dict[str, int]] = defaultdict(dict)
        self.touched: set[str] = set()  # generators that a call has changed
        self.reached = memoryview(mmap(-1, 8)).cast("q")  # the call that is under way, also for the parent of a play
        self.reached[0] = IMPORT
        self._noted: set[Any] = set()
        self._last: tuple[dict[str, Any], str | None] = {}, None  # forms of generators, and the line after them
        self.begin()

    def begin(self, *more: str) -> None:
        """Begin a play. `more` names what is changed in this one."""
        self._changed = {*self.changed, *more}
        self._now_ns, self._drawn, self._calls = 1_700_000_000 * 10**9, 0, 0
        if "time" in self._changed:
            self._now_ns += 98_765_432_123_456
        generators.seed_all(0)
        self.disturb()
        if WATCHED in more:
            sys.settrace(self._trace)

    def disturb(self) -> None:
        """Before each call of the environment: reseed the generators that are changed."""
        self._calls += 1
        generators.seed_all(1000 + self._calls, [name for name in generators.GENERATORS if name in self._changed])

    @contextmanager
    def held(self) -> Iterator[None]:
        """Afterwards, everything is as before."""
        kept, now_ns, drawn, calls = generators.states(), self._now_ns, self._drawn, self._calls
        try:
            yield
        finally:
            generators.put(kept)
            self._now_ns, self._drawn, self._calls = now_ns, drawn, calls

    def note(self, culprit: str, frame: FrameType) -> None:
        """Keep the line that asks."""
        asks = (culprit, frame.f_code, frame.f_lineno)
        if asks in self._noted:
            return
        if line := place(frame):
            self.places[culprit].setdefault(line, self.reached[0])
        if not _is_foreign(frame.f_code.co_filename):
            self._noted.add(asks)  # a loop may ask for the time very often

    def now_ns(self) -> int:
        """The time, which passes from one call to the next, and when somebody sleeps."""
        self._now_ns += 13_217 if "time" in self._changed else 10_000
        return self._now_ns

    def install(self) -> None:
        """Let this process find them."""
        self._install_clock()
        os.getpid = self._asked(
            "process id", os.getpid, lambda: _NO_PROCESS + (7_777 if "process id" in self._changed else 1_111)
        )

        def entropy(size: int) -> bytes:
            self.note("entropy", sys._getframe(1))
            self._drawn += 1
            key = f"{self._drawn} {'entropy' in self._changed}".encode()
            return b"".join(blake2b(key, salt=b"%d" % part).digest() for part in range(size // 64 + 1))[:size]

        os.urandom = vars(random)["_urandom"] = entropy

    def _install_clock(self) -> None:
        for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
            setattr(time, name, self._asked("time", getattr(time, name), lambda: self.now_ns() / 1e9))
            setattr(time, f"{name}_ns", self._asked("time", getattr(time, f"{name}_ns"), self.now_ns))
        sleep = time.sleep

        def slept(seconds: float) -> None:
            sleep(seconds)
            self._now_ns += int(seconds * 1e9)

        vars(time)["sleep"] = slept

    def _asked(self, culprit: str, real: Callable[[], Any], ours: Callable[[], Any]) -> Callable[[], Any]:
        def ask() -> Any:
            frame = sys._getframe(1)
            if is_library(frame.f_code.co_filename):
                return real()
            self.note(culprit, frame)
            return ours()

        return ask

    def _trace(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        """A tracer that notes the lines after which a generator has another state."""
        (before, line), now = self._last, generators.forms()
        if line is not None:
            for name in [name for name, form in now.items() if form != before.get(name)]:
                self.places[name].setdefault(line, self.reached[0])
        self._last = now, place(frame)
        return None if _is_foreign(frame.f_code.co_filename) else self._trace
