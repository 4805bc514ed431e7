"""The files that a play changes, and those that it reads before it changes them. Nothing here writes a file."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ELSEWHERE = ("/dev/", "/proc/", "/sys/")
# For each event of the system: where its arguments have a path, and the folder that it is relative to.
_CHANGES: dict[str, list[tuple[int, int | None]]] = {
    "open": [(0, None)], "os.remove": [(0, 1)], "os.rmdir": [(0, 1)], "os.mkdir": [(0, 2)],
    "os.rename": [(0, 2), (1, 3)], "os.link": [(1, 3)], "os.symlink": [(1, 2)], "os.truncate": [(0, None)],
    "sqlite3.connect": [(0, None)],
}  # fmt: skip
_IMPORTS = "<frozen importlib"  # they list folders and read modules, whatever the environment depends on
_READS = ("os.listdir", "os.scandir", "sqlite3.connect")
_FOLLOWS = ("open", "os.truncate", "sqlite3.connect")  # the file that a link leads to, where others have the link

State = tuple[int, ...] | None


class Watch:
    """Notes what this process does to files, as far as Python opens, makes, renames or removes them.

    An audit hook stays until its process ends: use it in a process that ends after its play.
    """

    def __init__(self) -> None:
        self._before: dict[str, State] = {}
        self._read: dict[str, None] = {}
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        places, reads = _CHANGES.get(event, []), event in _READS
        if event == "open":
            flags = arguments[2] if isinstance(arguments[2], int) else os.O_RDONLY
            places = places if flags & _WRITES else []
            reads = not places or flags & os.O_ACCMODE == os.O_RDWR
        if reads and not sys._getframe(1).f_code.co_filename.startswith(_IMPORTS):
            for whole in self._outside(arguments[0], None, follow=True):
                if whole not in self._before:
                    self._read[whole] = None
        for at, of in places:
            for whole in self._outside(arguments[at], None if of is None else arguments[of], event in _FOLLOWS):
                self._before.setdefault(whole, _state(whole))

    def _outside(self, path: Any, folder: Any, follow: bool) -> Iterator[str]:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a number of an open file
        within = f"/proc/self/fd/{folder}" if isinstance(folder, int) and folder >= 0 else ""
        near = Path(within, os.fsdecode(path))
        whole = os.path.realpath(near) if follow else str(Path(os.path.realpath(near.parent), near.name))
        if not whole.startswith(_ELSEWHERE):
            yield whole

    def changed(self) -> list[str]:
        """Files and folders that are otherwise than before: made, written or removed."""
        return sorted(path for path, before in self._before.items() if _state(path) != before)

    def read(self) -> list[str]:
        """Files and folders that were read before this process wrote them."""
        return sorted(self._read)


def _state(path: str) -> State:
    """The state of a file, by which a change is seen; of a folder, whether it is there."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return None
    return (found.st_ino,) if os.path.isdir(path) else (found.st_ino, found.st_size, found.st_mtime_ns)  # noqa: PTH112
