"""The files that an environment writes during a play, and how they are put back afterwards."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from threading import RLock
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ELSEWHERE = ("/dev/", "/proc/", "/sys/")
_NEW, _FOLDER, _REMOVED = "new", "folder", "removed folder"
# For each event of the system: where its arguments have a path, and the folder that it is relative to.
_PATHS: dict[str, list[tuple[int, int | None]]] = {
    "os.remove": [(0, 1)], "os.rmdir": [(0, 1)], "os.mkdir": [(0, 2)], "os.rename": [(0, 2), (1, 3)],
    "os.truncate": [(0, None)], "sqlite3.connect": [(0, None)],
}  # fmt: skip


class Keeper:
    """Keeps in `folder` what files had, from the moment at which this process opens them to write.

    Files below the parent of `folder` are not kept. An audit hook stays until its process ends: use it in a process
    that ends after its play.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._busy, self._turn = folder.resolve(), False, RLock()
        folder.mkdir(parents=True, exist_ok=True)
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            paths = [(path, -1)] if isinstance(flags, int) and flags & _WRITES else []
        elif event in _PATHS:
            paths = [(arguments[at], -1 if folder is None else arguments[folder]) for at, folder in _PATHS[event]]
        else:
            return
        with self._turn:
            if self._busy:  # with what it keeps
                return
            self._busy = True
            try:
                for path, folder in paths:
                    self._keep(path, folder, event)
            finally:
                self._busy = False

    def _keep(self, path: Any, folder: Any, event: str) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a number of an open file
        within = f"/proc/self/fd/{folder}" if isinstance(folder, int) and folder >= 0 else ""
        whole = os.path.realpath(os.path.join(within, os.fsdecode(path)))  # noqa: PTH118
        kept = self._folder / blake2b(whole.encode(), digest_size=8).hexdigest()
        note, before = kept.with_suffix(".path"), Path(whole)
        if note.exists() or whole.startswith((*_ELSEWHERE, str(self._folder.parent))):
            return
        with suppress(OSError):
            if before.is_file():
                shutil.copy2(before, kept)
                kind = ""
            elif before.exists() == (event == "os.rmdir"):
                kind = {"os.rmdir": _REMOVED, "os.mkdir": _FOLDER}.get(event, _NEW)
            else:
                return
            note.write_text(f"{kind}\n{whole}")


def written(folder: Path) -> list[str]:
    """The files and folders that were written."""
    return sorted(note.read_text().partition("\n")[2] for note in folder.glob("*.path"))


def put_back(folder: Path) -> None:
    """Give them what they had."""
    for note in sorted(folder.glob("*.path"), key=lambda note: -len(note.read_text())):  # folders after what is in them
        kind, _, path = note.read_text().partition("\n")
        with suppress(OSError):
            if kind == _NEW:
                Path(path).unlink(missing_ok=True)
            elif kind == _FOLDER:
                Path(path).rmdir()
            elif kind == _REMOVED:
                Path(path).mkdir(parents=True, exist_ok=True)
            else:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(note.with_suffix(""), path)
    shutil.rmtree(folder, ignore_errors=True)
