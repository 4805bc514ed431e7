"""Ctrl-C, SIGTERM and SIGKILL for a whole run: it ends at once, shutdown reactions run, nobody stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

import pytest

from tests.choice import first
from tests.reactorlib.executors.conftest import PATIENCE_S
from tests.reactorlib.executors.programs import noted
from tests.reactorlib.executors.victim import LATE, UNBREAKABLE, WHAT
from tests.reactorlib.scripts import ROOT

ALL_ENDED = ["hub ended", "leaf 0 ended", "leaf 1 ended", "leaf 2 ended"]


class Victim:
    """A run in a process group of its own, which does not outlive the test. The last argument is its log."""

    def __init__(self, *arguments: str, module: str = "tests.reactorlib.executors.victim", **env: str) -> None:
        self.log = arguments[-1]
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **env},
        )  # fmt: skip

    def __enter__(self) -> Self:
        assert self.process.stdout is not None
        if self.process.stdout.readline() != "ready\n":
            pytest.fail(self.kill())
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def kill(self) -> str:
        """End it if nothing else has; what it wrote to standard error since it was asked last."""
        if self.process.poll() is None or any(map(alive, self.pids())):  # otherwise another process may have its number
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        return self.process.communicate()[1]

    def pids(self) -> set[int]:
        return {int(line.rpartition(" ")[2]) for line in noted(self.log) if " pid " in line}

    def end(self) -> tuple[int, str]:
        """Exit status and standard error, once the process has ended: soon."""
        try:
            _, errors = self.process.communicate(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            pytest.fail("still there")
        return self.process.returncode, errors

    def gone(self) -> bool:
        """Whether all workers have ended, or do so soon."""
        until = time.monotonic() + PATIENCE_S
        while any(alive(pid) for pid in self.pids()):
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ended(log: str) -> list[str]:
    return sorted(line for line in noted(log) if line.endswith("ended"))


def assert_all_ended(log: str, executor: str, what: str) -> None:
    stuck = executor == "threads" and what in ("sleeping leaf", "sleeping everywhere")  # nothing breaks off their sleep
    assert ended(log) == ALL_ENDED or (stuck and set(ended(log)) >= {"hub ended", "leaf 0 ended"})


@pytest.mark.parametrize("what", WHAT)
def test_ctrl_c_ends_the_whole_group(executor, what, log):
    with Victim(executor, what, log) as victim:
        os.killpg(victim.process.pid, signal.SIGINT)
        status, errors = victim.end()
        assert status == -signal.SIGINT
        assert errors.count("Traceback") == 1, errors
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert victim.gone()
        assert_all_ended(log, executor, what)


def to_main(victim: Victim) -> None:
    os.kill(victim.process.pid, signal.SIGTERM)


def to_group(victim: Victim) -> None:
    os.killpg(victim.process.pid, signal.SIGTERM)


def to_all(victim: Victim) -> None:
    """As a service manager does, workers first."""
    for pid in sorted(victim.pids(), reverse=True):
        os.kill(pid, signal.SIGTERM)


TO_GROUP = "a signal to the group, as another test sends; to the main process and to every process it is always tried"


@pytest.mark.parametrize("send", first(2, [to_main, to_all, to_group], TO_GROUP))
@pytest.mark.parametrize("what", WHAT)
def test_sigterm_ends_it_quietly(executor, what, send, log):
    with Victim(executor, what, log) as victim:
        send(victim)
        assert victim.end() == (128 + signal.SIGTERM, "")
        assert victim.gone()
        assert_all_ended(log, executor, what)


def test_a_worker_that_misses_a_signal_gets_another(log):
    """As when a signal comes just before a sleep: Python's handler runs after it."""
    with Victim("processes", LATE, log) as victim:
        to_main(victim)
        assert victim.end() == (128 + signal.SIGTERM, "")
        assert ended(log) == ALL_ENDED


@pytest.mark.parametrize(
    "start_method", first(1, ["fork", "spawn", "forkserver"], "every way to start; one is always tried")
)
@pytest.mark.parametrize("what", ["rounds", "sleeping leaf", "sleeping hub", "idle"])
def test_workers_do_not_outlive_a_killed_main_process(what, start_method, log):
    with Victim("processes", what, log, REACTORLIB_START_METHOD=start_method) as victim:
        assert len(victim.pids()) == 3
        victim.process.kill()
        assert victim.end()[0] == -signal.SIGKILL
        assert victim.gone()


@pytest.mark.parametrize("start_method", ["fork", "spawn", "forkserver"])
def test_neither_do_they_where_a_process_forked_from_it_lives_on(start_method, log):
    module = "tests.reactorlib.executors.forking_victim"
    with Victim("processes", "idle", log, module=module, REACTORLIB_START_METHOD=start_method) as victim:
        victim.process.kill()
        assert victim.process.wait(PATIENCE_S) == -signal.SIGKILL
        assert victim.gone()
        until = time.monotonic() + PATIENCE_S
        while len(left := members(victim.process.pid)) > 1 and time.monotonic() < until:
            time.sleep(0.01)
        [forked] = left
        os.kill(forked, signal.SIGKILL)


def members(group: int) -> set[int]:
    """The processes of a group that live, but for Python's helpers, which every forked process keeps."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            is_helper = any(name in (entry / "cmdline").read_text() for name in ("resource_tracker", "forkserver"))
            if not is_helper and os.getpgid(int(entry.name)) == group and alive(int(entry.name)):
                found.add(int(entry.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_worker_that_nothing_breaks_off_is_left_behind_or_killed(executor, number, log):
    with Victim(executor, UNBREAKABLE, log) as victim:
        os.killpg(victim.process.pid, number)
        status, errors = victim.end()
        assert status == (-number if number == signal.SIGINT else 128 + number)
        assert errors.count("Traceback") == (number == signal.SIGINT), errors
        assert victim.gone()
        # The signal may have come just before the call into C. Then leaf 1 has also ended.
        assert [line for line in ended(log) if line != "leaf 1 ended"] == ["hub ended", "leaf 0 ended", "leaf 2 ended"]
