"""Which panels lie beside each other."""

import pytest

from plots import lanes


def numbers(panels, most):
    return [row.panels for row in lanes.rows(panels, most)]


@pytest.mark.parametrize(
    ("panels", "most", "rows"),
    [
        ([], 3, []),
        (["abc"] * 4, 3, [(0, 1, 2), (3,)]),
        (["abcdefgh", "abcd", "abcdefgh", "abcd"], 3, [(0, 2), (1, 3)]),  # beside the long ones half would be empty
        (["abcd", "abcdefgh"], 3, [(1,), (0,)]),
        (["abc", "abcd"], 3, [(1, 0)]),  # a quarter may be
        (["abc", "abd"], 3, [(0, 1)]),
        (["abc", "abx", "aby"], 3, [(0, 1), (2,)]),  # together five, of which each lacks two
        (["ab", "cd"], 2, [(0,), (1,)]),
    ],
    ids=str,
)
def test_panels_that_share_most_of_their_lanes_lie_beside_each_other(panels, most, rows):
    assert numbers(panels, most) == rows


def test_a_row_has_the_lanes_of_all_its_panels():
    (row,) = lanes.rows(["abc", "abd"], 2)
    assert row.lanes == frozenset("abcd")
