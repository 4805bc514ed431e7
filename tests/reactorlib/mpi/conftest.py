"""Fixtures: a job of ranks, with the launcher that belongs to this interpreter's mpi4py.

REACTORLIB_TEST_MPIEXEC, such as "/opt/openmpi/bin/mpiexec --oversubscribe", says which launcher it is.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.reactorlib.scripts import ROOT

MARK = "REACTORLIB_TEST_JOB"
LONGEST_S = 60


def launcher() -> list[str]:
    """The command that starts ranks. Skips where there is none."""
    if find_spec("mpi4py") is None:
        pytest.skip("no mpi4py: pip install 'reactorlib[mpi]'")
    given = os.environ.get("REACTORLIB_TEST_MPIEXEC")
    found = given or shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if not found:
        pytest.skip("no mpiexec: pip install 'reactorlib[mpi]', or name one in REACTORLIB_TEST_MPIEXEC")
    return shlex.split(found)


class Ended(NamedTuple):
    """A job that has ended."""

    status: int
    out: str
    err: str
    after_s: float  # since it was interfered with


class Job:
    """A job under way. Its processes are known by their environment.

    A line that one of them prints is one piece to the launcher: unbuffered, it would be mixed with those of others.
    """

    def __init__(self, ranks: int, arguments: tuple[str, ...], env: dict[str, str], folder: Path) -> None:
        self.mark = uuid.uuid4().hex
        self.out, self.err = folder / f"{self.mark}.out", folder / f"{self.mark}.err"
        with self.out.open("w") as out, self.err.open("w") as err:
            self.process = subprocess.Popen(
                [*launcher(), "-n", str(ranks), sys.executable, *arguments],
                stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=ROOT, start_new_session=True,
                env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", MARK: self.mark, **env},
            )  # fmt: skip
        self.began = time.monotonic()

    def await_word(self, word: str) -> None:
        """Wait until a rank has printed it."""
        while word not in self.out.read_text(errors="replace"):
            assert self.process.poll() is None, self.err.read_text(errors="replace")
            assert time.monotonic() - self.began < LONGEST_S
            time.sleep(0.02)

    def ended(self, limit_s: float = LONGEST_S) -> Ended:
        """Wait until it has; nothing of it may be left."""
        began = time.monotonic()
        status = self.process.wait(limit_s)
        after_s = time.monotonic() - began
        until = time.monotonic() + 3  # guards outlive their ranks for moments
        while self.left() and time.monotonic() < until:
            time.sleep(0.02)
        assert self.left() == []
        return Ended(status, self.out.read_text(errors="replace"), self.err.read_text(errors="replace"), after_s)

    def processes(self) -> Iterator[tuple[int, str]]:
        """The number and the command of each of its processes."""
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and f"{MARK}={self.mark}".encode() in (entry / "environ").read_bytes():
                    yield int(entry.name), (entry / "cmdline").read_text().replace("\0", " ")

    def left(self) -> list[str]:
        """The commands of its processes."""
        return [command for _, command in self.processes()]

    def kill(self) -> None:
        """End what hangs."""
        for number, _ in self.processes():
            with suppress(OSError):
                os.kill(number, signal.SIGKILL)


Start = Callable[..., Job]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a job: `start(ranks, *arguments of python, **environment)`."""
    before = shared_files()
    jobs: list[Job] = []

    def start(ranks: int, *arguments: str, **env: str) -> Job:
        jobs.append(Job(ranks, arguments, env, tmp_path))
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.process.wait()
    new, until = shared_files() - before, time.monotonic() + 5
    while (left := new & shared_files()) and time.monotonic() < until:
        time.sleep(0.05)
    assert not left - mapped()  # another job may be under way


def shared_files() -> set[str]:
    """The files of MPI in shared memory."""
    return {str(path) for kind in ("mpich_shm_", "sm_segment.") for path in Path("/dev/shm").glob(f"{kind}*")}


def mapped() -> set[str]:
    """Files in shared memory that a process uses."""
    found: set[str] = set()
    for maps in Path("/proc").glob("[0-9]*/maps"):
        with suppress(OSError):
            found.update(re.findall(r"/dev/shm/\S+", maps.read_text(errors="replace")))
    return found
