"""The reference ceiling of a point: which backend it is taken from."""

import pytest

from harness.stats.reference_ceiling import ceiling


@pytest.mark.parametrize(
    ("measured", "taken"),
    [
        ({"lockstep": {0: 15.0}}, "lockstep"),
        ({"lockstep": {0: 8.0}}, "serial"),  # loops that wait for each other are slower than one
        ({"lockstep": {}}, None),  # it failed, or cannot run here
        ({"limit": {0: 30.0}}, "limit"),
    ],
)
def test_the_ceiling_is_what_was_measured_or_one_loop_where_that_is_faster(measured, taken):
    trials = {"serial": {0: 10.0}, "reactor-inline": {0: 99.0}, **measured}
    assert ceiling(trials, True) == taken
