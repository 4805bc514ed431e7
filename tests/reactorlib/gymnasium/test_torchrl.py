"""TorchRL's GymWrapper takes our vector environment as Gymnasium's own, without an adapter."""

from typing import Any

import gymnasium
import pytest

pytest.importorskip("torchrl")

import torch
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torchrl.envs import GymWrapper

from reactorlib.gymnasium import ReactorVectorEnv


def wrapped(kind: Any, vector: Any, **options: Any) -> Any:
    functions = [lambda: gymnasium.make("CartPole-v1", max_episode_steps=30)] * 4
    env = GymWrapper(vector(functions, kind, autoreset_mode=AutoresetMode.DISABLED, **options))
    env.set_seed(1)
    return env


def leaning(observation: Any) -> Any:
    """Push the cart to where the pole leans, or the first two away from it."""
    right = (observation[:, 2] > 0) ^ (torch.arange(4) < 2)
    return torch.nn.functional.one_hot(right.long(), 2)


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 2}, {"workers": 2, "caller_steps": False}])
def test_a_rollout_with_resets_is_that_of_sync_vector_env(options: dict[str, Any], vector: Any) -> None:
    one, other = (
        wrapped(kind, vector, **some).rollout(100, leaning, break_when_any_done=False)
        for kind, some in [(ReactorVectorEnv, options), (SyncVectorEnv, {})]
    )
    assert one.batch_size == (4, 100)
    assert one["next", "terminated"].any()
    assert one["next", "truncated"].any()
    assert (one == other).all()
