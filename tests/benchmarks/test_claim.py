"""A claim is judged by its median and interval; the table shows limit, share of the limit and spread."""

import pytest

from benchmarks.kernel_claims.claim import Claim, lines, shown


@pytest.mark.parametrize(
    ("claim", "verdict", "share"),
    [
        (Claim("a", [1.0, 9.0, 2.0], "us", at_most=2), "PASS", 1.0),
        (Claim("a", [1.0, 9.0, 3.0], "us", at_most=2), "OPEN", 1.5),
        (Claim("a", [3.0, 3.1, 2.9], "us", at_most=2), "FAIL", 1.5),
        (Claim("a", [3.0, 3.1, 2.9], "us", at_least=4), "FAIL", 4 / 3),
        (Claim("a", [5.0], "x", at_least=4), "PASS", 0.8),
        (Claim("a", [2.0], "x", at_least=4), "FAIL", 2.0),
        (Claim("a", [2.0], "x"), "INFO", None),
        (Claim("a", [], "x", at_least=4), "SKIP", None),
    ],
    ids=lambda value: value.verdict if isinstance(value, Claim) else None,
)
def test_median_and_interval_are_judged(claim, verdict, share):
    assert claim.verdict == verdict
    assert claim.share == (share if share is None else pytest.approx(share))


def test_the_table_has_a_line_for_each_claim():
    found = lines(
        [
            Claim("a reaction", [0.1, 0.3, 0.2], "us", at_most=0.25),
            Claim("twice as fast", [1.5], "x", at_least=2, note="busy"),
            Claim("absent", [], "x", at_least=2, note="not installed"),
        ]
    ).splitlines()
    assert [" ".join(line.split()) for line in found] == [
        "claim median limit of limit spread",
        "PASS a reaction 0.2 us at most 0.25 0.80 0.1 – 0.3",
        "FAIL twice as fast 1.5 x at least 2 1.33 busy",
        "SKIP absent - at least 2 not installed",
    ]


@pytest.mark.parametrize(
    ("figure", "text"),
    [(0, "0"), (0.0001234, "0.000123"), (0.25, "0.25"), (1.5, "1.5"), (99.96, "100"), (12345.6, "12,346")],
)
def test_three_digits_are_shown(figure, text):
    assert shown(figure) == text
