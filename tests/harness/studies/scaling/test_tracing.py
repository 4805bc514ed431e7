"""What a process answers: a prediction from the reactions of the measured rounds."""

import dataclasses

import pytest

from harness.store.scaling_table import PREDICTED, PREDICTIONS
from harness.studies.breakdown.spans import MarkingProbe
from harness.studies.scaling import tracing
from reactorlib.view.scaling import WORKERS
from workloads import catalogue

POINTS = {
    "gym_sampling": {"actors": 3, "rounds": 20, "warmup_rounds": 2},
    "atari_sampling": {"actors": 2, "rounds": 5, "warmup_rounds": 2},
    "broadcast_gather": {"actors": 2, "object_bytes": 10_000, "work_seconds": 0.0, "rounds": 5, "warmup_rounds": 1},
    "q_learning": {"actors": 2, "rounds": 2, "warmup_rounds": 1, "steps": 10},
    "multi_agent": {"agents": 2, "rounds": 5, "warmup_rounds": 1},
    "ppo": {"actors": 2, "steps": 5, "rounds": 2, "warmup_rounds": 1},
    "overhead": {"shape": "fan_out", "actors": 2, "messages_per_round": 5, "rounds": 5, "warmup_rounds": 1},
}


def full(workload, parameters):
    return dataclasses.asdict(catalogue.make_task(workload, parameters))


COST = {"send_ns": 3000.0, "receive_ns": 4000.0, "latency_ns": 2000.0, "byte_ns": 0.2}


@pytest.mark.parametrize("workload", catalogue.WORKLOADS)
def test_every_workload_can_be_predicted(workload):
    parameters = full(workload, POINTS[workload])
    found = tracing.predicted(workload, parameters, COST, [1, 3], 2)
    free, paid, here = (found["speed_up"][kind] for kind in PREDICTIONS)
    assert list(free) == list(paid) == [str(count) for count in WORKERS]
    assert list(here) == ["1", "3"]
    assert free["1"] == paid["1"] == here["1"] == 1.0
    assert 0 < found["span_ns"] <= found["work_ns"]
    assert all(1 - 1e-9 <= value <= found["work_ns"] / found["span_ns"] + 1e-9 for value in free.values())
    assert all(0 < paid[count] < free[count] for count in free if count != "1")


def test_where_the_cost_of_a_message_is_not_known_it_is_not_paid():
    found = tracing.predicted("gym_sampling", full("gym_sampling", POINTS["gym_sampling"]), None, [1, 3], 2)
    assert list(found["speed_up"]) == [PREDICTED]


def test_what_is_traced_keeps_sizes_of_values_and_is_of_the_measured_rounds():
    task = catalogue.make_task("broadcast_gather", POINTS["broadcast_gather"])
    probe = MarkingProbe(task)
    module = catalogue.load("broadcast_gather", "reactor-inline")
    with tracing._traced(module) as found:
        module.run(task, probe, executor="inline")
    ((program, traced),) = found
    within = list(tracing._within(traced, *probe.measured))
    ran = [(program.reactions[span.reaction].path, written) for span, written in within]
    assert len(ran) == task.rounds * (task.actors + 1)
    assert {path for path, _ in ran} == {
        "BroadcastGather.hub.gather",
        *(f"BroadcastGather.clients[{index}].work" for index in range(task.actors)),
    }
    sizes = {size for _, written in ran for _, size in written}
    assert all(task.object_bytes < size < task.object_bytes + 1000 for size in sizes)


def test_the_workload_is_left_as_it_was():
    module = catalogue.load("gym_sampling", "reactor-inline")
    before = module.run_reactors
    with tracing._traced(module):
        assert module.run_reactors is not before
    assert module.run_reactors is before


@pytest.mark.parametrize(
    ("parameters", "rounds", "warmup_rounds"),
    [
        ({"actors": 4, "rounds": 100_000, "warmup_rounds": 100}, 5_000, 100),
        ({"actors": 4, "rounds": 3, "warmup_rounds": 1}, 3, 1),
        ({"actors": 16, "messages_per_round": 100_000, "rounds": 50, "warmup_rounds": 3}, 2, 2),
        ({"agents": 4, "rounds": 10, "warmup_rounds": 0}, 10, 0),
    ],
)
def test_rounds_are_as_many_as_can_be_traced(parameters, rounds, warmup_rounds):
    assert tracing.fitting(parameters) == {**parameters, "rounds": rounds, "warmup_rounds": warmup_rounds}
