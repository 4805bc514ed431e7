"""Sampling: seeds, resets, several steps per message, and environments that do not exist."""

import gymnasium
import numpy as np
import pytest

from workloads.gym_sampling.task import Task
from workloads.parameter import ParameterError
from workloads.sampling import Sampler


def test_a_sampler_takes_the_steps_of_its_seeded_environment():
    environment = gymnasium.make("CartPole-v1")
    environment.reset(seed=12)
    environment.action_space.seed(12)
    sampler = Sampler(Task(seed=10), 2)
    ends = 0
    for step in range(100):
        observation, reward, terminated, truncated, _ = environment.step(environment.action_space.sample())
        if terminated or truncated:
            environment.reset()
            ends += 1
        sampled = sampler.step_message(step)
        assert np.array_equal(sampled[0], observation)
        assert sampled[1:] == (reward, terminated, truncated)
    assert ends > 1


def test_several_steps_per_message_are_the_same_steps():
    singly, together = Sampler(Task(), 0), Sampler(Task(steps_per_message=5), 0)
    for message in range(4):
        results = together.step_message(5 * message)
        assert isinstance(results, tuple)
        for result in results:
            expected = singly.step_message(0)
            assert np.array_equal(result[0], expected[0])
            assert result[1:] == expected[1:]


def test_a_round_yields_steps_of_all_environments():
    task = Task(actors=3, steps_per_message=10, warmup_rounds=5, rounds=7)
    assert task.units_per_round == 30
    assert task.total_rounds == 12
    assert task.scenario == "CartPole-v1"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("CartPole", "CartPole-v1"), ("cartpole-v1", "CartPole-v1"), ("Pendulum-v9", "Pendulum-v1")],
)
def test_an_unknown_environment_is_refused_with_the_nearest_names(name, nearest):
    with pytest.raises(ParameterError, match=f"^env: unknown '{name}'; did you mean .*{nearest}") as refusal:
        Task(env=name)
    assert "\n" not in str(refusal.value)


def test_an_environment_whose_package_is_missing_says_what_to_install(monkeypatch):
    def make(_):
        raise gymnasium.error.DependencyNotInstalled("Box2D is not installed, run `pip install box2d`\nmore")

    monkeypatch.setattr(gymnasium, "make", make)
    with pytest.raises(ParameterError) as refusal:
        Sampler(Task(), 0)
    assert str(refusal.value) == ("env: CartPole-v1 cannot be made: Box2D is not installed, run `pip install box2d`")
