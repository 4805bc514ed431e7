"""Numbers as a reader wants them."""

import pytest

from harness import quantity


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ns", "0 ns"),
        (12, "ns", "12.0 ns"),
        (1_234, "ns", "1.23 us"),
        (45_600_000, "ns", "45.6 ms"),
        (7.1e9, "ns", "7.10 s"),
        (3e12, "ns", "50.0 min"),
        (250, "ns/step", "250 ns/step"),
        (2_500, "ns/step", "2.50 us/step"),
        (2**20 * 40.5, "bytes", "40.5 MiB"),
        (999.96, "bytes", "1,000 bytes"),
        (1234567.8, "steps/s", "1,234,568 steps/s"),
        (0.0123, "steps/s", "0.0123 steps/s"),
        (-45_600_000, "ns", "-45.6 ms"),
    ],
)
def test_show(value, unit, text):
    assert quantity.show(value, unit) == text


@pytest.mark.parametrize(("value", "text"), [(99.96, "100"), (9.996, "10.0"), (0.9996, "1.00"), (1e-12, "1e-12")])
def test_three_digits_after_rounding(value, text):
    assert quantity.number(value) == text


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (9_000, "2.5 h")])
def test_duration(seconds, text):
    assert quantity.duration_s(seconds) == text
