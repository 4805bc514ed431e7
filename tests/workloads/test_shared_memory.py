"""Which names in shared memory are a process tree's own: on real processes, with real files."""

import os
import subprocess
import sys
import time

import pytest

from workloads import shared_memory
from workloads.shared_memory import DIRECTORY, Names

pytestmark = pytest.mark.skipif(not DIRECTORY.is_dir(), reason="no shared memory to look into")

HOLD = {
    "maps": """
import mmap, os, sys
descriptor = os.open(sys.argv[1], os.O_CREAT | os.O_RDWR)
os.ftruncate(descriptor, 4096)
view = mmap.mmap(descriptor, 4096)
os.close(descriptor)
""",
    "opens": "import sys; file = open(sys.argv[1], 'a')",
    # As the C library makes a semaphore: the mapping keeps the name that it had before.
    "renames": """
import mmap, os, sys
file = open(sys.argv[1] + "-at-first", "w+b")
file.truncate(4096)
view = mmap.mmap(file.fileno(), 4096)
os.link(file.name, sys.argv[1])
os.unlink(file.name)
file.close()
""",
}
WAIT = "\nprint('ready', flush=True)\nsys.stdin.read()\n"


@pytest.fixture
def path():
    """A name such as Ray gives a semaphore, and no file."""
    path = DIRECTORY / f"sem.obj{os.getpid()}-{time.time_ns()}"
    yield path
    path.unlink(missing_ok=True)


@pytest.fixture
def child():
    """Starts a process that holds a file; its id."""
    started = []

    def start(path, how="maps"):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD[how] + WAIT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        started.append(process)
        assert process.stdout.readline() == b"ready\n"
        return process.pid

    yield start
    for process in started:
        process.communicate(timeout=30)


@pytest.mark.parametrize("how", HOLD)
def test_what_a_process_made_is_removed(path, child, how):
    names = Names()
    names.look([child(path, how)])
    assert path.exists()
    names.remove()
    assert not path.exists()


def test_a_look_while_the_process_lived_is_enough(path, child):
    names = Names()
    process = child(path)
    names.look([process])
    os.kill(process, 9)
    names.look([process])
    names.remove()
    assert not path.exists()


def test_what_was_there_before_stays(path, child):
    path.touch()
    names = Names()
    names.look([child(path)])
    names.remove()
    assert path.exists()


def test_a_name_that_tells_the_process_but_that_it_does_not_hold_stays(path, child):
    # It is that of a process with the same id in another container.
    names = Names()
    holder = child(DIRECTORY / path.name.replace("obj", "hdr"))
    other = DIRECTORY / f"sem.obj{holder}-{time.time_ns()}"
    try:
        other.touch()
        names.look([holder])
        names.remove()
        assert other.exists()
        assert not (DIRECTORY / path.name.replace("obj", "hdr")).exists()
    finally:
        other.unlink(missing_ok=True)


@pytest.mark.parametrize("how", ["maps", "opens"])
@pytest.mark.parametrize("name", ["lib.so", "lib.so.d/plasmaAbCdEf"])
def test_what_is_neither_rays_nor_multiprocessings_stays(path, child, name, how):
    mine = DIRECTORY / f"test-{path.name}-{name}"
    mine.parent.mkdir(exist_ok=True)
    try:
        names = Names()
        names.look([child(mine, how)])
        names.remove()
        assert mine.exists()
    finally:
        mine.unlink()
        if mine.parent != DIRECTORY:
            mine.parent.rmdir()


def test_a_name_that_means_another_file_by_now_stays(path, child):
    names = Names()
    names.look([child(path)])
    path.unlink()
    path.touch()
    names.remove()
    assert path.exists()


def test_where_there_is_no_shared_memory_nothing_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(shared_memory, "DIRECTORY", tmp_path / "none")
    names = Names()
    names.look([os.getpid()])
    names.remove()
