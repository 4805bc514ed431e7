"""A run on ranks does what a run on one worker does: conformance and random programs, each in one job of ranks."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.choice import first
from tests.reactorlib.scripts import printed

REFUSED = ("session", "session_ends", "batches")
PROGRAMS, LONG_S = "40", 300.0
EXAMPLES = [
    "examples/powers.py:Powers",
    "examples/rl_pipeline.py:Pipeline",
    "examples/rl_pipeline.lf",
    "examples/q_learning.lf",
    "examples/furnace.py:Furnace --timeout 9s",
]


@pytest.mark.slow(reason="all conformance tests once more; `make test` has what only ranks do")
@pytest.mark.timeout(LONG_S)
def test_the_conformance_tests_pass_on_ranks(start: Any) -> None:
    refused = [f"--ignore=tests/reactorlib/conformance/test_{what}.py" for what in REFUSED]
    ended = start(2, "-m", "tests.reactorlib.mpi", "-q", *refused, "tests/reactorlib/conformance").ended(LONG_S)
    assert ended.status == 0, ended.out + ended.err
    assert int(re.findall(r"(\d+) passed", ended.out)[0]) > 500


def test_a_batch_is_refused_on_ranks_which_share_no_memory(start: Any) -> None:
    program = (
        "from reactorlib import run; from tests.reactorlib.conformance.test_batches import Rounds; "
        "run(Rounds, rounds=2, shape=(4, 2), dtype='i8', executor='mpi')"
    )
    ended = start(2, "-c", program).ended(LONG_S)
    assert ended.status != 0
    assert "memory that all workers see, and ranks have none: send each part as a value" in ended.err


@pytest.mark.slow(reason="minutes of random programs; `make test` runs the examples on ranks")
@pytest.mark.timeout(LONG_S)
def test_random_programs_have_the_digests_of_the_interpreter_on_ranks(start: Any) -> None:
    executors = "compiled,mpi:2:scattered,mpi:4:scattered"
    arguments = ("--programs", PROGRAMS, "--processes", "1", "--executors", executors)
    ended = start(4, "-m", "tests.reactorlib.reference", *arguments).ended(LONG_S)
    assert ended.status == 0, ended.out
    assert f"{PROGRAMS} programs in" in ended.err


@pytest.mark.slow(reason="every workload on ranks; `make test` runs the examples on ranks")
@pytest.mark.timeout(LONG_S)
def test_the_workloads_and_their_digests_are_those_of_the_serial_loop(start: Any) -> None:
    ended = start(2, "-m", "workloads.ranks", "tests.workloads.on_ranks").ended(LONG_S)
    assert ended.status == 0, ended.err
    rows = [json.loads(line) for line in ended.out.splitlines() if line.startswith("[")]
    assert len(rows) > 15
    assert [row for row in rows if row[1] != row[2]] == []


@pytest.mark.parametrize(
    ("target", "ranks"),
    first(2, [(target, ranks) for ranks in (2, 4) for target in EXAMPLES], "every example; two are always tried"),
)
def test_the_examples_have_the_digests_of_one_worker(start: Any, target: str, ranks: int) -> None:
    program = ("-m", "reactorlib", "run", *target.split(), "--fast", "--digest")
    alone = printed(*program)
    ended = start(ranks, *program, "--executor", "mpi").ended()
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[-1] == alone.splitlines()[-1]


def test_the_command_runs_on_ranks_and_the_first_one_speaks(start: Any) -> None:
    program = ("-m", "reactorlib", "run", "examples/powers.py:Powers", "--digest")
    alone = printed(*program)
    ended = start(3, *program, "--executor", "mpi").ended()
    assert ended.status == 0
    assert ended.out.splitlines()[-1] == alone.splitlines()[-1]
    assert sorted(ended.out.splitlines()) == sorted(alone.splitlines())


def test_a_mistake_in_the_command_is_told_once(start: Any) -> None:
    ended = start(3, "-m", "reactorlib", "run", "examples/powers.py:Powes", "--executor", "mpi").ended()
    assert ended.status == 2
    assert [line for line in ended.err.splitlines() if "reactorlib:" in line] == [
        "reactorlib: examples/powers.py has no reactor 'Powes': did you mean Powers?"
    ]


def test_a_thread_of_another_rank_stops_a_run_whose_tags_need_the_first_rank_alone(start: Any) -> None:
    program = (
        "import time; from reactorlib import SEC, run; "
        "from tests.reactorlib.conformance.test_user_threads import Busy; "
        "slow = lambda handle: (time.sleep(0.2), handle.request_stop()); "
        "print(run(Busy, which=1, work=slow, keepalive=True, timeout=20 * SEC, executor='mpi').tag.time < 20 * SEC)"
    )
    ended = start(2, "-c", program).ended(LONG_S)
    assert ended.status == 0, ended.err
    assert "True" in ended.out
