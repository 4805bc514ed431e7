"""Sessions of a script on the first rank, which the other ranks serve."""

from __future__ import annotations

import re
import signal
import socket
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from reactorlib.executors.executor import OutOfTime
from reactorlib.mpi.transport import MPITransport
from tests.reactorlib.mpi.conftest import launcher
from tests.reactorlib.mpi.test_ends import messages, messages_of_soon_ended
from tests.reactorlib.scripts import python

SCRIPT = str(Path(__file__).with_name("train.py"))
HOST = re.escape(socket.gethostname())


def started(start: Any, way: str, ranks: int = 3) -> Any:
    return start(ranks, "-m", "reactorlib.mpi", SCRIPT, way)


def test_a_session_on_ranks_computes_what_one_in_a_thread_does(start: Any) -> None:
    ended = started(start, "good").ended()
    assert ended.status == 0, ended.err
    assert re.findall(r"(\w+) done", ended.out) == ["mpi", "inline", "mpi"]
    of_each = Counter(re.findall(r"shut down (\d+)", ended.out)).values()
    assert sorted(of_each) == [2, 2, 2 + 4 + 2]  # the first rank also runs the inline one
    assert ended.err == ""


def test_no_limit_of_time_breaks_off_a_message_that_is_taken_in_part() -> None:
    waits = iter([OutOfTime(), OutOfTime(), None])

    def wait(_arrived: Any, _meanwhile: Any) -> None:
        if error := next(waits):
            raise error

    transport: Any = SimpleNamespace(_all_done=all, waiter=SimpleNamespace(wait=wait))
    MPITransport.finish(transport, [True])
    assert list(waits) == []


def test_a_reaction_that_raises_ends_the_session_and_the_next_one_opens(start: Any) -> None:
    ended = started(start, "fails_in_a_reaction").ended()
    assert ended.status == 0, ended.err
    assert "Squares.squares[3].act raised ValueError at tag (0 ns, 1): no square | " in ended.out
    assert re.search(rf"on rank 2, host {HOST}", ended.out)
    assert "then 9" in ended.out


def test_a_rank_that_dies_in_a_step_ends_the_job(start: Any) -> None:
    ended = started(start, "loses_a_rank").ended()
    assert ended.status != 0
    assert messages(ended.err) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_the_job(start: Any, number: int) -> None:
    messages_of_soon_ended(started(start, "hangs"), "stuck", number)


def test_what_makes_no_sense_is_refused_and_leaves_the_ranks_to_the_next_session(start: Any) -> None:
    ended = started(start, "is_refused").ended()
    assert ended.status == 0, ended.err
    for said in (
        "Local cannot be sent to another process",
        "workers=9, but there are 3 ranks",
        "use Session()",
    ):
        assert said in ended.out  # launchers mix lines
    assert ended.out.count("shut down") == 4


@pytest.mark.parametrize(("way", "status"), [("forgets", 0), ("exits", 7), ("fails", 1)])
def test_however_the_script_ends_the_job_does(start: Any, way: str, status: int) -> None:
    ended = started(start, way).ended()
    assert ended.status == status, ended.err
    assert messages(ended.err) == (["KeyError"] if way == "fails" else [])


def test_a_script_that_fails_waits_for_no_rank_that_hangs(start: Any) -> None:
    assert messages_of_soon_ended(started(start, "fails_beside_a_hang"), "stuck") == ["KeyError"]


def test_a_vector_environment_on_ranks_is_sync_s(start: Any) -> None:
    pytest.importorskip("gymnasium")
    ended = started(start, "steps_environments").ended()
    assert ended.status == 0, ended.err
    assert "by nought in environment 0 of ReactorVectorEnv(num_envs=3), in `step`" in ended.out
    assert "all the same" in ended.out


def test_the_command_says_what_it_wants() -> None:
    assert "mpiexec -n 4 python -m reactorlib.mpi train.py" in python("-m", "reactorlib.mpi", "--help").stdout
    assert python("-m", "reactorlib.mpi").returncode == 2
    ended = python("-m", "reactorlib.mpi", "nothing.py")
    assert (ended.returncode, ended.stderr.strip()) == (
        2, "reactorlib.mpi: no file nothing.py: give a script, and then its arguments"
    )  # fmt: skip
    launcher()  # skips without mpi4py
    ended = python("-m", "reactorlib.mpi", SCRIPT, "good")
    assert ended.returncode == 2
    assert re.match(r"reactorlib\.mpi: executor='mpi' needs .*mpiexec -n 2 python -m reactorlib\.mpi", ended.stderr)
