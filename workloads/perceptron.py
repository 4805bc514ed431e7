"""Small fully connected networks that give the same bits in every process, on whichever framework.

Owns their construction, their parameters as one vector, and the evaluation of a single observation. Draws
weights from NumPy generators only: torch's own generator is shared by all threads of a process.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

Vector = npt.NDArray[np.float32]


def make_perceptron(sizes: Sequence[int], generator: np.random.Generator) -> nn.Sequential:
    """A network of linear layers from `sizes[0]` features to `sizes[-1]` outputs, ReLU between them, float32.

    Weights and biases are uniform in +-1/sqrt(fan in), as torch's own linear layer has them.
    """
    layers: list[nn.Module] = []
    for fan_in, fan_out in pairwise(sizes):
        linear = nn.utils.skip_init(nn.Linear, fan_in, fan_out)  # type: ignore[no-untyped-call]
        bound = fan_in**-0.5
        for weights in linear.parameters():
            _numpy_view(weights)[...] = generator.uniform(-bound, bound, tuple(weights.shape))
        layers += [linear, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def parameters_of(network: nn.Module) -> Vector:
    """A copy of all parameters in one vector (float32)."""
    return np.concatenate([_numpy_view(weights).reshape(-1) for weights in network.parameters()])


def load_parameters(network: nn.Module, vector: Vector) -> None:
    """Copy a vector made by `parameters_of` (it may be read-only) into a network of the same shape."""
    # Copied, never aliased: a result may depend in its last bit on how the memory of the operands is aligned.
    begin = 0
    for weights in network.parameters():
        end = begin + weights.numel()
        _numpy_view(weights)[...] = vector[begin:end].reshape(weights.shape)
        begin = end


class ArgmaxPolicy:
    """Chooses the action with the largest output of a network, which it makes unable to learn."""

    def __init__(self, network: nn.Module, features: int) -> None:
        self.network = network.requires_grad_(False)  # then an evaluation records nothing for a backward pass
        self._input = torch.zeros(features)
        self._features = self._input.numpy()

    def act(self, observation: npt.ArrayLike) -> int:
        """The action for one observation (features,), converted to float32; a read-only array will do."""
        self._features[:] = observation
        return int(self.network(self._input).argmax())


def _numpy_view(weights: torch.Tensor) -> Vector:
    view: Vector = weights.detach().numpy()
    return view
