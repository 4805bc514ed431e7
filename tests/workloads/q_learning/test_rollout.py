"""A rollout worker plays the seeded environment, epsilon-greedily, round after round."""

from itertools import pairwise

import gymnasium
import numpy as np

from workloads.perceptron import parameters_of
from workloads.q_learning.rollout import RolloutWorker


def worker(seed=0, index=0, steps=50, epsilon=0.1):
    return RolloutWorker(seed, index, steps, epsilon)


def test_takes_the_steps_of_a_round_and_goes_on_where_it_stopped():
    rollout = worker()
    rounds = [rollout.collect() for _ in range(3)]
    assert [len(transitions) for transitions in rounds] == [50, 50, 50]
    steps = [transition for transitions in rounds for transition in transitions]
    for (_, _, _, following, done), (observation, *_) in pairwise(steps):
        assert done or observation == following
    assert any(done for *_, done in steps)
    assert not all(done for *_, done in steps)


def test_long_rounds_compute_what_short_ones_do():
    long, short = worker(steps=60), worker(steps=20)
    assert long.collect() == [transition for _ in range(3) for transition in short.collect()]


def test_plays_the_environment_seeded_with_seed_and_index():
    transitions = worker(seed=7, index=5).collect()
    env = gymnasium.make("Blackjack-v1")
    observation, _ = env.reset(seed=12)
    for seen, action, reward, following, done in transitions:
        assert seen == observation
        observation, expected_reward, terminated, truncated, _ = env.step(action)
        assert (following, reward, done) == (observation, expected_reward, terminated or truncated)
        if done:
            observation, _ = env.reset()


def test_workers_differ_by_seed_and_index_and_repeat_with_them():
    first = worker(seed=3, index=1).collect()
    assert worker(seed=3, index=1).collect() == first
    assert worker(seed=3, index=2).collect() != first
    assert worker(seed=4, index=1).collect() != first


def test_without_exploration_the_loaded_network_decides():
    rollout = worker(epsilon=0.0)
    vector = np.zeros_like(parameters_of(rollout.network))
    for action in (0, 1):
        vector[-2:] = 0
        vector[-2 + action] = 1  # the output biases
        assert set(rollout.roll(vector)["action"]) == {action}


def test_exploration_alone_takes_both_actions_equally_often():
    actions = [action for _, action, *_ in worker(epsilon=1.0, steps=2_000).collect()]
    assert 900 < sum(actions) < 1_100


def test_explores_with_the_given_probability():
    rollout = worker(epsilon=0.2, steps=2_000)
    vector = np.zeros_like(parameters_of(rollout.network))
    vector[-1] = 1  # would always take action 1
    others = int((rollout.roll(vector)["action"] == 0).sum())
    assert 150 < others < 250
