"""Environments of other packages, each in a vector of ours and in Gymnasium's, and as the check of isolation sees it.

`python tests/reactorlib/gymnasium/third_party.py NAME` prints what was found as JSON. NAME is one of ENVIRONMENTS: an
id with its module, or a function of this file.
"""

import importlib
import json
import sys
from collections.abc import Callable
from copy import deepcopy
from typing import Any, NamedTuple

import gymnasium
import numpy as np
from gymnasium.vector import SyncVectorEnv
from gymnasium.vector.utils import concatenate, create_empty_array

from reactorlib.gymnasium import ReactorVectorEnv, check_isolation
from reactorlib.worker.canonical_form import canonical

ENVS, STEPS, LIMIT_S = 3, 15, 200.0


class Expected(NamedTuple):
    """The culprits that the check names in plays of this length. `fails` is the error of an environment that fails."""

    culprits: tuple[str, ...] = ()
    fails: str | None = None
    steps: int = 10


CLEAN = Expected()
ENVIRONMENTS: dict[str, Expected] = {
    "minigrid:MiniGrid-DoorKey-5x5-v0": CLEAN,
    "minigrid:BabyAI-GoToRedBallGrey-v0": CLEAN,
    "highway_env:parking-v0": CLEAN,
    "gymnasium:Ant-v5": CLEAN,
    "gymnasium:Humanoid-v5": CLEAN,
    "gymnasium:HalfCheetah-v5": CLEAN,
    "gymnasium:Reacher-v5": CLEAN,
    "gymnasium:LunarLander-v3": CLEAN,
    "gymnasium:BipedalWalker-v3": CLEAN,
    "gymnasium:CarRacing-v3": Expected(
        ("threads",), steps=60
    ),  # by chance: of 14 plays of 10 steps, two did not differ
    "gymnasium:Taxi-v4": CLEAN,
    "gymnasium:Acrobot-v1": CLEAN,
    "ale_py:ALE/Pong-v5": CLEAN,
    "flappy_bird_gymnasium:FlappyBird-v0": CLEAN,
    "gym_pusht:gym_pusht/PushT-v0": CLEAN,
    "gymnasium_robotics:PointMaze_UMaze-v3": CLEAN,
    "gymnasium_robotics:AdroitHandDoor-v1": CLEAN,
    "panda_gym:PandaReach-v3": Expected(("entropy",), steps=60),
    "pybullet_envs_gymnasium:ReacherBulletEnv-v0": CLEAN,
    "mo_gymnasium:deep-sea-treasure-v0": CLEAN,
    "weighed": CLEAN,
    "lbforaging:Foraging-8x8-2p-3f-v3": CLEAN,
    "forager": CLEAN,
    "warehouse": CLEAN,
    "tetris_gymnasium.envs.tetris:tetris_gymnasium/Tetris": Expected(("entropy",)),
    "gym_anytrading:stocks-v0": CLEAN,
    "trading": Expected(("numpy.random",)),
    "gym_electric_motor:Finite-SC-PermExDc-v0": CLEAN,
    "vizdoom.gymnasium_wrapper:VizdoomBasic-v1": CLEAN,
    "popgym:popgym-AutoencodeEasy-v0": CLEAN,
    "popgym:popgym-MineSweeperEasy-v0": CLEAN,
    "gymnasium_snake_game:Snake-v1": Expected(("random",)),
    "gym_simplegrid:SimpleGrid-8x8-v0": CLEAN,
    "buffalo_gym:Buffalo-v0": CLEAN,
    "mobile_env:mobile-small-central-v0": Expected(("reset",)),
    "gymnasium_cartpole_swingup:CartPoleSwingUp-v0": CLEAN,
    "gymnasium_2048:gymnasium_2048/TwentyFortyEight-v0": CLEAN,
    "decision_process": Expected(("numpy.random",)),
    "network": CLEAN,
}


class SumOfRewards(gymnasium.Wrapper[Any, Any, Any, Any]):
    """One number, where an environment has a reward for each agent or each objective."""

    def step(self, action: Any) -> Any:
        observation, reward, *ends = self.env.step(action)
        return observation, float(np.sum(reward)), *ends


class PythonActions(gymnasium.ActionWrapper[Any, Any, Any]):
    """Integers of Python, where an environment refuses those of NumPy."""

    def action(self, action: Any) -> int:
        return int(action)


def weighed() -> Any:
    return SumOfRewards(gymnasium.make("mo_gymnasium:minecart-v0"))


def forager() -> Any:
    return SumOfRewards(gymnasium.make("lbforaging:Foraging-8x8-2p-3f-v3", disable_env_checker=True))


def warehouse() -> Any:
    return SumOfRewards(gymnasium.make("rware:rware-tiny-2ag-v2", disable_env_checker=True))


def trading() -> Any:
    """Its prices are a table of pandas."""
    import pandas as pd

    close = 100 + np.sin(np.arange(200) / 9)
    columns = {"open": close, "high": close + 1, "low": close - 1, "close": close, "feature_close": np.gradient(close)}
    prices = pd.DataFrame(columns, index=pd.date_range("2020-01-01", periods=200, freq="h"))
    return gymnasium.make("gym_trading_env:TradingEnv", df=prices, positions=[-1, 0, 1], verbose=0)


def decision_process() -> Any:
    moves = np.zeros((3, 3, 2))
    moves[1, 0, :] = moves[2, 1, 0] = moves[0, 1, 1] = 1
    start = np.array([0.5, 0.5, 0])
    return gymnasium.make("matrix_mdp:matrix_mdp/MatrixMDP-v0", p_0=start, p=moves, r=np.ones((3, 3, 2)))


def network() -> Any:
    return PythonActions(gymnasium.make("nasim:Tiny-v0"))


def maker(name: str) -> Callable[[], Any]:
    place, colon, what = name.rpartition(":")
    if not colon:
        return globals()[name]  # type: ignore[no-any-return]
    importlib.import_module(place)
    return lambda: gymnasium.make(what)


def trajectory(make_vector: Callable[[], Any]) -> list[str]:
    """A form of each result. An error is one, and the last."""
    found = []
    try:
        envs = make_vector()
        try:
            space = deepcopy(envs.single_action_space)  # a reset may seed the one that it shares with its environment
            space.seed(7)
            found.append(form(envs.reset(seed=5)))
            for _ in range(STEPS):
                batch = concatenate(space, [space.sample() for _ in range(ENVS)], create_empty_array(space, ENVS))
                found.append(form(envs.step(batch)))
        finally:
            envs.close()
    except Exception as error:  # noqa: BLE001  # of the environment
        found.append(type(error).__name__)
    return found


def form(result: Any) -> str:
    try:
        return canonical(result[:-1]).hex()
    except Exception:  # noqa: BLE001  # what cannot be pickled is compared by its text
        return repr(result[:-1])


def compared(name: str) -> dict[str, Any]:
    """The vectors that differ from Gymnasium's, the error of Gymnasium's, and what the check of isolation said."""
    make = maker(name)
    sync, again = (trajectory(lambda: SyncVectorEnv([make] * ENVS)) for _ in range(2))
    ours = {
        "inline": trajectory(lambda: ReactorVectorEnv([make] * ENVS, executor="inline")),
        "processes": trajectory(lambda: ReactorVectorEnv([make] * ENVS, workers=2)),
    }
    found = {
        "sync_differs": sync != again,
        "different": [way for way in ours if ours[way] != sync],
        "error": None if len(sync) == STEPS + 1 else sync[-1],
        "ends": {way: one[-1][:99] for way, one in {"sync": sync, **ours}.items()},
    }
    target = name if ":" in name else f"{__file__}:{name}"
    try:
        report = check_isolation(target, steps=ENVIRONMENTS[name].steps, limit_s=LIMIT_S)
    except RuntimeError as error:
        return {**found, "fails": str(error), "report": str(error)}
    return {**found, **report.as_json(), "culprits": report.culprits, "report": str(report)}


if __name__ == "__main__":
    print(json.dumps(compared(sys.argv[1])))
