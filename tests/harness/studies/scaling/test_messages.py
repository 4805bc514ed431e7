"""The cost of a message: how it follows from times, and that it can be measured here."""

import math

import numpy as np
import pytest

from harness.prediction import MessageCost
from harness.studies.scaling import messages
from harness.studies.scaling.messages import Times

ALONE = Times(sending=1_000, receiving=800, arriving=9_000)


def test_each_part_is_what_is_longer_than_in_one_thread():
    times = [
        Times(sending=4_000, receiving=4_800, arriving=10_000),
        Times(sending=4_200, receiving=4_800, arriving=99_000),
        Times(sending=4_300, receiving=4_900, arriving=1),
    ]
    found = messages.fitted([1_000, 2_000, 3_000], times, ALONE)
    assert found == MessageCost(send_ns=3_000, receive_ns=4_000, latency_ns=2_000, byte_ns=pytest.approx(0.2))


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"sending": 1_000}, "send_ns came out as 0"),
        ({"receiving": 700}, "receive_ns came out as -100"),
        ({"arriving": 7_000}, "latency_ns came out as -1e+03"),
    ],
)
def test_what_is_not_positive_is_no_cost(changed, name):
    first = Times(sending=4_000, receiving=4_800, arriving=10_000)._replace(**changed)
    with pytest.raises(RuntimeError, match="the cost of a message cannot be told on this machine: ") as refusal:
        messages.fitted([1_000, 2_000], [first, Times(5_000, 4_800, 10_000)], ALONE)
    assert name in str(refusal.value)


def test_the_costs_of_this_machine_are_positive_and_finite():
    for left in (2, 1, 0):
        try:
            found = messages.measured()
            break
        except RuntimeError:  # other programs had the cores meanwhile
            if not left:
                raise
    assert list(found) == list(MessageCost._fields)
    assert all(0 < value < math.inf for value in found.values())


@pytest.mark.parametrize(
    ("value", "own"), [(7, 0), (None, 0), (np.zeros(100_000, np.uint8), 100_000), ([np.zeros(3), b"x" * 5_000], 5_024)]
)
def test_a_value_is_as_large_as_all_that_travels(value, own):
    assert own < messages.encoded_bytes(value) < own + 1_000
