"""However a run ends on ranks: one error with rank and host, on all of them, and soon; nothing is left."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ENDS = str(Path(__file__).with_name("ends.py"))
HOST = re.escape(socket.gethostname())
SOON_S = 5  # two seconds by the clock of a quiet machine


def texts(err: str) -> list[str]:
    """What was said of an error: the last line of each traceback, and the notes of guards."""
    said = [line for line in err.replace("\0", "").splitlines() if re.match(r"[\w. ]*(Error|Interrupt)\b", line)]
    return [line for line in said if "direct cause" not in line]


def test_all_ranks_have_the_same_result(start: Any) -> None:
    ended = start(3, ENDS, "good").ended()
    assert ended.status == 0
    found = re.findall(r"rank \d of 3 ended at \(20 ms, 0\)", ended.out)  # launchers mix lines
    assert sorted(found) == [f"rank {rank} of 3 ended at (20 ms, 0)" for rank in range(3)]
    assert ended.out.count("shut down") == 3
    assert ended.err == ""


@pytest.mark.parametrize(
    ("way", "error", "note"),
    [
        ("raise", "ReactionError: Main.parts[1].act raised ValueError at tag (5 ms, 0): no reply", "rank 1, host"),
        ("unpicklable", "ReactionError: Main.parts[1].act raised LambdaError at tag (5 ms, 0): ", "rank 1, host"),
        ("value", "WorkerError: Main.parts[1].out", "rank 1, host"),
        ("constructor", "ElaborationError: Main: the constructor raised OSError: no file here", "rank 1, host"),
        ("different", "RunError: the ranks do not run the same: the parameters of the program is", "rank 1 (host"),
        ("workers", "RunError: workers=9, but there are 3 ranks: each worker is a rank", "mpiexec -n 9"),
    ],
)  # fmt: skip
def test_what_is_raised_is_raised_on_all_ranks_and_printed_once(start: Any, way: str, error: str, note: str) -> None:
    ended = start(3, ENDS, way).ended()
    assert ended.status == 1
    assert ended.err.count(error) == 1
    assert note in ended.err
    assert "MPI_Abort" not in ended.err  # every rank ends as it should


def test_an_exit_has_its_status(start: Any) -> None:
    ended = start(3, ENDS, "exit").ended()
    assert ended.status == 7
    assert texts(ended.err) == []
    assert ended.out.count("shut down") == 3


# SIGTERM to the first rank ends the run as Ctrl-C does.
@pytest.mark.parametrize(
    ("way", "victim"), [("kill", 0), ("kill", 1), ("os._exit", 0), ("os._exit", 1), ("terminate", 1)]
)
def test_a_rank_that_dies_ends_the_job(start: Any, way: str, victim: int) -> None:
    job = start(3, ENDS, way, str(victim))
    ended = job.ended()
    assert ended.status != 0
    said = re.findall(rf"rank \d on {HOST} \(process \d+\)[^\n]* ended before the run did", ended.err)
    assert len(said) == 1, ended.err
    assert re.search(rf"rank {victim} on {HOST} ", ended.err)


def test_a_rank_whose_guard_dies_ends_the_job(start: Any) -> None:
    ended = start(3, ENDS, "guard").ended()
    assert ended.status != 0
    assert re.search(rf"rank 1 on {HOST} \(process \d+\) is gone, with its guard", ended.err)


def test_a_rank_that_fails_before_the_run_ends_the_job(start: Any) -> None:
    ended = start(3, ENDS, "before").ended()
    assert ended.status != 0
    assert ended.err.count("KeyError: 'before the run'") == 1
    assert re.search(rf"rank 1 on {HOST} failed before the run", ended.err)


def test_a_rank_that_fails_after_the_run_ends_the_job(start: Any) -> None:
    ended = start(3, ENDS, "after").ended()
    assert ended.status != 0
    assert "KeyError: 'after the run'" in ended.err or "rank 1 on" in ended.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_the_job(start: Any, number: int) -> None:
    job = start(3, ENDS, "interrupt")
    job.await_word("stuck")
    job.process.send_signal(number)
    ended = job.ended()
    assert ended.status != 0
    assert ended.after_s < SOON_S
    assert texts(ended.err) in ([], ["KeyboardInterrupt"])


def test_a_rank_that_never_comes_is_not_waited_for_without_end(start: Any) -> None:
    ended = start(2, "-c", NEVER, REACTORLIB_MPI_START_S="1").ended()
    assert ended.status != 0
    assert "not every rank came to run(executor='mpi') in time" in ended.err


NEVER = """
import os, time
from reactorlib import Reactor, run
if (os.environ.get("PMI_RANK") or os.environ["PMIX_RANK"]) == "1":
    time.sleep(60)
run(Reactor, executor="mpi")
"""


def test_without_a_launcher_the_error_says_what_to_type() -> None:
    program = [sys.executable, "-c", "from reactorlib import Reactor, run; run(Reactor, executor='mpi')"]
    ended = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stderr.splitlines()[-1].startswith("reactorlib.errors.RunError: executor='mpi' needs ")
    assert "mpiexec -n 2 python -c" in ended.stderr or "pip install" in ended.stderr
