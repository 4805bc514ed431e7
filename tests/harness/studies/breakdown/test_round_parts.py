"""Rounds of real backends taken apart: everything is recorded that a phase is made of, and it adds up."""

import pytest

from harness.store.phase_table import LAG, LAG_95, LANES, PHASES, PLAIN_ROUND, ROUND, STRAGGLER
from harness.studies.breakdown.round_parts import NAMES, can, measure
from tests.choice import first
from workloads import ray_session
from workloads.catalogue import BACKENDS, WORKLOADS
from workloads.parameter import UnsupportedError

SAMPLING = {"actors": 3, "rounds": 30, "warmup_rounds": 5}
COPYING = {"actors": 2, "object_bytes": 400_000, "work_seconds": 0.005, "rounds": 6, "warmup_rounds": 2}
# Where a round of the default parameters takes long.
SMALL = {"atari_sampling": {"actors": 2}, "broadcast_gather": {"work_seconds": 0.005}, "q_learning": {"steps": 10}}


def measured(workload, backend, parameters):
    found = measure(workload, backend, parameters)
    assert tuple(found) == NAMES
    assert sum(found[phase] for phase in PHASES) == pytest.approx(found[ROUND])
    assert found[PLAIN_ROUND] > 0
    assert 1 / found[LANES] <= found[STRAGGLER] <= 1
    assert 0 <= found[LAG] < 1
    assert 0 <= found[LAG_95] < 1
    return {phase for phase in PHASES if found[phase]}, found


def test_in_one_thread_nobody_waits_and_nothing_is_serialised():
    phases, found = measured("gym_sampling", "reactor-inline", SAMPLING)
    assert phases == {"hub", "submit", "compute"}
    assert (found[LANES], found[STRAGGLER], found[LAG]) == (1, 1.0, 0.0)


@pytest.mark.parametrize("workload", first(2, WORKLOADS, "every workload; two are always tried"))
def test_the_code_of_hub_and_workers_is_found_in_every_workload(workload):
    parameters = {"rounds": 3, "warmup_rounds": 1, **SMALL.get(workload, {})}
    _, found = measured(workload, "reactor-inline", parameters)
    assert found["compute"] > 0 < found["hub"]


def test_threads_wait_for_one_another():
    phases, _ = measured("gym_sampling", "reactor-threads", SAMPLING)
    assert {"hub", "compute", "transfer"} <= phases <= {"hub", "compute", "wait", "transfer"}


def test_what_worker_processes_did_comes_home():
    phases, found = measured("broadcast_gather", "reactor-processes", COPYING)
    assert {"hub", "compute", "transfer"} <= phases
    assert found[LANES] == COPYING["actors"]
    assert found["compute"] >= 0.4 * COPYING["work_seconds"] * 1e9  # on two cores at the same time, or one by one


@pytest.mark.slow(reason="a Ray of its own, with its timeline; `make test` starts Ray otherwise")
def test_of_ray_the_actors_time_is_known_too():
    try:
        phases, found = measured("broadcast_gather", "ray-paper", COPYING)
    finally:
        ray_session.stop()
    assert not ray_session.ADDED
    assert set(PHASES) - {"wait"} <= phases
    assert found[LANES] == COPYING["actors"]
    assert found["compute"] >= 0.4 * COPYING["work_seconds"] * 1e9


def test_an_actor_that_waits_inside_its_task_cannot_be_taken_apart():
    with pytest.raises(UnsupportedError, match=r"waits inside its task"):
        measure("overhead", "ray-tuned", {"shape": "ping_pong"})


def test_only_ray_and_reactors_can_be_taken_apart():
    assert [name for name in BACKENDS if can(name)] == [
        *("reactor-inline", "reactor-threads", "reactor-processes", "ray-paper", "ray-tuned")
    ]
