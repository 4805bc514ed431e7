"""Environments by their names: registered, of a module or file, made up, or refused."""

import pickle
import subprocess
import sys
import time
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.utils.env_checker import check_env

from reactorlib.gymnasium.isolation import check_isolation
from workloads import environment, made_up
from workloads.all_agents import AllAgents
from workloads.gym_sampling import on_reactors, on_serial
from workloads.gym_sampling.task import Task
from workloads.made_up import Busy
from workloads.multi_agent.traffic_junction import TrafficJunction
from workloads.parameter import ParameterError
from workloads.probe import Probe
from workloads.sampling import Sampler

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = """
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv

gymnasium.register("OfPackage-v0", entry_point=CartPoleEnv, max_episode_steps=7)
"""
FILE = """
import beside
from dataclasses import dataclass
from gymnasium.envs.classic_control import CartPoleEnv
from workloads.multi_agent.traffic_junction import TrafficJunction

@dataclass
class Own:
    number: int

make_env = CartPoleEnv
nothing = 3

def junction():
    return TrafficJunction(4)

def wrong():
    return 3

def in_turns():
    class InTurns:
        def agent_iter(self): ...
    return InTurns()
"""

OF_ITS_CLASS = """
from gymnasium.envs.classic_control import CartPoleEnv
from gymnasium.spaces import Discrete

class OneSpace(CartPoleEnv):
    action_space = Discrete(2)

    def __init__(self):
        super().__init__()
        del self.action_space

class NeedsMore(CartPoleEnv):
    def __init__(self, layout):
        super().__init__()
"""


@pytest.fixture
def there(tmp_path, monkeypatch):
    (tmp_path / "of_a_package.py").write_text(PACKAGE)
    (tmp_path / "beside.py").write_text("")
    (tmp_path / "broken.py").write_text("import nowhere_to_be_found")
    (tmp_path / "own.py").write_text(FILE)
    (tmp_path / "of_its_class.py").write_text(OF_ITS_CLASS)
    (tmp_path / "one.py").write_text("import gymnasium\nclass OnlyOne(gymnasium.Env): ...\nenv = OnlyOne()\n")
    (tmp_path / "ends.py").write_text("raise SystemExit(0)\n")
    (tmp_path / "book.ipynb").touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    gymnasium.registry.pop("OfPackage-v0", None)
    sys.modules.pop("of_a_package", None)


def rounds(task, run, **options):
    probe = Probe(30, 0, verify=True)
    run(task, probe, **options)
    return probe.outcome().digest


@pytest.mark.parametrize(
    "name",
    [
        *(
            "of_a_package:OfPackage-v0",
            "own.py:make_env",
            "own:make_env",
            "own.py:junction",
            "of_its_class.py:OneSpace",
        ),
        *("busy:10us", "busy:1us:3x2", "busy:1us-9us:3x2"),
    ],
)
def test_an_environment_of_ones_own_is_sampled_alike_in_this_and_in_other_processes(there, name):
    task = Task(actors=2, env=name, rounds=30, warmup_rounds=0)
    assert rounds(task, on_serial.run) == rounds(task, on_reactors.run, executor="processes", workers=2)


def test_a_files_name_holds_in_another_directory_and_is_shown_short(there, monkeypatch):
    task = Task(env="own.py:make_env")
    monkeypatch.chdir("/")
    assert task.env == f"{there}/own.py:make_env"
    assert task.scenario == "own.py:make_env"
    assert Sampler(task, 0).step_message(0)[0].shape == (4,)


def test_values_of_a_files_classes_are_pickled_by_a_name_that_other_processes_know(there):
    name = environment.whole("own.py:Own")
    assert environment.known(name)
    (module,) = (one for one in list(sys.modules.values()) if getattr(one, "__file__", "") == str(there / "own.py"))
    other = f"from workloads import environment; environment.known({name!r}); import pickle, sys; "
    other += "print(pickle.load(sys.stdin.buffer).number)"
    done = subprocess.run(
        [sys.executable, "-c", other], input=pickle.dumps(module.Own(5)), capture_output=True, check=True, cwd=ROOT
    )
    assert done.stdout == b"5\n"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("of_a_package:OfPackage-v9", "of_a_package makes no OfPackage-v9; "),
        (
            "nowhere_at_all:X-v0",
            "no module nowhere_at_all; a file is named with its suffix, as in nowhere_at_all.py:MyEnv, and",
        ),
        ("broken.py:make", "broken.py cannot be imported: ModuleNotFoundError: No module named 'nowhere_to_be_found'"),
        ("missing.py:make", "/missing.py"),
        ("onw.py:make_env", "/onw.py; did you mean own.py?"),
        ("own.py:nothing", "own.py makes no nothing, which is of type int; expected an id that it registers"),
        ("one.py:env", "one.py makes no env, which is made already; did you mean OnlyOne?"),
        ("far.py:make_env", "/far.py"),
        ("no/folder/own.py:make_env", "/no/folder"),
        ("book.ipynb:Tiny", "a notebook cannot be imported: save it as a file first, jupyter nbconvert --to script"),
        ("book.py:Tiny", "a notebook cannot be imported: save it as a file first, jupyter nbconvert --to script"),
        ("ends.py:make_env", 'ends.py:1): put what only a script does under if __name__ == "__main__":'),
        ("own.py:Onw", "own.py makes no Onw; did you mean Own?"),
        ("one.py:make_env", "one.py makes no make_env; did you mean OnlyOne?"),
        ("own.py", "own.py is a file; expected an id that it registers, or a function or class that makes"),
        ("busy:2", "expected a time and a shape such as busy:2ms, busy:1ms-4ms or busy:20us:84x84x4, got busy:2"),
        ("busy:2ms-1ms", "a step takes at most 10 s, and its longest time no less than its shortest, got 2ms-1ms"),
        ("own,file.py:make", "has a comma"),
        ("busy:2ms:0", "an observation has 1 to 1,073,741,824 bytes, got 0"),
        ("busy:2ms:9999999x9999999", "an observation has 1 to"),
        ("busy:11s", "a step takes at most 10 s, and its longest time no less than its shortest, got 11s"),
    ],
)
def test_what_is_no_environment_is_refused_in_one_line(there, name, words):
    with pytest.raises(ParameterError) as refusal:
        Task(env=name)
    assert str(refusal.value).startswith("env: ")
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_whose_name_is_not_alike_is_no_hint(there):
    (there / "sibling.py").touch()
    with pytest.raises(ParameterError) as refusal:
        Task(env="missing.py:Tiny")
    assert str(refusal.value) == f"env: no file {there}/missing.py"


def test_an_environment_of_a_file_that_takes_long_to_import_is_not_accused_of_minding_its_thread(there):
    (there / "slow.py").write_text("import time\ntime.sleep(0.1)\nfrom gymnasium.envs.classic_control import *\n")
    found = check_isolation(Task(env="slow.py:CartPoleEnv").make_environment, steps=5, limit_s=110)
    assert (found.findings, found.unchecked) == ((), ())


def test_an_environment_that_a_file_registers_can_be_checked(there):
    (there / "registers.py").write_text(OF_ITS_CLASS + 'import gymnasium\ngymnasium.register("Own-v0", OneSpace)\n')
    try:
        found = check_isolation(Task(env="registers.py:Own-v0").make_environment, steps=5, limit_s=110)
    finally:
        gymnasium.registry.pop("Own-v0", None)
    assert (found.findings, found.unchecked) == ((), ())


@pytest.mark.parametrize("target", ["stdout", "a process", "C"])
def test_what_a_file_prints_when_it_is_imported_goes_to_standard_error(there, capfd, target):
    prints = {"stdout": "print('word')", "a process": "import os; os.system('echo word')",
              "C": "import ctypes; ctypes.CDLL(None).printf(b'word')"}  # fmt: skip
    (there / "prints.py").write_text(f"{prints[target]}\nfrom gymnasium.envs.classic_control import *\n")
    Task(env="prints.py:CartPoleEnv")
    assert [text.strip() for text in capfd.readouterr()] == ["", "word"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("own.py:wrong", "returned int; expected an environment of Gymnasium or PettingZoo"),
        (
            "of_its_class.py:NeedsMore",
            r"needs arguments \(missing a required argument: 'layout'\); write a function without any ",
        ),
        ("own.py:in_turns", "takes turns; expected a parallel one: pettingzoo.utils.aec_to_parallel"),
    ],
)
def test_what_a_function_returns_must_be_an_environment(there, name, words):
    with pytest.raises(ParameterError, match=words):
        Sampler(Task(env=name), 0)


class Old(CartPoleEnv):
    """As environments of Gym were."""

    def step(self, action):
        observation, reward, terminated, truncated, info = super().step(action)
        return observation, reward, terminated or truncated, info

    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)


class OldStep(Old):
    def reset(self, *, seed=None, options=None):
        return CartPoleEnv.reset(self, seed=seed)


class OldReset(Old):
    def reset(self, *, seed=None, options=None):
        return super().reset(seed=seed)[0]


class NoSpace(CartPoleEnv):
    def __init__(self):
        super().__init__()
        del self.action_space


class WrongShape(CartPoleEnv):
    def step(self, action):
        observation, *rest = super().step(action)
        return observation.reshape(4, 1), *rest


class Rewards(CartPoleEnv):
    def __init__(self, reward):
        super().__init__()
        self.reward = reward

    def step(self, action):
        observation, _, *rest = super().step(action)
        return observation, self.reward, *rest


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (OldStep, "env: OldStep.step() returned 4 values; Gymnasium 1 expects observation, reward, terminated, trunc"),
        (OldReset, "env: OldReset.reset(seed=...) returned a ndarray; Gymnasium 1 expects observation, info"),
        (NoSpace, "env: NoSpace has no action_space; expected a gymnasium.spaces.Space"),
        (
            WrongShape,
            "env: WrongShape.step() returned an observation of shape (4, 1); its observation_space has shape (4,",
        ),
        (
            lambda: Rewards(np.ones(1)),
            "env: Rewards.step() returned the reward array([1.]), which is a ndarray of shape (1",
        ),
        (
            lambda: Rewards(None),
            "env: Rewards.step() returned the reward None, which is a NoneType of shape (); expected a",
        ),
    ],
)
def test_what_does_not_do_what_gymnasium_asks_for_is_told_what_that_is(made, words):
    with pytest.raises(ParameterError) as refusal:
        environment.check(made(), 0)
    assert str(refusal.value).startswith(words)


@pytest.mark.parametrize("reward", [1, np.float32(0.5), np.array(0.5), True])
def test_what_does_what_gymnasium_asks_for_passes(reward):
    environment.check(Rewards(reward), 0)


def test_a_made_up_environment_is_one_and_takes_its_time():
    made = Busy(300_000, (8, 8, 3))
    check_env(made, skip_render_check=True)
    made.reset(seed=1)
    began = time.thread_time_ns()
    results = [made.step(1) for _ in range(1_000)]
    assert time.thread_time_ns() - began >= 1_000 * 300_000
    assert [result[3] for result in results] == [False] * 999 + [True]
    assert np.array_equal(results[299][0], np.full((8, 8, 3), 300 % 256, np.uint8))
    assert results[0][1] == 1.0


def test_a_parallel_environment_of_agents_is_one_environment():
    agents, parallel = AllAgents(TrafficJunction(4)), TrafficJunction(4)
    check_env(agents, skip_render_check=True)
    observation, _ = agents.reset(seed=3)
    expected, _ = parallel.reset(seed=3)
    agents.action_space.seed(1)
    for _ in range(60):
        assert observation in agents.observation_space
        assert all(np.array_equal(observation[name], expected[name]) for name in expected)
        action = agents.action_space.sample()
        observation, reward, terminated, truncated, _ = agents.step(action)
        expected, rewards, ended, _, _ = parallel.step({name: action[name] for name in parallel.agents})
        assert reward == pytest.approx(sum(rewards.values()))
        assert (terminated or truncated) == (not parallel.agents)
        if terminated or truncated:
            assert terminated == all(ended.values())
            break


def test_uneven_steps_take_times_that_the_seed_decides(monkeypatch):
    times = []
    monkeypatch.setattr(made_up, "keep_busy", lambda _began, for_ns: times.append(for_ns))
    for seed in (1, 1, 2):
        uneven = environment.make("busy:1ms-4ms", {})
        uneven.reset(seed=seed)
        for _ in range(50):
            uneven.step(np.int64(0))
    assert times[:50] == times[50:100] != times[100:]
    assert 1e6 <= min(times) < 1.5e6 < 3.5e6 < max(times) <= 4e6
