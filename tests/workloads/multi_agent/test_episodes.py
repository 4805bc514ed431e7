"""Episodes follow each other by seed, and every agent has an action and a reward in each step."""

import numpy as np
import pytest

from workloads.multi_agent.episodes import Episodes
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
