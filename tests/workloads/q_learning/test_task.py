"""The parameters of q_learning, and what they make."""

import re

import pytest

from workloads.parameter import ParameterError, build
from workloads.q_learning.task import Task


def test_the_defaults_are_the_papers():
    task = Task()
    assert (task.actors, task.steps, task.capacity, task.rounds) == (16, 100, 20_000, 1_000)
    assert (task.learning_rate, task.gamma, task.epsilon, task.target_rounds) == (0.01, 0.99, 0.1, 10)
    assert [tuple(weights.shape) for weights in task.make_learner().network.parameters()] == [
        (32, 3),
        (32,),
        (2, 32),
        (2,),
    ]


def test_describes_itself():
    task = Task(actors=4, steps=10, rounds=7, warmup_rounds=3)
    assert (task.scenario, task.metric, task.unit) == ("Blackjack-v1", "throughput", "steps/s")
    assert task.units_per_round == 40
    assert task.total_rounds == 10


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"actors": 0}, "actors: must be at least 1, got 0"),
        ({"steps": 0}, "steps: must be at least 1, got 0"),
        ({"minibatch": -1}, "minibatch: must be at least 1, got -1"),
        ({"capacity": 0}, "capacity: must be at least 1, got 0"),
        ({"target_rounds": 0}, "target_rounds: must be at least 1, got 0"),
        ({"epsilon": 1.5}, "epsilon: must be at most 1, got 1.5"),
        ({"gamma": -0.1}, "gamma: must be at least 0, got -0.1"),
        ({"rounds": 0}, "rounds: must be at least 1, got 0"),
        ({"seed": -1}, "seed: must be at least 0, got -1"),
        ({"minibatch_policy": "newest"}, "minibatch_policy: unknown 'newest'"),
        ({"step": 10}, "parameter: unknown 'step'; did you mean steps"),
    ],
)
def test_refuses_what_cannot_be_run(values, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        build(Task, values)


def test_one_seed_gives_every_part_its_own_random_numbers():
    task = Task(actors=3, seed=5)
    weights = [task.make_rollout_worker(index).network[0].weight.tolist() for index in range(3)]
    weights.append(task.make_learner().network[0].weight.tolist())
    assert all(first != second for index, first in enumerate(weights) for second in weights[:index])
    assert task.make_learner().parameters().tolist() == Task(actors=3, seed=5).make_learner().parameters().tolist()
    assert task.make_learner().parameters().tolist() != Task(actors=3, seed=6).make_learner().parameters().tolist()
