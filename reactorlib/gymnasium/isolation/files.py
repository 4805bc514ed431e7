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
_NEW, _FOLDER = "new", "folder"


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
            paths = [path] if isinstance(flags, int) and flags & _WRITES else []
        elif event in ("os.remove", "os.truncate", "os.mkdir", "sqlite3.connect"):
            paths = [arguments[0]]
        elif event == "os.rename":
            paths = [*arguments[:2]]
        else:
            return
        with self._turn:
            if self._busy:  # with what it keeps
                return
            self._busy = True
            try:
                for one in paths:
                    self._keep(one, event == "os.mkdir")
            finally:
                self._busy = False

    def _keep(self, path: Any, is_folder: bool) -> None:
        if not isinstance(path, str | bytes | os.PathLike):
            return  # a number of an open file
        whole = os.path.realpath(os.fsdecode(path))
        kept = self._folder / blake2b(whole.encode(), digest_size=8).hexdigest()
        note, before = kept.with_suffix(".path"), Path(whole)
        if note.exists() or whole.startswith((*_ELSEWHERE, str(self._folder.parent))):
            return
        with suppress(OSError):
            if before.is_file():
                shutil.copy2(before, kept)
            elif before.exists():
                return
            kind = "" if before.exists() else _FOLDER if is_folder else _NEW
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
            else:
                shutil.copy2(note.with_suffix(""), path)
    shutil.rmtree(folder, ignore_errors=True)
