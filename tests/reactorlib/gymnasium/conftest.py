"""No test leaves a process."""

import gc
import multiprocessing
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    yield
    if multiprocessing.active_children():
        gc.collect()  # takes half a second where much is imported, so not without need
    assert multiprocessing.active_children() == []
