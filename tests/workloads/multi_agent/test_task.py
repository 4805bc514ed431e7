"""The parameters of multi_agent, and what they make."""

import re

import numpy as np
import pytest

from workloads.multi_agent.task import Task
from workloads.parameter import ParameterError, build


@pytest.mark.parametrize(("agents", "features"), [(1, 54), (4, 324), (10, 1350), (15, 2700)])
def test_policies_fit_the_joint_observation(agents, features):
    task = Task(agents=agents)
    assert task.features == features
    assert task.make_episodes().observation.shape == (features,)
    network = task.make_policy(0).network
    assert [tuple(weights.shape) for weights in network.parameters()] == [
        (64, features),
        (64,),
        (2, 64),
        (2,),
    ]
    assert task.make_policy(agents - 1).act(task.make_episodes().observation) in (0, 1)


def test_describes_itself():
    task = Task(rounds=7, warmup_rounds=3)
    assert (task.scenario, task.metric, task.unit) == ("TrafficJunction", "throughput", "steps/s")
    assert (task.units_per_round, task.total_rounds, task.agents) == (1, 10, 4)


def test_every_agent_has_its_own_policy_and_a_seed_repeats_them():
    def weights(seed, agent):
        return next(Task(seed=seed).make_policy(agent).network.parameters()).numpy()

    assert np.array_equal(weights(0, 1), weights(0, 1))
    assert not np.array_equal(weights(0, 1), weights(0, 2))
    assert not np.array_equal(weights(0, 1), weights(1, 1))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"agents": 0}, "agents: must be at least 1, got 0"),
        ({"arrival_probability": 1.5}, "arrival_probability: must be at most 1, got 1.5"),
        ({"arrival_probability": -0.5}, "arrival_probability: must be at least 0, got -0.5"),
        ({"episode_steps": 0}, "episode_steps: must be at least 1, got 0"),
        ({"rounds": 0}, "rounds: must be at least 1, got 0"),
        ({"warmup_rounds": -1}, "warmup_rounds: must be at least 0, got -1"),
        ({"seed": -1}, "seed: must be at least 0, got -1"),
        ({"agents": "many"}, "agents: expected an integer, got str 'many'"),
        ({"agent": 4}, "parameter: unknown 'agent'; did you mean agents"),
    ],
)
def test_refuses_what_cannot_be_run(values, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        build(Task, values)
