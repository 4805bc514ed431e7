"""The loop and the reactors compute the same bits, whatever the parameters. Ray: test_learning_on_ray.py."""

import pytest

from workloads.catalogue import execute

SMALL = {"agents": 3, "rounds": 60, "warmup_rounds": 5, "episode_steps": 20}

CASES = {
    "small": {},
    "one agent": {"agents": 1},
    "four agents": {"agents": 4, "rounds": 250, "episode_steps": 100},
    "ten agents": {"agents": 10},
    "episodes of one step": {"episode_steps": 1},
    "no arrivals": {"arrival_probability": 0.0},
    "no warm-up": {"warmup_rounds": 0},
    "another seed": {"seed": 9},
    "the paper's tensors": {"representation": "tensors"},
    "the paper's arrivals": {"arrivals": "paper", "agents": 6},
    "a busy step": {"step_busy_us": 50.0},
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES.keys())
def test_reactors_compute_what_the_loop_does(values):
    expected = execute("multi_agent", "serial", SMALL | values, verify=True)
    outcome = execute("multi_agent", "reactor-inline", SMALL | values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest
    assert outcome.rounds == len(outcome.round_ns) == (SMALL | values)["rounds"]


@pytest.mark.parametrize("backend", ["serial", "reactor-inline"])
def test_a_timed_run_ends_in_the_state_of_a_verified_one(backend):
    timed = execute("multi_agent", backend, SMALL, verify=False)
    assert timed.digest == ""
    assert timed.state_digest == execute("multi_agent", backend, SMALL, verify=True).state_digest


def test_neither_the_representation_nor_the_time_of_a_step_changes_what_is_computed():
    changed = ({}, {"representation": "tensors"}, {"step_busy_us": 1.0})
    assert len({execute("multi_agent", "serial", SMALL | values, verify=True).digest for values in changed}) == 1


def test_every_parameter_of_the_computation_shows_in_the_digest():
    changed = (
        {},
        {"seed": 1},
        {"agents": 4},
        {"arrival_probability": 0.9},
        {"episode_steps": 19},
        {"rounds": 61},
        {"arrivals": "paper"},
    )
    digests = [execute("multi_agent", "serial", SMALL | values, verify=True).digest for values in changed]
    assert len(set(digests)) == len(changed)
