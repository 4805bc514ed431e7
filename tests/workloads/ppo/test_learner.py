"""The learner computes the formulas as written out, and it learns."""

import numpy as np
import pytest
import torch

from workloads.ppo.learner import Learner
from workloads.ppo.player import Player, joined
from workloads.ppo.task import Task


def played(task, rounds, at_end=lambda learner: None):
    """Run the rounds of a plain loop; calls `at_end` before the learner learns."""
    learner = task.make_learner()
    players = [Player(task, index) for index in range(task.actors)]
    learner.begin(joined([player.begin() for player in players]))
    for _ in range(rounds):
        for _ in range(task.steps):
            actions = learner.act()
            learner.see(joined([player.step(actions) for player in players]))
        at_end(learner)
        learner.learn()
    return learner


def test_a_reply_is_what_the_environment_returned_and_the_next_episode_begins_where_one_ends():
    task = Task(actors=1, seed=5)
    player, twin = Player(task, 0), task.make_environment()
    first, _ = twin.reset(seed=5)
    assert player.begin().tolist() == [*first.tolist(), 0.0, 0.0]
    ended = False
    while not ended:
        reply = player.step(np.array([1]))
        observation, reward, terminated, truncated, _ = twin.step(1)
        ended = terminated or truncated
        if ended:
            observation, _ = twin.reset()
        assert reply.tolist() == [*observation.tolist(), reward, float(ended)]


def test_advantages_are_sums_of_discounted_errors_up_to_the_end_of_the_episode():
    task = Task(actors=2, steps=40, gamma=0.9, gae_lambda=0.8)
    compared = []

    def compare(learner):
        observations, _, rewards, ended = learner.seen()
        with torch.no_grad():
            values = learner.critic(torch.tensor(observations))[:, :, 0].numpy().astype(float)
        for player in range(2):
            for at in range(40):
                expected, weight = 0.0, 1.0
                for later in range(at, 40):
                    going_on = 0.0 if ended[later, player] else 1.0
                    following = 0.9 * going_on * values[later + 1, player]
                    expected += weight * (rewards[later, player] + following - values[later, player])
                    weight *= 0.9 * 0.8 * going_on
                compared.append((float(learner._advantages()[at, player]), expected))
        assert ended.any()

    played(task, 1, compare)
    assert len(compared) == 80
    assert [one for one, _ in compared] == pytest.approx([other for _, other in compared], abs=1e-4)


def test_actions_are_drawn_by_the_policy():
    task = Task(actors=4_000)
    learner = Learner(task, (3,), 3)
    learner.begin((np.tile(np.array([1, 2, 3], np.float32), (4_000, 1)), np.zeros(1), np.zeros(1)))
    with torch.no_grad():
        learner.actor[-1].bias += torch.tensor([0.0, 1.0, 2.0])
        expected = torch.softmax(learner.actor(torch.tensor([1.0, 2.0, 3.0])), dim=0).numpy()
    drawn = np.bincount(learner.act(), minlength=3) / 4_000
    assert np.abs(drawn - expected).max() < 0.04  # five standard deviations


def test_a_policy_that_is_far_from_the_old_one_is_pulled_no_farther():
    learner = Learner(Task(actors=1), (2,), 2)
    observations, actions = torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([0, 1])
    far = torch.tensor([-9.0, -9.0])  # the old probabilities were small: ratios far above 1.2
    unsigned = torch.tensor([1.0, -1.0])
    loss = learner._loss(observations, actions, far, unsigned, torch.zeros(2), torch.zeros(2))
    loss.backward()
    # Only what was worse than expected pulls: the gain of the other one is clipped. The entropy's part is far smaller.
    assert learner.actor[-1].bias.grad[1] > 0.1
    learner._optimizer.zero_grad()
    gains = learner._loss(observations[:1], actions[:1], far[:1], torch.zeros(1), torch.zeros(1), torch.zeros(1))
    gains.backward()
    assert learner.actor[-1].bias.grad.abs().max() < 0.01


def test_it_learns_to_keep_the_pole_up():
    ends = []
    played(Task(learning_rate=1e-3), 12, lambda learner: ends.append(learner.seen()[3].sum()))
    assert ends[-1] < 0.6 * ends[0], ends
