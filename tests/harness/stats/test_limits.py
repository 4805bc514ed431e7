"""The limit of a point: how many times as fast as the loop n equal parts on w cores can be."""

import json

import pytest

from harness.stats.limits import ideal_gain, limit


@pytest.mark.parametrize(
    ("parts", "cores", "gain"), [(15, 2, 15 / 8), (16, 2, 2), (1, 8, 1), (3, 8, 3), (8, 8, 8), (9, 8, 4.5), (7, 1, 1)]
)
def test_the_core_with_the_most_parts_decides(parts, cores, gain):
    assert ideal_gain(parts, cores) == gain


def of(workload, serial, parameters=(), *, higher=True, cores=2):
    return limit(workload, json.dumps(dict(parameters)), {"serial": {0: serial}}, higher, cores)


def test_a_time_is_divided_and_a_rate_multiplied():
    assert of("q_learning", 60.0, {"actors": 3}) == {0: 90.0}
    assert of("q_learning", 60.0, {"actors": 3}, higher=False) == {0: 40.0}


@pytest.mark.parametrize(("shape", "gain"), [("thread_ring", 1), ("chain", 1), ("ping_pong", 1), ("fan_out", 2)])
def test_what_is_done_one_after_the_other_gains_nothing(shape, gain):
    assert of("overhead", 10.0, {"shape": shape}) == {0: 10.0 * gain}


def test_where_it_can_only_be_measured_nothing_is_computed():
    assert of("broadcast_gather", 10.0) == {}


@pytest.mark.parametrize(
    ("workload", "parameters", "cores"),
    [("gym_sampling", {}, None), ("unheard_of", {}, 2), ("gym_sampling", {"gone": 1}, 2)],
)
def test_what_is_not_known_is_not_guessed(workload, parameters, cores):
    assert of(workload, 10.0, parameters, cores=cores) == {}


@pytest.mark.parametrize(
    ("measured", "taken"),
    [
        ({"lockstep": {0: 15.0}}, {0: 15.0}),
        ({"lockstep": {0: 8.0}}, {0: 10.0}),  # loops that wait for each other are slower than one
        ({"lockstep": {}}, {0: 20.0}),  # it failed, or cannot run here
        ({"limit": {0: 30.0}}, {0: 30.0}),
    ],
)
def test_what_was_measured_stands_where_the_computed_one_would(measured, taken):
    trials = {"serial": {0: 10.0}, "reactor-inline": {0: 99.0}, **measured}
    assert limit("gym_sampling", json.dumps({"actors": 2}), trials, True, 2) == taken
