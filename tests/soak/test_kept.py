"""Check that a round of Ray takes as long with a used driver as with a fresh one. Earlier points used the driver.

SOAK_STARTS (7): fresh starts of both. Only `make soak` runs it, a minute for each start. It prints its findings.
"""

import os
from dataclasses import replace
from statistics import fmean

import pytest

from harness import quantity
from harness.measure import block
from harness.measure.block import AGAIN, EFFORT
from harness.measure.kept import Kept
from harness.measure.measured_processes import Subject, workload_order
from harness.stats import intervals

STARTS = int(os.environ.get("SOAK_STARTS", "7"))
BEFORE = (("gym_sampling", {"actors": 8, "env": "busy:2ms"}), ("multi_agent", {"agents": 4}))
NOW = ("gym_sampling", {"actors": 8, "env": "CartPole-v1"})
NAMES = ("ray-paper", "ray-pooled", "ray-pooled-compiled")
# The largest ratio allowed between fresh drivers.
FLOOR = 1.05


def subject(name, point, fresh=False):
    workload, parameters = point
    order = workload_order(workload, name, parameters, verify_rounds=20)
    return Subject(name + AGAIN if fresh else name, order, matched=True, kept=not fresh)


@pytest.fixture(scope="module")
def blocks():
    """Blocks of used drivers beside fresh ones, by the names of their subjects."""
    found, short = [], replace(EFFORT, sweeps=1, warmup_s=(0.1, 1.0))
    for index in range(STARTS):
        with Kept() as kept:
            for point in BEFORE:
                block.run([subject(name, point) for name in NAMES], short, f"{index}", kept=kept)
            both = [subject(name, NOW, fresh) for name in NAMES for fresh in (False, True)]
            found.append(block.run(both, EFFORT, f"{index}", kept=kept))
    return found


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_rounds_take_as_long_with_a_used_driver_as_with_a_fresh_one(blocks, name):
    pairs = [(one[name], one[name + AGAIN]) for one in blocks]
    assert {one.failure for pair in pairs for one in pair} == {""}
    assert len({one.digest for pair in pairs for one in pair}) == 1
    ratio = intervals.ratio_of_turns([block.log_ratios(*pair) for pair in pairs])
    used, fresh = (fmean(one.taken_s for one in side) for side in zip(*pairs, strict=True))
    print(f"{name}: {quantity.ratio(ratio)} of a fresh one's time; a block takes {used:.1f} s instead of {fresh:.1f} s")
    assert ratio.low <= FLOOR
    assert ratio.high >= 1 / FLOOR
    assert used < fresh
