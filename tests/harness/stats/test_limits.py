"""The limit of a point: how many times as fast as the loop n equal parts on w cores can be."""

import json

import pytest

from harness.stats.limits import ceiling, ideal_gain


@pytest.mark.parametrize(
    ("parts", "cores", "gain"), [(15, 2, 15 / 8), (16, 2, 2), (1, 8, 1), (3, 8, 3), (8, 8, 8), (9, 8, 4.5), (7, 1, 1)]
)
def test_the_core_with_the_most_parts_decides(parts, cores, gain):
    assert ideal_gain(parts, cores) == gain


def of(workload, parameters=(), *, cores=2):
    """How many times as fast as the loop the ceiling is; None where it is unknown."""
    found = ceiling((workload, json.dumps(dict(parameters))), {"serial": {0: 10.0}}, True, cores)
    assert found is None or found[0] == "serial"
    return found and found[1]


@pytest.mark.parametrize(("shape", "gain"), [("thread_ring", 1), ("chain", 1), ("ping_pong", 1), ("fan_out", 2)])
def test_what_is_done_one_after_the_other_gains_nothing(shape, gain):
    assert of("overhead", {"shape": shape}) == gain


def test_of_three_parts_two_are_on_one_of_two_cores():
    assert of("q_learning", {"actors": 3}) == 1.5


@pytest.mark.parametrize(
    ("workload", "parameters", "cores"),
    [("broadcast_gather", {}, 2), ("gym_sampling", {}, None), ("unheard_of", {}, 2), ("gym_sampling", {"gone": 1}, 2)],
)
def test_what_is_not_known_is_not_guessed(workload, parameters, cores):
    assert of(workload, parameters, cores=cores) is None


@pytest.mark.parametrize(
    ("measured", "taken"),
    [
        ({"lockstep": {0: 15.0}}, ("lockstep", 1)),
        ({"lockstep": {0: 8.0}}, ("serial", 1)),  # loops that wait for each other are slower than one
        ({"lockstep": {}}, ("serial", 2)),  # it failed, or cannot run here
        ({"limit": {0: 30.0}}, ("limit", 1)),
    ],
)
def test_what_was_measured_stands_where_the_computed_one_would(measured, taken):
    trials = {"serial": {0: 10.0}, "reactor-inline": {0: 99.0}, **measured}
    assert ceiling(("gym_sampling", json.dumps({"actors": 2})), trials, True, 2) == taken
