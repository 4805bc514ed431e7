"""RLlib's environment runner makes our vector environment by its id, and samples what it samples with Gymnasium's."""

from typing import Any

import pytest

pytest.importorskip("ray.rllib", exc_type=ImportError)

from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner

from reactorlib.gymnasium import ReactorVectorEnv
from reactorlib.gymnasium.contract import difference


def sampled(name: str, mode: str) -> tuple[Any, list[Any]]:
    """The vector environment, and what its episodes consist of."""
    config = (
        PPOConfig()
        .environment(name)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=3, gym_env_vectorize_mode=mode)
        .debugging(seed=1)
    )
    runner = SingleAgentEnvRunner(config=config, worker_index=0)
    episodes = [
        (one.get_observations(), one.get_actions(), one.get_rewards(), one.is_terminated, one.is_truncated)
        for _ in range(2)
        for one in runner.sample(num_timesteps=150, random_actions=False)
    ]
    env = runner.env.unwrapped
    runner.stop()
    return env, episodes


def test_an_environment_runner_samples_the_same() -> None:
    ours, found = sampled("reactorlib.gymnasium:reactor/CartPole-v1", "vector_entry_point")
    theirs, wanted = sampled("CartPole-v1", "sync")
    assert isinstance(ours, ReactorVectorEnv)
    assert not isinstance(theirs, ReactorVectorEnv)
    assert len(wanted) > 4
    assert difference(found, wanted, "episodes") is None


def seeds_of_runner(worker: int, seed: int | None) -> list[int]:
    config = (
        PPOConfig()
        .environment("CartPole-v1")
        .env_runners(num_env_runners=0, num_envs_per_env_runner=8)
        .debugging(seed=seed)
    )
    runner = SingleAgentEnvRunner(config=config, worker_index=worker)
    runner.sample(num_timesteps=8, random_actions=True)
    seeds = [int(env.unwrapped.np_random_seed) for env in runner.env.unwrapped.envs]
    runner.stop()
    return seeds


def test_two_runners_share_streams_as_the_command_says() -> None:
    assert seeds_of_runner(1, 0) == list(range(1, 9))
    assert seeds_of_runner(2, 0) == list(range(2, 10))
    assert not {*seeds_of_runner(1, None)} & {*seeds_of_runner(2, None)}
