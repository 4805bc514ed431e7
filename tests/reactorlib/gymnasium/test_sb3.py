"""The VecEnv of Stable-Baselines3: as its DummyVecEnv, step by step."""

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.evaluation import evaluate_policy
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv, VecNormalize

from reactorlib.gymnasium import evaluate
from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.sb3 import ReactorVecEnv
from reactorlib.gymnasium.seeding import seeds_of


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 2}, {"workers": 2, "caller_steps": False}])
@pytest.mark.parametrize("probe", ["infos of every kind", "numbers in infos", "Discrete", "MultiBinary", "images"])
def test_it_is_dummy_vec_env_step_by_step(probe: str, options: dict[str, Any]) -> None:
    make = [functools.partial(probes.PROBES[probe], number) for number in range(4)]
    ours, dummy = ReactorVecEnv(make, **options), DummyVecEnv(make)
    for env in (ours, dummy):
        env.seed(3)
    assert difference(ours.reset(), dummy.reset(), "reset") is None
    assert difference(ours.reset_infos, dummy.reset_infos, "infos of reset") is None
    dummy.action_space.seed(3)
    for _ in range(40):
        actions = np.array([dummy.action_space.sample() for _ in range(4)])
        assert difference(ours.step(actions), dummy.step(actions), "step") is None
        assert difference(ours.reset_infos, dummy.reset_infos, "infos of reset") is None
    for indices in (None, 1, [3, 0]):
        assert ours.get_attr("count", indices) == dummy.get_attr("count", indices)
        for env in (ours, dummy):
            env.set_attr("number", 7, indices)
        assert ours.get_attr("number") == dummy.get_attr("number")
        both = [env.env_method("has_wrapper_attr", "count", indices=indices) for env in (ours, dummy)]
        assert both[0] == both[1]
        assert ours.env_is_wrapped(Monitor, indices) == dummy.env_is_wrapped(Monitor, indices)
    ours.close()


def test_training_takes_the_same_course() -> None:
    def trained(vec_env_cls: Any) -> list[Any]:
        env = VecNormalize(make_vec_env("CartPole-v1", 4, seed=1, vec_env_cls=vec_env_cls))
        model = PPO("MlpPolicy", env, n_steps=32, n_epochs=1, seed=1, device="cpu")
        model.learn(256)
        env.close()
        return [parameter.detach().numpy() for parameter in model.policy.parameters()]

    for one, other in zip(trained(ReactorVecEnv), trained(DummyVecEnv), strict=True):
        np.testing.assert_array_equal(one, other)


def test_images_and_spec() -> None:
    env = make_vec_env("CartPole-v1", 2, vec_env_cls=ReactorVecEnv, env_kwargs={"render_mode": None})
    assert env.num_envs == 2
    assert env.get_attr("spec")[0].id == "CartPole-v1"
    assert isinstance(env.observation_space, gymnasium.spaces.Box)
    env.close()


class Old(gymnasium.Env[Any, Any]):
    """As some that are written for Stable-Baselines3: no options, and one array of infos that is written to."""

    observation_space = gymnasium.spaces.Box(-1, 1, (2,))
    action_space = gymnasium.spaces.Discrete(2)

    def __init__(self) -> None:
        self.place = np.zeros(1)

    def reset(self, seed: Any = None) -> Any:  # type: ignore[override]
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.place += 1
        return np.zeros(2, np.float32), 0.0, False, False, {"place": self.place}


def test_the_rule_of_seeds_is_kept() -> None:
    ours = ReactorVecEnv([Old] * 3, seeds="spawn", executor="inline")
    assert ours.seed(7) == seeds_of(7, 3, "spawn")
    ours.close()


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 2}, {"isolate": "generators"},
                                     {"resumable": True}])  # fmt: skip
def test_what_dummy_vec_env_takes_is_taken(options: dict[str, Any]) -> None:
    ours, dummy = ReactorVecEnv([Old] * 3, **options), DummyVecEnv([Old] * 3)
    for env in (ours, dummy):
        env.reset()
        kept = env.step(np.zeros(3, int))[3]
        env.step(np.zeros(3, int))
        assert [info["place"].tolist() for info in kept] == [[1.0]] * 3
        env.set_attr("number", 5, indices=-1)
        assert env.get_attr("number", indices=-1) == [5]
        assert env.env_method("has_wrapper_attr", "number") == [False, False, True]
        with pytest.raises(IndexError):
            env.get_attr("number", indices=3)
    ours.close()


def test_two_runs_with_neighbouring_seeds_share_streams_as_the_command_says() -> None:
    one, other = (make_vec_env("CartPole-v1", 8, seed=seed).seed(seed) for seed in (0, 1))
    assert len({*one} & {*other}) == 7


@pytest.mark.parametrize("kind", ["PPO", "DQN"])
def test_the_rows_of_a_policy_do_not_depend_on_the_number_of_environments(kind: str) -> None:
    import stable_baselines3

    model = getattr(stable_baselines3, kind)("MlpPolicy", "CartPole-v1", seed=1, device="cpu")

    def policy(observations: Any) -> Any:
        return model.predict(observations, deterministic=True)[0]

    one = evaluate("CartPole-v1", policy, 12, envs=1, policy_batch=1)
    assert one.errors == 0
    assert evaluate("CartPole-v1", policy, 12, envs=5, workers=2, policy_batch=1) == one


def test_the_first_row_is_what_evaluate_policy_returns() -> None:
    model = PPO("MlpPolicy", "CartPole-v1", seed=1, device="cpu")
    env = make_vec_env("CartPole-v1", 1, seed=3)
    theirs = evaluate_policy(model, env, 1, return_episode_rewards=True)
    ours = evaluate("CartPole-v1", lambda seen: model.predict(seen, deterministic=True)[0], seeds=[3], envs=1)
    assert ([ours.rows[0].episode_return], [ours.rows[0].length]) == theirs
