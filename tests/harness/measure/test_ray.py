"""With real Ray: nothing of it outlives the harness, however that dies."""

import signal
from pathlib import Path

import psutil
import pytest

from tests.harness.measure.fake_run import LIMIT_S, wait_until
from workloads import shared_memory

pytest.importorskip("ray")


def descendants(pid):
    return psutil.Process(pid).children(recursive=True)


def name(process):
    try:
        return process.name()
    except psutil.Error:
        return ""


def semaphores(raylet):
    return list(shared_memory.DIRECTORY.glob(f"sem.*{raylet}-*"))


@pytest.mark.slow(reason="the harness with a Ray of its own; `make test` sees that a session leaves nothing")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_no_ray_process_and_no_shared_memory_is_left(start, number):
    harness = start(
        "run", "--workload", "gym_sampling", "--backend", "ray-pooled-compiled", "--trials", "1", "--output", "out",
        "--set", "actors=2", "--set", "rounds=1000000",
    )  # fmt: skip
    wait_until(lambda: sum(name(process).startswith("ray::") for process in descendants(harness.pid)) >= 4)
    tree = descendants(harness.pid)
    assert {"raylet", "gcs_server"} <= {name(process) for process in tree}
    worker = tree[1]
    scratch = Path(worker.environ()["RAY_TMPDIR"])
    (raylet,) = [process.pid for process in tree if name(process) == "raylet"]
    wait_until(lambda: semaphores(raylet))
    assert list(scratch.glob("ray-bench-*"))

    harness.send_signal(number)
    harness.communicate(timeout=LIMIT_S)
    wait_until(lambda: not any(process.is_running() for process in tree))
    wait_until(lambda: not scratch.exists())
    assert not semaphores(raylet)
