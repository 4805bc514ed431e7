"""Results that arrive in any order make the rounds of the loop where they are verified, and are counted elsewhere."""

import random

import pytest

from workloads.catalogue import execute, make_task
from workloads.gym_sampling.arrivals import Arrivals
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.sampling import Sampler

VALUES = {"env": "CartPole-v1", "actors": 4, "rounds": 30, "warmup_rounds": 2}


@pytest.mark.parametrize("seed", range(5))
def test_verified_rounds_have_the_next_result_of_each_environment(seed):
    task = make_task("gym_sampling", VALUES)
    probe = Probe(task.rounds, task.warmup_rounds, verify=True)
    samplers = [Sampler(task, number) for number in range(task.actors)]
    draw = random.Random(seed)
    arrivals = Arrivals(task, probe)
    while arrivals.goes_on:
        ready = draw.sample(range(task.actors), draw.randint(1, task.actors))
        arrivals.take(ready, [samplers[number].step_message(0) for number in ready])
    expected = execute("gym_sampling", "serial", VALUES, verify=True)
    assert (probe.outcome().digest, probe.outcome().state_digest) == (expected.digest, expected.state_digest)


def test_a_timed_round_is_as_many_results_as_there_are_environments():
    ends = []
    task = make_task("gym_sampling", VALUES | {"rounds": 3, "warmup_rounds": 0})
    probe = Probe(3, 0, verify=False)
    probe.round = lambda: ends.append(taken)
    arrivals, taken = Arrivals(task, probe), 0
    while arrivals.goes_on:
        taken += 3
        arrivals.take([0, 1, 2], ())
    assert ends == [6, 9, 12]


@pytest.mark.parametrize("env", ["CartPole-v1", "busy:10us-300us"])
def test_a_pool_computes_what_the_loop_does(env):
    values = VALUES | {"env": env}
    expected = execute("gym_sampling", "serial", values, verify=True)
    outcome = execute("gym_sampling", "reactor-pool", values, verify=True)
    assert (outcome.digest, outcome.state_digest) == (expected.digest, expected.state_digest)
    assert len(execute("gym_sampling", "reactor-pool", values, verify=False).round_ns) == 30


def test_a_pool_takes_one_step_per_message():
    with pytest.raises(UnsupportedError, match="one step per message"):
        execute("gym_sampling", "reactor-pool", VALUES | {"steps_per_message": 2}, verify=False)
