"""The learner: acts in all environments at once, and learns from a round of their steps.

Schulman et al., "Proximal policy optimization algorithms", 2017. Details and constants are those of CleanRL's ppo.py
(Huang et al., "The 37 implementation details of proximal policy optimization", 2022).
"""

from collections.abc import Iterator
from math import prod, sqrt

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from workloads.perceptron import parameters_of
from workloads.ppo.player import Actions, Step
from workloads.ppo.task import Task

HIDDEN = 64
CLIP, ENTROPY_WEIGHT, VALUE_WEIGHT, LONGEST_GRADIENT = 0.2, 0.01, 0.5, 0.5


class Learner:
    """Owns both networks, the optimizer, and all that the steps of a round returned."""

    def __init__(self, task: Task, shape: tuple[int, ...], actions: int) -> None:
        torch.set_num_threads(1)
        self._task = task
        self._draws = torch.Generator().manual_seed(task.seed)
        self.actor = _network(prod(shape), actions, 0.01, self._draws)
        self.critic = _network(prod(shape), 1, 1.0, self._draws)
        self._weights = [*self.actor.parameters(), *self.critic.parameters()]
        self._optimizer = torch.optim.Adam(self._weights, lr=task.learning_rate, eps=1e-5)
        size = task.steps, task.actors
        self._observations = torch.zeros(task.steps + 1, task.actors, prod(shape))  # and one after the round
        self._actions = torch.zeros(size, dtype=torch.int64)
        self._log_probabilities, self._values, self._rewards, self._ended = (torch.zeros(size) for _ in range(4))
        self._at = 0

    def begin(self, first: Step) -> None:
        """Note the observations before the first step."""
        self._observations[0] = torch.from_numpy(first[0])

    @torch.no_grad()
    def act(self) -> Actions:
        """An action for each environment (players,), drawn by the policy."""
        now, observations = self._at, self._observations[self._at]
        log_probabilities = nn.functional.log_softmax(self.actor(observations), dim=1)
        chosen = torch.multinomial(log_probabilities.exp(), 1, generator=self._draws)
        self._actions[now] = chosen[:, 0]
        self._log_probabilities[now] = log_probabilities.gather(1, chosen)[:, 0]
        self._values[now] = self.critic(observations)[:, 0]
        return self._actions[now].numpy().copy()

    def see(self, step: Step) -> None:
        """Note the results of the actions."""
        observations, rewards, ended = step
        self._rewards[self._at] = torch.from_numpy(rewards)
        self._ended[self._at] = torch.from_numpy(ended)
        self._at += 1
        self._observations[self._at] = torch.from_numpy(observations)

    def learn(self) -> None:
        """Learn from the steps of a round, which are then forgotten."""
        advantages = self._advantages()
        flat = (
            self._observations[:-1].flatten(0, 1), self._actions.flatten(), self._log_probabilities.flatten(),
            advantages.flatten(), (advantages + self._values).flatten(), self._values.flatten(),
        )  # fmt: skip
        for batch in self._batches():
            loss = self._loss(*(of_all[batch] for of_all in flat))
            self._optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self._weights, LONGEST_GRADIENT)
            self._optimizer.step()
        self._at = 0
        self._observations[0] = self._observations[-1]

    def seen(self) -> tuple[npt.NDArray[np.generic], ...]:
        """Copies of a round's observations, actions and rewards, and where episodes ended."""
        return tuple(
            of_all.numpy().copy() for of_all in (self._observations, self._actions, self._rewards, self._ended)
        )

    def final_state(self) -> npt.NDArray[np.float32]:
        """A copy of the parameters of both networks as one vector."""
        return np.concatenate([parameters_of(self.actor), parameters_of(self.critic)])

    @torch.no_grad()
    def _advantages(self) -> Tensor:
        """Generalized advantage estimates (steps, players)."""
        following = self.critic(self._observations[-1])[:, 0]
        advantages, later = torch.empty_like(self._values), torch.zeros_like(following)
        for at in reversed(range(len(advantages))):
            going_on = self._task.gamma * (1 - self._ended[at])
            error = self._rewards[at] + going_on * following - self._values[at]
            advantages[at] = later = error + self._task.gae_lambda * going_on * later
            following = self._values[at]
        return advantages

    def _batches(self) -> Iterator[Tensor]:
        steps = self._values.numel()
        for _ in range(self._task.epochs):
            yield from torch.randperm(steps, generator=self._draws).tensor_split(self._task.minibatches)

    def _loss(
        self, observations: Tensor, actions: Tensor, old: Tensor, advantages: Tensor, returns: Tensor, before: Tensor
    ) -> Tensor:
        log_probabilities = nn.functional.log_softmax(self.actor(observations), dim=1)
        ratios = (log_probabilities.gather(1, actions[:, None])[:, 0] - old).exp()
        # CleanRL divides by the unbiased deviation, of which a minibatch of one step has none.
        advantages = (advantages - advantages.mean()) / (advantages.std(correction=0) + 1e-8)
        gain = torch.min(advantages * ratios, advantages * ratios.clamp(1 - CLIP, 1 + CLIP)).mean()
        entropy = -(log_probabilities.exp() * log_probabilities).sum(1).mean()
        values = self.critic(observations)[:, 0]
        clipped = before + (values - before).clamp(-CLIP, CLIP)
        miss = torch.max((values - returns) ** 2, (clipped - returns) ** 2).mean() / 2
        loss: Tensor = VALUE_WEIGHT * miss - gain - ENTROPY_WEIGHT * entropy
        return loss


def _network(features: int, outputs: int, last_gain: float, draws: torch.Generator) -> nn.Sequential:
    """Two hidden layers with tanh; orthogonal weights, no bias."""
    layers: list[nn.Module] = []
    for fan_in, fan_out, gain in ((features, HIDDEN, sqrt(2)), (HIDDEN, HIDDEN, sqrt(2)), (HIDDEN, outputs, last_gain)):
        linear = nn.utils.skip_init(nn.Linear, fan_in, fan_out)  # type: ignore[no-untyped-call]
        nn.init.orthogonal_(linear.weight, gain, generator=draws)
        nn.init.zeros_(linear.bias)
        layers += [linear, nn.Tanh()]
    return nn.Sequential(*layers[:-1])
