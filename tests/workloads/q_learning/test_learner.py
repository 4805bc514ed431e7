"""The learning step compared with the formula as written out, the target network, and both representations."""

import numpy as np
import pytest
import torch

from workloads.q_learning.learner import Learner
from workloads.q_learning.replay import ReplayBuffer, Ring
from workloads.q_learning.tensors import TensorLearner, TensorReplayBuffer, with_tensors
from workloads.q_learning.transition import pack


def make_learner(learning_rate=0.01, gamma=0.9, target_rounds=10, kind=Learner):
    return kind(np.random.default_rng(0), learning_rate, gamma, target_rounds)


def transitions(count, seed=1):
    generator = np.random.default_rng(seed)

    def observation():
        return tuple(int(number) for number in generator.integers(1, 20, size=3))

    return [
        (
            observation(),
            int(generator.integers(2)),
            float(generator.integers(-1, 2)),
            observation(),
            bool(generator.random() < 0.5),
        )
        for _ in range(count)
    ]


def test_the_first_step_goes_down_the_gradient_of_the_squared_bellman_error():
    learner, reference = make_learner(), make_learner()
    minibatch = pack(transitions(20))
    before = [weights.detach().clone() for weights in learner.network.parameters()]
    learner.learn(minibatch)

    loss = torch.tensor(0.0)
    for observation, action, reward, following, done in transitions(20):
        with torch.no_grad():
            best = reference.network(torch.tensor(following, dtype=torch.float32)).max()
        expected = reward if done else reward + 0.9 * best
        chosen = reference.network(torch.tensor(observation, dtype=torch.float32))[action]
        loss = loss + (chosen - expected) ** 2 / 20
    loss.backward()
    for old, new, weights in zip(before, learner.network.parameters(), reference.network.parameters(), strict=True):
        # Adam's first step is the learning rate times the sign of the gradient, but for its epsilon of 1e-8.
        clear = weights.grad.abs() > 1e-4
        assert clear.any()
        moved = (new.detach() - old)[clear]
        assert torch.allclose(moved, -0.01 * weights.grad.sign()[clear], atol=1e-5)


def test_both_representations_learn_the_same_bits():
    arrays, tensors = make_learner(), make_learner(kind=TensorLearner)
    for seed in range(15):
        batch = transitions(64, seed)
        packed = pack(batch)
        packed.flags.writeable = False
        arrays.learn(packed)
        tensors.learn([with_tensors(transition) for transition in batch])
    assert arrays.final_state().tobytes() == tensors.final_state().tobytes()
    sent = np.concatenate([weights.numpy().reshape(-1) for weights in tensors.parameters().values()])
    assert sent.tobytes() == arrays.parameters().tobytes()


@pytest.mark.parametrize("capacity", [40, 7])
def test_both_representations_draw_the_same_transitions(capacity):
    kinds = {ReplayBuffer: pack, TensorReplayBuffer: lambda batch: [with_tensors(one) for one in batch]}
    drawn = []
    for kind, made in kinds.items():
        buffer = kind(Ring(capacity, 5, "sample", np.random.default_rng(2)))
        for seed in range(4):
            minibatch, rewards = buffer.exchange([made(transitions(6, seed)), made(transitions(6, seed + 10))])
        assert rewards.shape == (2, 6)
        drawn.append((rewards.tolist(), [float(one[2]) for one in minibatch], [list(one[0]) for one in minibatch]))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("target_rounds", [1, 3])
def test_the_target_is_renewed_every_so_many_rounds(target_rounds):
    learner = make_learner(target_rounds=target_rounds)
    probe = torch.tensor([[12.0, 5.0, 0.0]])

    def target():
        return learner._target(probe).tolist()

    def network():
        with torch.no_grad():
            return learner.network(probe).tolist()

    assert target() == network()
    for step in range(1, 7):
        before = target()
        learner.learn(pack(transitions(32, step)))
        assert target() == (network() if step % target_rounds == 0 else before)


def test_learning_lowers_the_error_on_a_repeated_minibatch():
    learner = make_learner(gamma=0.0)
    batch = transitions(50)

    def error():
        with torch.no_grad():
            outputs = learner.network(torch.tensor([list(step[0]) for step in batch], dtype=torch.float32))
        return float(np.mean([(float(out[step[1]]) - step[2]) ** 2 for out, step in zip(outputs, batch, strict=True)]))

    before = error()
    for _ in range(300):
        learner.learn(pack(batch))
    assert error() < 0.5 * before
