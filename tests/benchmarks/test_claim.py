"""A claim is judged by its median and interval; the table shows limit and range."""

import pytest

from benchmarks.kernel_claims.claim import Claim, lines


@pytest.mark.parametrize(
    ("claim", "verdict"),
    [
        (Claim("a", [1.0, 9.0, 2.0], "us", at_most=2), "PASS"),
        (Claim("a", [1.0, 9.0, 3.0], "us", at_most=2), "OPEN"),
        (Claim("a", [3.0, 3.1, 2.9], "us", at_most=2), "FAIL"),
        (Claim("a", [2.0], "x", at_most=4), "PASS"),
        (Claim("a", [5.0], "x", at_most=4), "FAIL"),
        (Claim("a", [2.0], "x"), "INFO"),
        (Claim("a", [], "x", at_most=4), "SKIP"),
    ],
    ids=lambda value: value.verdict if isinstance(value, Claim) else None,
)
def test_median_and_interval_are_judged(claim, verdict):
    assert claim.verdict == verdict


def test_the_table_has_a_line_for_each_claim():
    found = lines(
        [
            Claim("a reaction", [0.1, 0.3, 0.2], "us", at_most=0.25),
            Claim("half the time", [0.75], "x", at_most=0.5, note="busy"),
            Claim("absent", [], "x", at_most=0.5, note="not installed"),
        ]
    ).splitlines()
    assert [" ".join(line.split()) for line in found] == [
        "claim median limit range",
        "PASS a reaction 0.200 us at most 0.250 0.100 – 0.300",
        "FAIL half the time 0.750 x at most 0.500 busy",
        "SKIP absent - at most 0.500 not installed",
    ]
