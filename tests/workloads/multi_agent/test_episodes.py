"""Episodes follow each other by seed, and every agent has an action and a reward in each step."""

import itertools

import numpy as np
import pytest

from workloads import made_up
from workloads.multi_agent import episodes as module
from workloads.multi_agent.episodes import Episodes
from workloads.multi_agent.tensors import TensorEpisodes
from workloads.multi_agent.traffic_junction import BRAKE, GAS, TrafficJunction


def first_observation(seed, cars=3):
    observations, _ = TrafficJunction(cars).reset(seed=seed)
    return observations["car_0"]


def test_each_episode_begins_with_the_next_seed():
    episodes = Episodes(TrafficJunction(3, max_steps=5), seed=40)
    for number in range(4):
        assert np.array_equal(episodes.observation, first_observation(40 + number))
        assert episodes.finished == number
        for _ in range(5):
            episodes.step([BRAKE] * 3)


def test_gives_one_reward_per_agent_also_when_its_car_has_left():
    episodes = Episodes(TrafficJunction(3, arrival_probability=1.0), seed=0)
    total = 0.0
    for step in range(20):  # car 0 leaves after at most 14 moves
        rewards = episodes.step([GAS, BRAKE, BRAKE])
        assert rewards.shape == (3,)
        assert rewards[1] == pytest.approx(-0.01 * (step + 1))
        total += rewards.sum()
    assert rewards[0] == 0.0
    assert episodes.total_reward == pytest.approx(total)


def test_the_next_episode_begins_when_all_cars_have_left():
    episodes = Episodes(TrafficJunction(1, arrival_probability=1.0), seed=0)
    steps = 0
    while episodes.finished == 0:
        episodes.step([GAS])
        steps += 1
    assert 12 <= steps <= 14


def test_wants_an_action_of_every_agent():
    episodes = Episodes(TrafficJunction(3), seed=0)
    with pytest.raises(ValueError, match="shorter"):
        episodes.step([GAS, GAS])


def test_a_step_of_the_environment_is_busy_as_long_as_it_is_told(monkeypatch):
    looks = itertools.count(step=10_000)  # 10 us from one look at the clock to the next
    for one in (module, made_up):
        monkeypatch.setattr(one, "thread_time_ns", lambda: next(looks))
    Episodes(TrafficJunction(3), seed=0, step_busy_us=95.0).step([GAS] * 3)
    assert next(looks) == 110_000  # it looked at 0 and until 100 us had passed
    Episodes(TrafficJunction(3), seed=0).step([GAS] * 3)
    assert next(looks) == 120_000  # it looked at none


def test_the_papers_message_is_the_observation_in_a_tensor_per_agent():
    episodes = TensorEpisodes(TrafficJunction(3), seed=0)
    assert [view.shape for view in episodes.message] == [(9 * 8,)] * 3
    assert np.array_equal(np.concatenate([view.numpy() for view in episodes.message]), episodes.observation)
