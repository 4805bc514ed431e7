"""The times that a vector environment reports, on a counting clock with steps of known length."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest

from reactorlib.gymnasium import ReactorVectorEnv
from reactorlib.gymnasium.contract.probes import Quiet
from reactorlib.gymnasium.vector import statistics


class Clock:
    """Time that passes when an environment steps, or the caller thinks."""

    now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


class Lasting(Quiet):
    """A step takes this long; a reset three times as long."""

    def __init__(self, number: int, clock: Clock, step_ns: int) -> None:
        super().__init__(number)
        self.clock, self.step_ns = clock, step_ns

    def reset(self, **given: Any) -> Any:
        self.clock.now_ns += 3 * self.step_ns
        return super().reset(**given)

    def step(self, action: Any) -> Any:
        self.clock.now_ns += self.step_ns
        observation, reward, *_, info = super().step(action)
        return observation, reward, self.count == 10, False, info


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(statistics, "clock", clock)
    return clock


def lasting(clock: Clock, *step_ns: int) -> list[Any]:
    return [partial(Lasting, number, clock, each) for number, each in enumerate(step_ns)]


def walked(envs: ReactorVectorEnv, rounds: int, think: Any = None) -> Any:
    envs.reset(seed=1)
    for _ in range(rounds):
        envs.step(np.zeros(envs.num_envs, int))
        if think is not None:
            think()
    return envs.statistics()


def test_percentiles_are_of_each_environments_steps_and_resets(vector: Any, clock: Clock) -> None:
    found = walked(vector(lasting(clock, 10_000, 200_000), executor="inline", statistics=True), 40)
    assert found.step_ns.tolist() == [[10_000] * 3, [200_000] * 3]
    assert found.reset_ns.tolist() == [[30_000] * 3, [600_000] * 3]
    assert found.last.tolist() == [0, found.rounds]
    assert found.waiting == 0
    assert found.rounds >= 40 / 8


def test_steps_are_timed_less_often_where_they_are_cheap(vector: Any, clock: Clock) -> None:
    cheap = walked(vector(lasting(clock, 1_000), executor="inline", statistics=True), 1_000)
    assert 1_000 / 512 - 1 <= cheap.rounds <= 1_000 / 300 + 2
    dear = walked(vector(lasting(clock, 1_000_000), executor="inline", statistics=True), 1_000)
    assert dear.rounds > 900


def test_the_part_of_a_round_that_waits_is_of_all_workers(vector: Any, clock: Clock) -> None:
    envs = vector(lasting(clock, 50_000, 50_000), executor="inline", statistics=True)
    groups = envs._groups
    shares = [[(1, [10, 20], [0, 0]), (2, [30, 0], [0, 5])], [(1, [60], [0]), (3, [9], [0])]]
    found = statistics.statistics_of(shares, groups)
    assert found.rounds == 1  # that both have timed
    assert found.waiting == pytest.approx(1 - 45 / 60)
    assert found.last.tolist() == [0, 0, 1]
    assert np.isnan(found.reset_ns).tolist() == [[True] * 3, [False] * 3, [True] * 3]


@pytest.mark.parametrize(("think_ns", "bottleneck"), [(1_000, "environments"), (900_000, "caller")])
@pytest.mark.parametrize("split", [False, True])
def test_the_bottleneck_takes_more_of_the_time(
    vector: Any, clock: Clock, think_ns: int, bottleneck: str, split: bool
) -> None:
    envs = vector(lasting(clock, 40_000, 60_000), executor="inline", statistics=True)
    envs.reset(seed=1)
    for _ in range(960):
        if split:
            envs.step_async(np.zeros(2, int))
            clock.now_ns += think_ns
            envs.step_wait()
        else:
            envs.step(np.zeros(2, int))
            clock.now_ns += think_ns
    found = envs.statistics()
    assert found.bottleneck == bottleneck
    round_ns = (10 * 100_000 + 300_000) / 11  # of ten steps and a reset
    assert found.caller == pytest.approx(think_ns / (think_ns + round_ns), rel=0.1)


@pytest.mark.parametrize("way", [{"workers": 2}, {"workers": 2, "caller_steps": False}, {"executor": "threads"}])
def test_timing_changes_no_result(vector: Any, way: Any) -> None:
    make = [lambda: gymnasium.make("CartPole-v1")] * 3
    on, off = vector(make, statistics=True, **way), vector(make, **way)
    outcomes = [[env.reset(seed=1)[0], *(env.step(np.ones(3, int))[0] for _ in range(60))] for env in (on, off)]
    assert np.array_equal(*outcomes)
    found = on.statistics()
    assert found.step_ns.shape == found.reset_ns.shape == (3, 3)
    assert (found.step_ns[:, 0] > 0).all()
    assert found.rounds == found.last.sum() > 0
    with pytest.raises(ValueError, match="statistics=True"):
        off.statistics()


def test_it_is_shown_as_a_table(vector: Any, clock: Clock) -> None:
    lines = str(walked(vector(lasting(clock, 10_000, 200_000), executor="inline", statistics=True), 5)).splitlines()
    assert lines[1].split()[:4] == ["0", "10.0", "10.0", "10.0"]
    assert "the bottleneck is the environments" in lines[-1]
