"""The policy network of one agent."""

import numpy as np
import torch
from torch import nn

from workloads.perceptron import ArgmaxPolicy, make_perceptron

HIDDEN = 64
ACTIONS = 2


def make_policy(features: int, seed: int, agent: int, kind: type[ArgmaxPolicy] = ArgmaxPolicy) -> ArgmaxPolicy:
    """A policy features - 64 - 2 (ReLU, softmax, argmax), initialised from (seed, agent), of a kind."""
    torch.set_num_threads(1)
    network = make_perceptron((features, HIDDEN, ACTIONS), np.random.default_rng([seed, agent]))
    return kind(nn.Sequential(network, nn.Softmax(dim=-1)), features)
