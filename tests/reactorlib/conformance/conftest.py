"""How conformance tests run their programs: each on the compiled path and on the fallback, and on any executor.

REACTORLIB_TEST_EXECUTORS, such as "inline,threads:2,processes:3:scattered", says on which executors; the default is
inline.
"""

from __future__ import annotations

import inspect
import os
from typing import Any

import pytest

from reactorlib import run
from tests.reactorlib.observing import Execute
from tests.reactorlib.reference.comparison import Executor

RUN_OPTIONS = inspect.signature(run).parameters
EXECUTORS = [Executor.parse(text) for text in os.environ.get("REACTORLIB_TEST_EXECUTORS", "inline").split(",")]


@pytest.fixture(params=["compiled", "fallback"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Whether tags run as generated source or by the fallback that needs no source."""
    if request.param == "fallback":
        monkeypatch.setenv("REACTORLIB_FORCE_FALLBACK", "1")
    else:
        monkeypatch.delenv("REACTORLIB_FORCE_FALLBACK", raising=False)
    chosen: str = request.param
    return chosen


@pytest.fixture(params=EXECUTORS, ids=str)
def execute(request: pytest.FixtureRequest, path: str) -> Execute:
    """`run` with a trace, in fast time and on the executor of the day, unless told otherwise."""

    def execute(main: Any, **options: Any) -> Any:
        parameters = {name: value for name, value in options.items() if name not in RUN_OPTIONS}
        executor = request.param.options(main, **parameters)
        return run(main, **{"fast": True, "trace": True, **executor, **options})

    return execute
