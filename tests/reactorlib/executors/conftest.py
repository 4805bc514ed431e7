"""Fixtures: the two parallel executors, and a clock that says how long a run took to end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

# How long a run may take to end once something went wrong: a second by the clock of a quiet machine. Tests share
# theirs with others.
PATIENCE_S = float(os.environ.get("REACTORLIB_TEST_PATIENCE", "20" if "PYTEST_XDIST_WORKER" in os.environ else "5"))


@pytest.fixture(params=["threads", "processes"])
def executor(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def log(tmp_path: Path) -> str:
    """A file to which all workers append."""
    return str(tmp_path / "log")


@pytest.fixture
def soon() -> Callable[[], AbstractContextManager[None]]:
    """`with soon():` fails if what it holds takes too long."""

    @contextmanager
    def within() -> Iterator[None]:
        began = time.monotonic()
        yield
        assert time.monotonic() - began < PATIENCE_S

    return within
