"""The content of the replay buffer, and its draws."""

import numpy as np
import pytest

from workloads.q_learning.replay import ReplayBuffer, Ring
from workloads.q_learning.transition import TRANSITION, pack


def ring(capacity=10, minibatch=4, policy="sample", seed=0):
    return Ring(capacity, minibatch, policy, np.random.default_rng(seed))


def trajectory(begin, count):
    """Transitions with distinct rewards: begin, begin + 1, ..."""
    return pack([((number, 1, 0), 1, float(number), (number, 2, 1), False) for number in range(begin, begin + count)])


def exchange(buffer, begin, count):
    minibatch, _ = buffer.exchange([trajectory(begin, count)])
    return minibatch["reward"].tolist()


def test_a_transition_keeps_its_parts():
    packed = pack([((20, 7, 0), 1, -1.0, (25, 7, 0), True), ((4, 10, 1), 0, 1.5, (4, 10, 1), False)])
    assert packed.dtype == TRANSITION
    assert packed["observation"].tolist() == [[20, 7, 0], [4, 10, 1]]
    assert packed["action"].tolist() == [1, 0]
    assert packed["reward"].tolist() == [-1.0, 1.5]
    assert packed["next_observation"].tolist() == [[25, 7, 0], [4, 10, 1]]
    assert packed["done"].tolist() == [True, False]


def test_slots_wrap_at_the_capacity():
    slots = ring(capacity=5)
    assert slots.place(3).tolist() == [0, 1, 2]
    assert slots.place(3).tolist() == [3, 4, 0]
    assert slots.place(5).tolist() == [1, 2, 3, 4, 0]


def test_oldest_entries_are_those_that_give_way_next():
    buffer = ReplayBuffer(ring(capacity=10, minibatch=4, policy="oldest"))
    assert exchange(buffer, 0, 6) == [0, 1, 2, 3]
    assert exchange(buffer, 6, 6) == [2, 3, 4, 5]
    assert exchange(buffer, 12, 1) == [3, 4, 5, 6]


def test_a_minibatch_is_all_entries_while_there_are_fewer():
    buffer = ReplayBuffer(ring(capacity=10, minibatch=8, policy="oldest"))
    assert exchange(buffer, 0, 3) == [0, 1, 2]
    assert exchange(buffer, 3, 3) == [0, 1, 2, 3, 4, 5]
    assert len(exchange(buffer, 6, 3)) == 8
    assert len(exchange(ReplayBuffer(ring(minibatch=8)), 0, 3)) == 3


def test_a_minibatch_larger_than_the_buffer_is_the_buffer():
    buffer = ReplayBuffer(ring(capacity=4, minibatch=100, policy="oldest"))
    assert exchange(buffer, 0, 6) == [2, 3, 4, 5]


def test_a_round_larger_than_the_buffer_leaves_its_last_entries():
    buffer = ReplayBuffer(ring(capacity=5, minibatch=5, policy="oldest"))
    minibatch, rewards = buffer.exchange([trajectory(0, 4), trajectory(4, 4)])
    assert minibatch["reward"].tolist() == [3, 4, 5, 6, 7]
    assert rewards.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_a_sample_is_drawn_evenly_from_what_is_held():
    buffer = ReplayBuffer(ring(capacity=10, minibatch=100))
    exchange(buffer, 0, 8)
    drawn = [reward for begin in range(8, 2_008, 2) for reward in (np.array(exchange(buffer, begin, 2)) - begin)]
    # Ages relative to the round's first entry: the ten latest entries are held.
    assert set(drawn) == set(range(-8, 2))
    shares = np.bincount(np.array(drawn, dtype=int) + 8) / len(drawn)
    assert shares == pytest.approx([0.1] * 10, abs=0.02)


def test_a_seed_determines_the_samples():
    def sampled(seed):
        buffer = ReplayBuffer(ring(seed=seed))
        return [exchange(buffer, begin, 5) for begin in range(0, 50, 5)]

    assert sampled(3) == sampled(3)
    assert sampled(3) != sampled(4)


def test_a_minibatch_is_a_copy():
    buffer = ReplayBuffer(ring(capacity=4, minibatch=2, policy="oldest"))
    minibatch, _ = buffer.exchange([trajectory(0, 2)])
    exchange(buffer, 2, 4)
    assert minibatch["reward"].tolist() == [0, 1]
    assert minibatch["observation"].tolist() == [[0, 1, 0], [1, 1, 0]]
