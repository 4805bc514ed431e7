"""Ctrl-C and SIGTERM at random moments: each ends the program, with one message, and nothing stays behind.

In SOAK_SECONDS (600), 300 of each on each kind of program. That takes some 15 minutes on two processors.
"""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reactorlib.scripts import ROOT

TRIES = max(2, round(float(os.environ.get("SOAK_SECONDS", "600")) / 2))
KINDS = ("threads", "processes", "vector", "pool")
AT_A_TIME = 2

pytestmark = pytest.mark.soak


def files() -> set[str]:
    return {path.name for path in Path("/dev/shm").iterdir()}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("kind", KINDS)
def test_a_signal_at_any_moment_ends_the_program_with_one_message(kind: str, number: int) -> None:
    before = files()
    command = [sys.executable, "-m", "tests.soak.interrupted", kind, str(int(number)), str(TRIES // AT_A_TIME)]
    running = [
        subprocess.Popen(
            [*command, str(seed)],
            cwd=ROOT, env=os.environ | {"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True,
        )
        for seed in range(AT_A_TIME)
    ]  # fmt: skip
    for process in running:
        said, _ = process.communicate()
        assert (process.returncode, said) == (0, "")
    assert {name for name in files() - before if "reactor" in name} == set()
