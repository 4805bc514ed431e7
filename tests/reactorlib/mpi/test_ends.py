"""However a run ends on ranks, the job ends soon, with at most one message of ours, and leaves nothing."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.reactorlib.scripts import python

ENDS = str(Path(__file__).with_name("ends.py"))
SOON_S = 5


def messages(err: str) -> list[str]:
    """The kinds of the errors that were printed, but for the causes of others."""
    chained = "The above exception was the direct cause of the following exception:"
    last = err.replace("\0", "").rpartition(chained)[2]
    return re.findall(r"^(?:[\w.]*\.)?(\w*Error|KeyboardInterrupt|reactorlib)(?::|$)", last, re.MULTILINE)


def messages_of_soon_ended(job: Any, word: str, number: int | None = None) -> list[str]:
    """The messages of a job that fails soon after this word, and after this signal to its launcher."""
    job.await_word(word)
    if number is not None:
        job.process.send_signal(number)
    ended = job.ended()
    assert ended.status != 0, ended.err
    assert ended.after_s < SOON_S, ended.err
    print(ended.err)  # shown if the caller expects other messages
    return messages(ended.err)


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
def test_what_is_raised_on_any_rank_is_printed_once(start: Any, way: str, error: str, note: str) -> None:
    ended = start(3, ENDS, way).ended()
    assert ended.status != 0  # MPI_Abort(1) kills the ranks; MPICH's launcher may report a killed one's status
    assert ended.err.count(error) == 1
    assert note in ended.err


def test_an_exit_has_its_status(start: Any) -> None:
    ended = start(3, ENDS, "exit").ended()
    assert ended.status == 7
    assert messages(ended.err) == []
    assert ended.out.count("shut down") == 3


# MPI handles these failures. tests/soak/test_mpi.py repeats each 20 times.
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("way", ["raise", "os._exit", "kill", "terminate"])
def test_a_rank_that_fails_ends_the_job_soon(start: Any, way: str, victim: int) -> None:
    said = messages_of_soon_ended(start(3, ENDS, way, str(victim)), "misbehaves")
    assert said == [] or (way == "raise" and len(said) == 1)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_to_the_launcher_ends_the_job_soon(start: Any, number: int) -> None:
    said = messages_of_soon_ended(start(3, ENDS, "hang"), "misbehaves", number)
    assert said in ([], ["KeyboardInterrupt"])


@pytest.mark.parametrize("victim", [0, 1])
def test_an_error_after_the_run_aborts_the_job(start: Any, victim: int) -> None:
    ended = start(3, ENDS, "after", str(victim)).ended()
    assert ended.status != 0
    assert messages(ended.err) == ["KeyError"]


def test_what_all_ranks_catch_ends_no_job(start: Any) -> None:
    ended = start(3, ENDS, "caught").ended()
    assert ended.status == 0, ended.err
    assert sorted(re.findall(r"rank \d caught ReactionError", ended.out)) == [
        f"rank {n} caught ReactionError" for n in range(3)
    ]
    assert len(re.findall(r"rank \d of 3 ended at", ended.out)) == 3


def test_ranks_that_make_different_calls_are_named(start: Any) -> None:
    ended = start(3, ENDS, "once more").ended()
    assert ended.status != 0
    assert messages(ended.err) == ["reactorlib"]
    assert "the end of its program on rank 0" in ended.err
    assert "run() on rank 1" in ended.err


def test_without_a_launcher_the_error_says_what_to_type() -> None:
    ended = python("-c", "from reactorlib import Reactor, run; run(Reactor, executor='mpi')")
    assert ended.stderr.splitlines()[-1].startswith("reactorlib.errors.RunError: executor='mpi' needs ")
    assert "mpiexec -n 2 python -c" in ended.stderr or "pip install" in ended.stderr
