"""The answer of a tracing process: a prediction from the reactions of the measured rounds."""

import dataclasses
import math

import pytest

from harness.prediction import WORKERS
from harness.store.scaling_table import PREDICTIONS
from harness.studies.scaling import tracing
from harness.studies.traced_rounds import shortened, traced
from workloads import catalogue
from workloads.parameter import UnsupportedError

POINTS = {
    "gym_sampling": {"actors": 3, "rounds": 20, "warmup_rounds": 2},
    "atari_sampling": {"actors": 2, "rounds": 5, "warmup_rounds": 2},
    "broadcast_gather": {"actors": 2, "object_bytes": 10_000, "work_seconds": 0.0, "rounds": 5, "warmup_rounds": 1},
    "q_learning": {"actors": 2, "rounds": 2, "warmup_rounds": 1, "steps": 10},
    "multi_agent": {"agents": 2, "rounds": 5, "warmup_rounds": 1},
    "ppo": {"actors": 2, "steps": 5, "rounds": 2, "warmup_rounds": 1},
    "overhead": {"shape": "fan_out", "actors": 2, "messages_per_round": 5, "rounds": 5, "warmup_rounds": 1},
}
COST = {"send_ns": 3000.0, "receive_ns": 4000.0, "latency_ns": 2000.0, "byte_ns": 0.2}


@pytest.mark.parametrize(("measured", "cost_ns"), [(5.0, 0.0), (1.0, 1000.0), (1e-9, math.inf)])
def test_a_cost_that_explains_no_speed_up_is_none(measured, cost_ns):
    assert tracing.cost_behind(lambda ns: 2.0 / (1.0 + ns / 1000.0), measured) == pytest.approx(cost_ns, rel=1e-3)


@pytest.mark.parametrize("workload", catalogue.WORKLOADS)
def test_every_workload_can_be_predicted(workload):
    parameters = dataclasses.asdict(catalogue.make_task(workload, POINTS[workload]))
    found = tracing.predicted(workload, parameters, COST, [1, 3], 2)
    free, paid, here = (found[kind] for kind in PREDICTIONS)
    assert list(free) == list(paid) == [str(count) for count in WORKERS]
    assert list(here) == ["1", "3"]
    assert free["1"] == paid["1"] == here["1"] == 1.0
    assert all(1 - 1e-9 <= value <= int(count) + 1e-9 for count, value in free.items())
    assert all(0 < paid[count] < free[count] for count in free if count != "1")


def test_what_is_traced_is_all_that_ran_and_leaves_the_workload_as_it_was():
    module = catalogue.load("broadcast_gather", "reactor-inline")
    before = module.run_reactors
    task = catalogue.make_task("broadcast_gather", POINTS["broadcast_gather"])
    rounds = traced("broadcast_gather", "reactor-inline", task)
    assert module.run_reactors is before
    began_ns, *_, ended_ns = rounds.probe.marks
    within = [span for span in rounds.spans if began_ns <= span.began_ns < ended_ns]
    ran = [rounds.program.reactions[span.reaction].path for span in within]
    assert len(ran) == task.rounds * (task.actors + 2)
    assert set(ran) == {
        "BroadcastGather.hub.gather",
        "BroadcastGather.parts[0].make",
        *(f"BroadcastGather.clients[{index}].work" for index in range(task.actors)),
    }


def test_values_that_a_trace_cannot_keep_are_refused():
    task = catalogue.make_task("broadcast_gather", {**POINTS["broadcast_gather"], "object_bytes": 2**29})
    with pytest.raises(UnsupportedError, match="too large"):
        traced("broadcast_gather", "reactor-inline", task)


@pytest.mark.parametrize(
    ("parameters", "rounds", "warmup_rounds"),
    [
        ({"actors": 4, "rounds": 10_000, "warmup_rounds": 100}, 50, 10),
        ({"actors": 4, "rounds": 3, "warmup_rounds": 1}, 3, 1),
        ({"actors": 100, "rounds": 10_000, "warmup_rounds": 3}, 2, 2),
        ({"actors": 16, "messages_per_round": 1_000, "rounds": 50, "warmup_rounds": 3}, 2, 2),
        ({"agents": 4, "rounds": 10, "warmup_rounds": 0}, 10, 0),
        ({"actors": 4, "object_bytes": 2**24, "rounds": 40, "warmup_rounds": 9}, 8, 2),
    ],
)
def test_rounds_are_as_many_as_can_be_recorded(parameters, rounds, warmup_rounds):
    assert shortened(parameters, 200) == {**parameters, "rounds": rounds, "warmup_rounds": warmup_rounds}
