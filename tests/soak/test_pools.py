"""Many random pools, each in every way: a batch depends on no number of workers and on no executor."""

import os

import pytest

from tests.reactorlib.gymnasium.random_pools import WAYS, RandomPool

POOLS = int(os.environ.get("SOAK_POOLS", "200"))

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("seed", range(POOLS))
def test_a_random_pool_returns_the_same_bits_in_every_way(seed: int) -> None:
    RandomPool(seed).check(WAYS)
