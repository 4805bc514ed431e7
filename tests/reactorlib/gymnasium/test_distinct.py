"""One environment object that serves as several is refused, on every executor."""

import functools
from typing import Any

import gymnasium
import numpy as np
import pytest

from reactorlib.gymnasium import ReactorAgentsVectorEnv, ReactorPool, ReactorVectorEnv
from reactorlib.gymnasium.contract import probes
from tests.reactorlib.gymnasium.environments import WAYS, made
from tests.reactorlib.gymnasium.test_parallel_agents import Leaving

REFUSED: dict[str, Any] = {
    **{name: functools.partial(ReactorVectorEnv, **way) for name, way in WAYS.items()},
    "default": ReactorVectorEnv,
    "spawn": functools.partial(ReactorVectorEnv, workers=4, caller_steps=False, start_method="spawn"),
    "pool": functools.partial(ReactorPool, workers=2),
    "pool of one each": functools.partial(ReactorPool, workers=4),
    "pool of threads": functools.partial(ReactorPool, workers=4, executor="threads"),
    "of four processes": functools.partial(ReactorVectorEnv, workers=4, caller_steps=False),
    "resumable": functools.partial(ReactorVectorEnv, workers=4, resumable=True),
    "isolated": functools.partial(ReactorVectorEnv, isolate="processes"),
}


@pytest.mark.parametrize("kind", REFUSED.values(), ids=REFUSED)
def test_one_environment_for_all_functions_is_refused(kind: Any) -> None:
    env = probes.Quiet(0)
    for make in (lambda: env, lambda: gymnasium.wrappers.TimeLimit(env, 9)):
        with pytest.raises(ValueError, match="same environment object"):
            kind([make] * 4)


@pytest.mark.parametrize("way", [*WAYS.values(), {"workers": 3, "start_method": "spawn"}], ids=str)
def test_an_object_that_serves_as_one_environment_is_not(vector: Any, way: dict[str, Any]) -> None:
    env = probes.Quiet(0)
    for functions in ([lambda: env], [lambda: env, *made("no infos", 2)]):
        ours = vector(functions, **way)
        ours.reset(seed=1)
        ours.step(np.zeros(len(functions), int))


@pytest.mark.parametrize("options", [{"executor": "inline"}, {"workers": 2}])
def test_one_parallel_environment_of_agents_is_refused(options: dict[str, Any]) -> None:
    env = Leaving("Box")
    with pytest.raises(ValueError, match="same environment object"):
        ReactorAgentsVectorEnv([lambda: env] * 2, **options)
