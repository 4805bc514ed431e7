"""The loop, the reactors and vectors of environments compute the same bits. Ray: test_learning_on_ray.py."""

import pytest

from tests.choice import first
from workloads.catalogue import execute
from workloads.parameter import ParameterError

SMALL = {"actors": 3, "steps": 10, "rounds": 4, "warmup_rounds": 2, "learning_rate": 0.01}
CASES = {
    "small": {},
    "one worker, one step, one minibatch": {"actors": 1, "steps": 1, "minibatches": 1},
    "minibatches of different sizes": {"minibatches": 7},
    "episodes that end": {"steps": 60},
    "an environment that never was": {"env": "busy:10us:2x3", "epochs": 1},
}
BACKENDS = ["reactor-inline", "gymnasium-sync", "reactor-vector", "gymnasium-async"]


@pytest.mark.parametrize(
    "backend", first(3, BACKENDS, "Gymnasium's processes take seconds to start; three are always tried")
)
@pytest.mark.parametrize("values", CASES.values(), ids=CASES.keys())
def test_each_backend_computes_what_the_loop_does(values, backend):
    expected = execute("ppo", "serial", SMALL | values, verify=True)
    outcome = execute("ppo", backend, SMALL | values, verify=True)
    assert outcome.digest == expected.digest
    assert outcome.state_digest == expected.state_digest
    assert outcome.rounds == len(outcome.round_ns) == 4


def test_a_timed_run_ends_in_the_state_of_a_verified_one():
    timed = execute("ppo", "serial", SMALL, verify=False)
    assert timed.digest == ""
    assert timed.state_digest == execute("ppo", "serial", SMALL, verify=True).state_digest


def test_every_parameter_of_the_computation_shows_in_the_digest():
    changed = [{}, {"seed": 1}, {"actors": 4}, {"steps": 11}, {"minibatches": 3}, {"epochs": 3}, {"gamma": 0.5}]
    changed += [{"learning_rate": 0.02}, {"gae_lambda": 0.5}, {"env": "Acrobot-v1"}, {"rounds": 3}]
    digests = [execute("ppo", "serial", SMALL | values, verify=True).digest for values in changed]
    assert len(set(digests)) == len(changed)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"env": "CartPol-v1"}, "env: unknown 'CartPol-v1'; did you mean CartPole-v1"),
        ({"env": "Pendulum-v1"}, "env: PPO here is for Box observations and Discrete actions from 0 on, Pendulum-v1"),
        ({"env": "Blackjack-v1"}, "env: PPO here is for Box observations and Discrete actions from 0 on, Blackjack-v1"),
        ({"minibatches": 31}, "minibatches: at most the 30 steps of a round, got 31"),
    ],
)
@pytest.mark.parametrize("backend", ["serial", "reactor-inline", "reactor-vector"])
def test_what_it_cannot_learn_is_said_in_one_line(values, message, backend):
    with pytest.raises(ParameterError, match=message):
        execute("ppo", backend, SMALL | values, verify=False)
