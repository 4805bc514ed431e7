"""What a process answers: a prediction from the reactions of the measured rounds."""

import dataclasses

import pytest

from harness.breakdown.spans import MarkingProbe
from harness.scaling import measure
from reactorlib.view.scaling import WORKERS
from workloads import catalogue

POINTS = {
    "gym_sampling": {"actors": 3, "rounds": 20, "warmup_rounds": 2},
    "atari_sampling": {"actors": 2, "rounds": 5, "warmup_rounds": 2},
    "broadcast_gather": {"actors": 2, "object_bytes": 10_000, "work_seconds": 0.0, "rounds": 5, "warmup_rounds": 1},
    "q_learning": {"actors": 2, "rounds": 2, "warmup_rounds": 1, "steps": 10},
    "multi_agent": {"agents": 2, "rounds": 5, "warmup_rounds": 1},
    "overhead": {"shape": "fan_out", "actors": 2, "messages_per_round": 5, "rounds": 5, "warmup_rounds": 1},
}


def full(workload, parameters):
    return dataclasses.asdict(catalogue.make_task(workload, parameters))


@pytest.mark.parametrize("workload", catalogue.WORKLOADS)
def test_every_workload_can_be_predicted(workload):
    parameters = full(workload, POINTS[workload])
    found = measure.predicted(workload, parameters)
    assert list(found["speed_up"]) == [str(count) for count in WORKERS]
    assert found["speed_up"]["1"] == 1.0
    assert 0 < found["span_ns"] <= found["work_ns"]
    assert all(1 - 1e-9 <= value <= found["work_ns"] / found["span_ns"] + 1e-9 for value in found["speed_up"].values())


def test_what_is_traced_keeps_no_values_and_is_of_the_measured_rounds():
    task = catalogue.make_task("gym_sampling", POINTS["gym_sampling"])
    probe = MarkingProbe(task)
    module = catalogue.load("gym_sampling", "reactor-inline")
    with measure._traced(module) as found:
        module.run(task, probe, executor="inline")
    ((program, spans),) = found
    within = list(measure._within(spans, *probe.measured))
    assert len(within) == task.rounds * (task.actors + 1)
    assert {program.reactions[span.reaction].path for span in within} == {
        "Sampling.hub.gather",
        *(f"Sampling.clients[{index}].sample" for index in range(task.actors)),
    }


def test_the_workload_is_left_as_it_was():
    module = catalogue.load("gym_sampling", "reactor-inline")
    before = module.run_reactors
    with measure._traced(module):
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
    assert measure.fitting(parameters) == {**parameters, "rounds": rounds, "warmup_rounds": warmup_rounds}
