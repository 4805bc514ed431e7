"""No test leaves a process or a vector environment."""

import functools
import gc
import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    if multiprocessing.active_children():
        gc.collect()  # takes half a second where much is imported, so not without need
    assert multiprocessing.active_children() == []


@pytest.fixture
def vector() -> Iterator[Callable[..., Any]]:
    """Makes vector environments, ReactorVectorEnv unless told otherwise, and closes them after the test."""
    from reactorlib.gymnasium import ReactorVectorEnv  # tests without it also use this file

    made: list[Any] = []

    def vector(functions: Any, kind: Callable[..., Any] = ReactorVectorEnv, **options: Any) -> Any:
        made.append(kind(functions, **options))
        return made[-1]

    yield vector
    for env in made:
        env.close()


@pytest.fixture
def pool(vector: Callable[..., Any]) -> Callable[..., Any]:
    """Makes pools of environments, and closes them after the test."""
    from reactorlib.gymnasium import ReactorPool

    return functools.partial(vector, kind=ReactorPool)
