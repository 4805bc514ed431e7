"""Which subjects a block has, and how they live beside each other."""

from types import SimpleNamespace

import pytest

from harness.measure import runner
from harness.plan.grid import Trial
from tests.harness import runs


@pytest.mark.parametrize(
    ("object_bytes", "backend", "pinned"),
    [
        (10 * 2**20, "serial", True),
        (10 * 2**20, "reactor-processes", True),
        (10 * 2**20, "ray-tuned", False),
        (500 * 10**6, "serial", False),
        (500 * 10**6, "reactor-processes", False),
        (500 * 10**6, "ray-tuned", False),
    ],
)
def test_backends_whose_arrays_take_much_of_the_memory_need_not_live_together(
    object_bytes, backend, pinned, monkeypatch
):
    monkeypatch.setattr(runner.psutil, "virtual_memory", lambda: SimpleNamespace(total=24 * 2**30))
    values = {"actors": 16, "object_bytes": object_bytes}
    (point,) = runs.grid(trials=1, points=[("broadcast_gather", values)]).points
    assert runner._subject(Trial(point, backend, 0)).pinned == pinned
