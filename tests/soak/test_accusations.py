"""The check of an environment accuses no pure one, whatever its name is and however busy the machine is.

Only in `make soak`: 200 checks of ten environments, some seconds each.
"""

import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager

import gymnasium
import pytest

from reactorlib.gymnasium.isolation import check_isolation
from workloads.catalogue import make_task

TIMES = 10
FILE = """
import gymnasium, numpy
class Tiny(gymnasium.Env):
    observation_space, action_space = gymnasium.spaces.Box(-1, 1, (3,), numpy.float32), gymnasium.spaces.Discrete(2)
    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return numpy.zeros(3, numpy.float32), {}
    def step(self, action):
        self.n += 1
        return self.np_random.random(3, numpy.float32), float(action), self.n >= 50, False, {}
def make_env():
    return Tiny()
"""
REGISTERS = "gymnasium.register('Pure-v0', entry_point=Tiny, max_episode_steps=30)\n"
NAMES = [
    *("CartPole-v1", "Acrobot-v1", "Pendulum-v1", "FrozenLake-v1", "Taxi-v4"),
    *("pure.py:Tiny", "pure.py:make_env", "registers.py:Pure-v0"),
    *("pure_package.envs:Tiny", "gymnasium.envs.classic_control:CartPoleEnv"),
]

pytestmark = pytest.mark.soak


@contextmanager
def busy(processes: int) -> Iterator[None]:
    spawning = multiprocessing.get_context("spawn")
    started = [spawning.Process(target=_spin, daemon=True) for _ in range(processes)]
    for process in started:
        process.start()
    try:
        yield
    finally:
        for process in started:
            process.kill()
            process.join()


def _spin() -> None:
    while True:
        pass


@pytest.mark.parametrize("load", ["idle", "loaded"])
@pytest.mark.parametrize("name", NAMES)
def test_a_pure_environment_is_accused_of_nothing(name, load, tmp_path, monkeypatch):
    package = tmp_path / "pure_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "envs.py").write_text(FILE)
    (tmp_path / "pure.py").write_text(FILE)
    (tmp_path / "registers.py").write_text(FILE + REGISTERS)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    task = make_task("gym_sampling", {"env": name, "actors": 2, "seed": 0})
    with busy(2 * len(os.sched_getaffinity(0)) if load == "loaded" else 0):
        found = [check_isolation(task.make_environment, limit_s=60).findings for _ in range(TIMES)]
    gymnasium.registry.pop("Pure-v0", None)  # which another file registers again
    assert found == [()] * TIMES
