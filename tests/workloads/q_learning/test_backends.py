"""The loop and the reactors compute the same bits, whatever the parameters. Ray: test_learning_on_ray.py."""

import pytest

from workloads.catalogue import execute

SMALL = {"actors": 3, "steps": 12, "rounds": 6, "warmup_rounds": 2, "minibatch": 20, "capacity": 100}

CASES = {
    "small": {},
    "one worker, one step": {"actors": 1, "steps": 1, "minibatch": 1},
    "the oldest entries": {"minibatch_policy": "oldest"},
    "a buffer that wraps": {"capacity": 50, "minibatch": 40},
    "rounds larger than the buffer": {"capacity": 5, "minibatch": 10},
    "no warm-up": {"warmup_rounds": 0},
    "a target of every round": {"target_rounds": 1},
    "another seed": {"seed": 11},
    "the paper's tensors": {"representation": "tensors"},
}


@pytest.mark.parametrize("values", CASES.values(), ids=CASES.keys())
def test_reactors_compute_what_the_loop_does(values):
    expected = execute("q_learning", "serial", SMALL | values, verify=True)
    outcome = execute("q_learning", "reactor-inline", SMALL | values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest
    assert outcome.rounds == 6
    assert len(outcome.round_ns) == 6


@pytest.mark.parametrize("backend", ["serial", "reactor-inline"])
def test_a_timed_run_ends_in_the_state_of_a_verified_one(backend):
    timed = execute("q_learning", backend, SMALL, verify=False)
    assert timed.digest == ""
    assert timed.state_digest == execute("q_learning", backend, SMALL, verify=True).state_digest


def test_both_representations_compute_the_same():
    digests = {
        execute("q_learning", "serial", SMALL | {"representation": chosen}, verify=True).digest
        for chosen in ("arrays", "tensors")
    }
    assert len(digests) == 1


def test_every_parameter_of_the_computation_shows_in_the_digest():
    changed = (
        {},
        {"seed": 1},
        {"actors": 4},
        {"steps": 11},
        {"minibatch": 21},
        {"minibatch_policy": "oldest"},
    )
    changed += (
        {"capacity": 40},
        {"gamma": 0.5},
        {"epsilon": 0.5},
        {"learning_rate": 0.02},
        {"target_rounds": 3},
    )
    digests = [execute("q_learning", "serial", SMALL | values, verify=True).digest for values in changed]
    assert len(set(digests)) == len(changed)
