"""Ranks of MPI many times over: random programs, and every way in which a job ends. Only in `make soak`.

REACTORLIB_SOAK_SCALE, 1 by default, multiplies how often each is done. With Open MPI:
`make test-openmpi OMPI_TESTS='-m soak tests/soak/test_mpi.py'`.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

from tests.reactorlib.mpi.conftest import start
from tests.reactorlib.mpi.test_ends import (
    test_a_rank_that_fails_ends_the_job_soon,
    test_a_signal_to_the_launcher_ends_the_job_soon,
    test_all_ranks_have_the_same_result,
    test_an_error_after_the_run_aborts_the_job,
    test_an_exit_has_its_status,
    test_what_all_ranks_catch_ends_no_job,
    test_what_is_raised_on_any_rank_is_printed_once,
)
from tests.reactorlib.mpi.test_nodes import test_a_rank_that_dies_ends_the_job_on_both_nodes
from tests.reactorlib.mpi.test_sessions import (
    test_a_rank_that_dies_in_a_step_ends_the_job,
    test_a_reaction_that_raises_ends_the_session_and_the_next_one_opens,
    test_however_the_script_ends_the_job_does,
)

__all__ = [
    "start",
    "test_a_rank_that_dies_ends_the_job_on_both_nodes",
    "test_a_rank_that_dies_in_a_step_ends_the_job",
    "test_a_rank_that_fails_ends_the_job_soon",
    "test_a_reaction_that_raises_ends_the_session_and_the_next_one_opens",
    "test_a_signal_to_the_launcher_ends_the_job_soon",
    "test_all_ranks_have_the_same_result",
    "test_an_error_after_the_run_aborts_the_job",
    "test_an_exit_has_its_status",
    "test_however_the_script_ends_the_job_does",
    "test_what_all_ranks_catch_ends_no_job",
    "test_what_is_raised_on_any_rank_is_printed_once",
]

SCALE = float(os.environ.get("REACTORLIB_SOAK_SCALE", "1"))
PROGRAMS = max(1, round(1000 * SCALE))
AT_ONCE = 100  # programs of a job

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True, params=range(max(1, round(20 * SCALE))))
def again(request: Any) -> int:
    """Each test, so many times."""
    number: int = request.param
    return number


@pytest.mark.parametrize("again", range(0, PROGRAMS, AT_ONCE), indirect=True)
@pytest.mark.parametrize("ranks", [2, 4])
def test_random_programs_have_the_digests_of_the_interpreter(start: Any, ranks: int, again: int) -> None:
    arguments = ("--seed", str(again), "--programs", str(min(AT_ONCE, PROGRAMS - again)), "--processes", "1")
    executors = f"compiled,mpi:{ranks}:scattered"
    ended = start(ranks, "-m", "tests.reactorlib.reference", *arguments, "--executors", executors).ended(900.0)
    assert ended.status == 0, ended.out
