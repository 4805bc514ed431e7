"""Ranks on two nodes that share nothing but a link."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.choice import first
from tests.reactorlib.mpi.conftest import launcher
from tests.reactorlib.mpi.test_ends import SOON_S
from tests.reactorlib.scripts import ROOT
from workloads import two_nodes

HERE = Path(__file__).parent
# A table of processes that ends with the first of them, so that a failing test leaves none.
OWN = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
WITH_ALL = ["unshare", *OWN, "--pid", "--fork", "--kill-child", "--mount", "--mount-proc"]


@pytest.fixture(scope="module", autouse=True)
def permitted() -> None:
    reason = two_nodes.why_not()
    if reason:
        pytest.skip(f"no two nodes here: {reason}")


def on_two_nodes(*arguments: str) -> tuple[dict[str, Any], str, list[int]]:
    """The result of the job, its output, and the number of bytes that left each node."""
    words = [shlex.join(launcher()), *arguments]
    done = subprocess.run(
        [*WITH_ALL, *two_nodes.on_node0([sys.executable, str(HERE / "two_nodes.py"), *words])],
        capture_output=True, text=True, errors="replace", timeout=110, check=False, cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    lines = [line for line in done.stdout.splitlines() if line.startswith('{"status"')]
    assert lines, done.stderr
    ended = json.loads(lines[0])
    return ended, done.stdout + done.stderr, ended["sent"]


@pytest.mark.slow(reason="every workload on two nodes; `make test` has values cross the link otherwise")
def test_workloads_compute_the_same_and_their_values_cross_the_link() -> None:
    ended, said, crossed = on_two_nodes("-m", "workloads.ranks", "tests.workloads.on_ranks")
    assert ended["status"] == 0, said
    rows = [json.loads(line) for line in said.splitlines() if line.startswith("[")]
    assert len(rows) > 15
    assert [row for row in rows if row[1] != row[2]] == []
    assert crossed[1] > 10 * 210 * 160 * 3  # the frames of one environment of Pong alone, ten rounds


@pytest.mark.parametrize("victim", first(1, ["1", "0"], "two nodes once more; one rank is always tried"))
def test_a_rank_that_dies_ends_the_job_on_both_nodes(victim: str) -> None:
    ended, said, _ = on_two_nodes(str(HERE / "ends.py"), "kill", victim)
    assert ended["status"] != 0
    assert ended["after_s"] < SOON_S
    assert ended["left"] == [], said


def test_what_is_raised_on_one_node_is_raised_on_both() -> None:
    ended, said, _ = on_two_nodes(str(HERE / "ends.py"), "raise")
    assert ended["status"] == 1
    assert "on rank 1, host node1" in said
    assert said.count("ReactionError: Main.parts[2].act raised ValueError at tag (5 ms, 0): no reply") == 1


def test_a_session_s_values_cross_the_link() -> None:
    ended, said, crossed = on_two_nodes("-m", "reactorlib.mpi", str(HERE / "train.py"), "good")
    assert ended["status"] == 0, said
    assert said.count("done") == 3
    assert min(crossed) > 1000
