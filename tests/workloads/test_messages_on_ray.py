"""The workloads that only exchange messages compute on Ray actors the bits that the serial loop computes.

In one file, by style: a session of Ray takes long to open, and a process has one at a time.
"""

import pytest

from tests.choice import first
from workloads import ray_session
from workloads.catalogue import execute
from workloads.ray_session import StoreOverflowError

SMALL = {"rounds": 4, "warmup_rounds": 1}
TASKS = {
    "broadcast_gather": ("broadcast_gather", {"actors": 2, "object_bytes": 800_000, "work_seconds": 0.0}),
    "gym_sampling": ("gym_sampling", {"actors": 3, "env": "Blackjack-v1"}),
    "several steps per message": ("gym_sampling", {"actors": 2, "steps_per_message": 10}),
    "atari_sampling": ("atari_sampling", {"actors": 2}),
    "ping_pong": ("overhead", {"shape": "ping_pong", "messages_per_round": 3}),
    "thread_ring": ("overhead", {"shape": "thread_ring", "actors": 3, "messages_per_round": 3}),
    "counting": ("overhead", {"shape": "counting", "messages_per_round": 3}),
    "fan_out": ("overhead", {"shape": "fan_out", "actors": 2, "messages_per_round": 3}),
    "chain": ("overhead", {"shape": "chain", "actors": 2, "messages_per_round": 3}),
    "timers": ("overhead", {"shape": "timers", "actors": 4, "messages_per_round": 6}),
}
# A graph calls all actors, so a value cannot go from one to the next.
IN_GRAPHS = [task for task in TASKS if task not in ("thread_ring", "chain")]
STYLES = {
    "paper": TASKS,
    "pooled": TASKS,
    "wait": ["gym_sampling", "several steps per message"],
    "pooled-compiled": IN_GRAPHS,
}


@pytest.fixture(scope="module", autouse=True)
def _ray():
    yield
    ray_session.stop()


@pytest.mark.parametrize(
    ("style", "task"),
    [
        point
        for style, tasks in STYLES.items()
        for point in first(1, [(style, task) for task in tasks], "every task; one of each style is always tried")
    ],
)
def test_ray_computes_what_the_loop_does(style, task):
    workload, values = TASKS[task]
    expected = execute(workload, "serial", SMALL | values, verify=True)
    outcome = execute(workload, f"ray-{style}", SMALL | values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest


@pytest.mark.slow(reason="a Ray of its own")
def test_a_tuned_run_that_would_go_on_on_disk_fails(monkeypatch):
    ray_session.stop()
    monkeypatch.setattr(ray_session, "_store_bytes", lambda: 100_000_000)
    large = {"actors": 2, "object_bytes": 60_000_000, "work_seconds": 0.0}
    with pytest.raises(StoreOverflowError, match="object store is full"):
        execute("broadcast_gather", "ray-pooled", SMALL | large, verify=False)
    ray_session.stop()
