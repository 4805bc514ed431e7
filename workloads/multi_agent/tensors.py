"""The paper's representation: every agent is sent the views of all agents, each in a small tensor of its own.

Stands where one contiguous array does; what it costs to make, to send and to put together again is all that differs.
"""

from collections.abc import Sequence

import torch

from workloads.multi_agent.episodes import Episodes
from workloads.perceptron import ArgmaxPolicy


class TensorEpisodes(Episodes):
    """Episodes whose message is a tensor per agent, float32, (9 * (cars + 5),)."""

    @property
    def message(self) -> tuple[torch.Tensor, ...]:
        """The message to every agent."""
        return tuple(map(torch.tensor, self.observation.reshape(self.agents, -1)))


class TensorPolicy(ArgmaxPolicy):
    """A policy that is sent the views of all agents in a tensor each."""

    def act(self, observation: Sequence[torch.Tensor]) -> int:  # type: ignore[override]
        """The action for the views, one after the other."""
        torch.cat(list(observation), out=self._input)
        return int(self.network(self._input).argmax())
