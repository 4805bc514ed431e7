"""Environments of packages that people train on: `make test-third-party` installs them, and elsewhere they are skipped.

Each is tried in a process of its own. Some packages replace what others need, and a crash ends one test alone.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("panda_gym")

from tests.reactorlib.gymnasium import third_party

PROGRAM = Path(third_party.__file__)
SCREENLESS = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "MUJOCO_GL": "disable", "OMP_NUM_THREADS": "1"}


@pytest.mark.timeout(600)
@pytest.mark.parametrize("name", third_party.ENVIRONMENTS)
def test_it_is_in_our_vectors_as_in_gymnasiums_and_the_check_ends_with_a_verdict(name: str, tmp_path: Path) -> None:
    with TemporaryDirectory() as scratch:  # some leave files there; a socket's path is no longer than that
        done = subprocess.run(
            [sys.executable, "-W", "ignore", PROGRAM, name], cwd=tmp_path, capture_output=True, text=True,
            timeout=500, check=False,
            env={**os.environ, **SCREENLESS, "PYTHONPATH": str(PROGRAM.parents[3]), "TMPDIR": scratch},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    expected = third_party.ENVIRONMENTS[name]
    assert found["sync_differs"] or not found["different"], found["ends"]
    if expected.fails is not None:
        assert expected.fails in found["fails"]
        return
    assert tuple(found["culprits"]) == expected.culprits, found["report"]
    assert found["unchecked"] == []
