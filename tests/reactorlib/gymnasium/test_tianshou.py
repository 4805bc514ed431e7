"""The vector environment of Tianshou: as its DummyVectorEnv, step by step, and under its Collector."""

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest

pytest.importorskip("tianshou")

from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv
from tianshou.policy import BasePolicy

from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.tianshou_env import ReactorTianshouEnv

OPTIONS: list[dict[str, Any]] = [{"executor": "inline"}, {"workers": 2}, {"workers": 2, "caller_steps": False}]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("probe", ["infos of every kind", "numbers in infos", "Discrete", "images", "Text", "Dict"])
def test_it_is_dummy_vector_env_step_by_step(probe: str, options: dict[str, Any], vector: Any) -> None:
    make = [functools.partial(probes.PROBES[probe], number) for number in range(4)]
    ours, dummy = vector(make, ReactorTianshouEnv, **options), DummyVectorEnv(make)
    assert len(ours) == len(dummy)
    assert [[seed] for seed in range(3, 7)] == ours.seed(3)
    dummy.seed(3)
    assert difference(ours.reset()[0], dummy.reset()[0], "reset") is None
    spaces, draw = dummy.action_space, np.random.default_rng(3)
    ours_drawn, drawn = ([space.sample() for space in one] for one in (ours.action_space, spaces))
    assert difference(ours_drawn, drawn, "actions") is None
    for _ in range(60):
        ids = draw.permutation(4)[: draw.integers(1, 5)].tolist() if draw.random() < 0.5 else None
        actions = np.array([space.sample() for space in spaces])[: 4 if ids is None else len(ids)]
        found, wanted = ours.step(actions, ids), dummy.step(actions, ids)
        for one, other, name in zip(
            found[:4], wanted[:4], ("observation", "reward", "terminated", "truncated"), strict=True
        ):
            assert difference(one, other, name) is None
        assert difference(list(found[4]), list(wanted[4]), "infos") is None
        ended = np.array(ids or range(4))[found[2] | found[3]]
        if len(ended):
            (one, infos), (other, wanted_infos) = ours.reset(ended), dummy.reset(ended)
            assert difference(one, other, "reset") is None
            assert difference(list(infos), list(wanted_infos), "infos of reset") is None
    ours.set_env_attr("number", 7, [2, 0])
    assert ours.get_env_attr("number") == [7, 1, 7, 3]
    assert ours.get_env_attr("number", 1) == [1]
    with pytest.raises(ValueError, match="3 actions for 4 environments"):
        ours.step(np.zeros(3, int))


class Leaning(BasePolicy):
    """Pushes the cart to where the pole leans."""

    def forward(self, batch: Any, state: Any = None, **kwargs: Any) -> Any:
        return Batch(act=(batch.obs[:, 2] > 0).astype(np.int64))

    def learn(self, batch: Any, **kwargs: Any) -> Any:
        raise AssertionError("only collects")


@pytest.mark.parametrize("amount", [{"n_step": 200}, {"n_episode": 7}])
def test_the_collector_collects_the_same(amount: dict[str, int]) -> None:
    def collected(kind: Any) -> Any:
        envs = kind([lambda: gymnasium.make("CartPole-v1") for _ in range(4)])
        envs.seed(1)
        policy = Leaning(action_space=gymnasium.spaces.Discrete(2))
        collector = Collector(policy, envs, VectorReplayBuffer(4000, 4))
        counts = collector.collect(**amount)
        envs.close()
        assert counts["n/ep"] > 3
        return counts, {key: collector.buffer[:][key] for key in ("obs", "act", "rew", "done", "obs_next")}

    one, filled = collected(functools.partial(ReactorTianshouEnv, workers=2))
    other, wanted = collected(DummyVectorEnv)
    assert one["lens"].tolist() == other["lens"].tolist()
    assert difference(filled, wanted, "buffer") is None
