"""Names in shared memory that a process tree made, to be removed when it was ended before it could do so itself.

Owns the decision which names these are. It looks at the file behind a name and not at the process id in it. Ids
repeat, in time and in every container that shares the directory. Linux; elsewhere nothing is found.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

DIRECTORY = Path("/dev/shm")
# Names that can be left behind. Ray: the object store, semaphores of compiled graphs. Python: what multiprocessing
# shares.
_LEFT = re.compile(r"plasma\w{6}|sem\.(obj|hdr)\d+-\d+|sem\.mp-\w+|pym-\d+-\w+|psm_\w+")

Identity = tuple[int, int]  # device and inode, which no two files have at a time


class Names:
    """The names that Ray or multiprocessing made in shared memory since this object was, for processes it is shown."""

    def __init__(self) -> None:
        self._before = set(_present())
        self._own: dict[Identity, Path] = {}

    def look(self, pids: Iterable[int]) -> None:
        """Learn which of the names these processes have mapped or open: as long as they live, nobody else can tell."""
        known = self._before | self._own.keys()
        new = {identity: path for identity, path in _present().items() if identity not in known}
        if new:  # else there is nothing to read the tables of every process for
            held = {identity for pid in pids for identity in _held(pid)}
            self._own |= {identity: path for identity, path in new.items() if identity in held}

    def remove(self) -> None:
        """Remove the names that were learnt, unless they have come to mean another file."""
        present = _present()
        for identity, path in self._own.items():
            if present.get(identity) == path:
                path.unlink(missing_ok=True)


def _present() -> dict[Identity, Path]:
    """The files that have such a name now. Directories below are never looked into: they are users'."""
    found = {}
    for path in DIRECTORY.iterdir() if DIRECTORY.is_dir() else ():
        if _LEFT.fullmatch(path.name):
            try:
                status = path.lstat()
            except FileNotFoundError:
                continue
            found[status.st_dev, status.st_ino] = path
    return found


def _held(pid: int) -> Iterator[Identity]:
    """The files of the directory that a process has mapped or open; nothing if the process has ended."""
    prefix = f"{DIRECTORY}/"
    try:
        # A semaphore's maker has it mapped under a temporary name that is gone; its inode is the semaphore's.
        for line in Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines():
            if prefix in line:
                _, _, _, device, inode, _ = line.split(maxsplit=5)
                major, minor = (int(part, 16) for part in device.split(":"))
                yield os.makedev(major, minor), int(inode)
        for link in Path(f"/proc/{pid}/fd").iterdir():
            if str(link.readlink()).startswith(prefix):
                status = link.stat()
                yield status.st_dev, status.st_ino
    except OSError:
        return
