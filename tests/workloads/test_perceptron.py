"""Networks, their parameters as a vector, and the policy that evaluates them."""

import numpy as np
import torch
from torch import nn

from workloads.perceptron import ArgmaxPolicy, load_parameters, make_perceptron, parameters_of


def perceptron(seed=0, sizes=(3, 32, 2)):
    return make_perceptron(sizes, np.random.default_rng(seed))


def test_layers_alternate_with_relu_and_end_linear():
    network = perceptron(sizes=(3, 32, 5, 2))
    assert [type(layer) for layer in network] == [nn.Linear, nn.ReLU, nn.Linear, nn.ReLU, nn.Linear]
    assert network(torch.zeros(7, 3)).shape == (7, 2)
    assert network(torch.zeros(3)).dtype == torch.float32


def test_weights_come_from_the_generator_alone():
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = parameters_of(perceptron())
    assert torch.equal(torch.get_rng_state(), state)
    assert np.array_equal(parameters_of(perceptron()), first)
    assert not np.array_equal(parameters_of(perceptron(seed=1)), first)


def test_weights_spread_as_torchs_own_do():
    network = perceptron(sizes=(100, 400, 2))
    for layer, fan_in in ((network[0], 100), (network[2], 400)):
        weights = layer.weight.detach().numpy()
        assert abs(weights).max() <= fan_in**-0.5
        assert abs(weights.std() - fan_in**-0.5 / 3**0.5) < 0.1 * fan_in**-0.5
        assert abs(layer.bias.detach().numpy()).max() <= fan_in**-0.5


def test_parameters_travel_as_one_vector():
    source, target = perceptron(0), perceptron(1)
    vector = parameters_of(source)
    assert vector.shape == (3 * 32 + 32 + 32 * 2 + 2,)
    assert vector.dtype == np.float32
    vector.flags.writeable = False
    load_parameters(target, vector)
    assert all(torch.equal(source.state_dict()[name], target.state_dict()[name]) for name in source.state_dict())


def test_the_vector_is_a_copy_and_loading_keeps_no_hold_on_it():
    source, target = perceptron(0), perceptron(1)
    vector = parameters_of(source)
    load_parameters(target, vector)
    vector[:] = 0
    assert parameters_of(source).any()
    assert np.array_equal(parameters_of(target), parameters_of(source))


def test_a_policy_takes_the_largest_output():
    network = perceptron()
    policy = ArgmaxPolicy(network, 3)
    observations = np.random.default_rng(5).normal(size=(50, 3)).astype(np.float32)
    observations.flags.writeable = False
    expected = network(torch.tensor(observations)).argmax(dim=1).tolist()
    assert [policy.act(observation) for observation in observations] == expected
    assert set(expected) == {0, 1}
    assert policy.act((1, 2, 3)) == policy.act(np.array([1, 2, 3], dtype=np.float32))
