"""How conformance tests run their programs: on one worker, every schedule compiled or none, and on several workers.

REACTORLIB_TEST_EXECUTORS, such as "inline,threads:2,processes:3:scattered", says on which executors.
"""

import inspect
import os
from collections.abc import Callable
from typing import Any

import pytest

from reactorlib import Session, run
from tests.reactorlib.observing import Execute
from tests.reactorlib.reference.comparison import Executor

RUN_OPTIONS = inspect.signature(run).parameters
SESSION_OPTIONS = inspect.signature(Session).parameters
EXECUTORS = os.environ.get("REACTORLIB_TEST_EXECUTORS", "inline,threads:3:scattered,processes:2:scattered").split(",")
PATHS = ("compiled", "walked")
WAYS = [  # several workers have one schedule for any set of events where they do not compile each
    pytest.param((Executor.parse(text), path), id=f"{text}-{path}")
    for text in EXECUTORS
    for path in (PATHS[:1] if text.startswith("processes") else PATHS)
]


@pytest.fixture(params=PATHS)
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether every tag runs as generated source, or none."""
    monkeypatch.setenv("REACTORLIB_SCHEDULES", request.param)
    return request.param


@pytest.fixture(params=WAYS)
def chosen(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Executor:
    """Each executor in turn, and of one worker each way to run a tag."""
    executor, path = request.param
    monkeypatch.setenv("REACTORLIB_SCHEDULES", path)
    return executor


@pytest.fixture
def execute(chosen: Executor) -> Execute:
    """`run` with a trace and in fast time, unless told otherwise, in each of several ways."""

    def execute(main: Any, **options: Any) -> Any:
        parameters = {name: value for name, value in options.items() if name not in RUN_OPTIONS}
        executor = chosen.options(main, **parameters)
        return run(main, **{"fast": True, "trace": True, **executor, **options})

    return execute


@pytest.fixture
def opened(chosen: Executor) -> Callable[..., Session]:
    """`Session` with a trace, in each of several ways. On ranks it is a script's: tests/reactorlib/mpi has those."""

    def opened(main: Any, **options: Any) -> Session:
        parameters = {name: value for name, value in options.items() if name not in SESSION_OPTIONS}
        of_executor = chosen.options(main, **parameters)
        if of_executor["executor"] == "mpi":
            pytest.skip("a session on ranks is driven by a script that the other ranks serve")
        return Session(main, **{"trace": True, **of_executor, **options})

    return opened
