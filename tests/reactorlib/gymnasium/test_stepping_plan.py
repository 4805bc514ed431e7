"""Where environments are stepped if nobody says: by what a step costs, with the same results."""

import functools
import os
import random
import subprocess
from typing import Any

import gymnasium
import numpy as np
import psutil
import pytest

from reactorlib.gymnasium import ReactorVectorEnv
from reactorlib.gymnasium.contract import find_faults, probes
from reactorlib.gymnasium.vector import stepping_plan as plans
from tests.reactorlib.gymnasium.environments import made

US, MS = 1_000, 1_000_000


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reactorlib.gymnasium.vector.stepping_plan.available_cpus", lambda: 2)


def cheap(monkeypatch: pytest.MonkeyPatch, step_ns: int, travel_ns: int = 0) -> None:
    monkeypatch.setattr(plans, "tried", lambda _env: plans.Cost(step_ns, travel_ns))


@pytest.mark.parametrize(
    ("step_ns", "n", "executor"),
    [(2 * US, 2, "inline"), (2 * US, 4, "inline"), (8 * US, 2, "inline"), (2 * US, 64, "processes"),
     (8 * US, 16, "processes"), (30 * US, 2, "processes"), (2 * MS, 2, "processes"), (2 * MS, 1, "inline")],
)  # fmt: skip
def test_processes_are_chosen_where_they_pay(monkeypatch: Any, step_ns: int, n: int, executor: str) -> None:
    cheap(monkeypatch, step_ns)
    plan = plans.planned(None, n, 2)
    assert (plan.executor, plan.workers) == (executor, 2 if executor == "processes" else 1)
    assert plan.step_ns == (step_ns if n > 1 else None)
    assert plan.reason


def test_reports_that_cost_much_on_their_way_keep_environments_inline(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap(monkeypatch, 10 * US, travel_ns=50 * US)
    assert plans.planned(None, 16, 2).executor == "inline"


def test_no_more_workers_are_chosen_than_gain_something(monkeypatch: pytest.MonkeyPatch) -> None:
    cheap(monkeypatch, 3 * US)
    assert 1 < plans.planned(None, 16, 64).workers < 16


@pytest.mark.parametrize("step_ns", [1, 10 * MS])
def test_results_are_those_of_sync_whatever_is_chosen(monkeypatch: pytest.MonkeyPatch, step_ns: int) -> None:
    cheap(monkeypatch, step_ns)
    env = ReactorVectorEnv(made("infos of every kind"))
    assert env.plan.executor == ("inline" if step_ns == 1 else "processes")
    assert find_faults(env, steps=10) == []


@pytest.mark.parametrize(
    "given", [{"workers": 2}, {"caller_steps": True}, {"start_method": "fork"}, {"executor": "inline"}]
)
def test_nothing_is_tried_where_the_caller_says(vector: Any, monkeypatch: Any, given: dict[str, Any]) -> None:
    monkeypatch.setattr(plans, "tried", lambda _env: pytest.fail("tried"))
    plan = vector(made("no infos"), **given).plan
    assert plan.executor == given.get("executor", "processes")
    assert plan.step_ns is None


class Global(probes.Quiet):
    """Draws from the generators of all, and counts the steps of all."""

    steps = 0

    def step(self, action: Any) -> Any:
        Global.steps += 1
        random.random(), np.random.random()  # noqa: NPY002
        return super().step(action)


def test_a_trial_changes_nothing_here() -> None:
    env = Global(0)
    before = random.getstate(), str(np.random.get_state()), env.action_space.sample()  # noqa: NPY002
    env.action_space.seed(0)
    state = str(env.action_space.np_random.bit_generator.state)
    cost = plans.tried(env)
    assert cost is not None
    assert cost.step_ns > 0
    assert Global.steps == 0
    assert (random.getstate(), str(np.random.get_state())) == before[:2]  # noqa: NPY002
    assert str(env.action_space.np_random.bit_generator.state) == state


class Bad(gymnasium.Env[Any, Any]):
    """Fails in a step, in its way."""

    observation_space = probes.Quiet(0).observation_space
    action_space = probes.Quiet(0).action_space

    def __init__(self, how: str) -> None:
        self.how = how

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        return np.zeros(3, np.float32), {}

    def step(self, _action: Any) -> Any:
        if self.how == "raise":
            raise ZeroDivisionError
        if self.how == "exit":
            os._exit(7)
        subprocess.run(["sleep", f"60.{os.getppid()}"], check=True)


@pytest.mark.parametrize("how", ["raise", "exit", "hang"])
def test_an_environment_that_cannot_be_tried_is_stepped_by_processes(vector: Any, monkeypatch: Any, how: str) -> None:
    monkeypatch.setattr(plans, "LONGEST_S", 0.2)
    env = vector([functools.partial(Bad, how)] * 2)
    assert (env.plan.executor, env.plan.step_ns) == ("processes", None)
    assert ["sleep", f"60.{os.getpid()}"] not in [one.info["cmdline"] for one in psutil.process_iter(["cmdline"])]
