"""Numbers as a reader wants them, in tables and figures."""

import pytest

from harness import quantity

TOLD = {
    quantity.number: [(99.96, "100"), (9.996, "10.0"), (0.9996, "1.00"), (1e-12, "1e-12")],
    quantity.duration_s: [(0.4, "0 s"), (89, "89 s"), (600, "10 min"), (9_000, "2.5 h")],
    quantity.times: [(0.0021, "0.002x"), (0.0123, "0.01x"), (1.234, "1.23x"), (12.34, "12.3x"), (123.4, "123x")],
    quantity.compact: [(0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (62, "62.0"), (999.6, "1.00k"), (4.2e9, "4.20G")],
    quantity.tick: [(0, "0"), (0.5, "0.5"), (250, "250"), (1500, "1.5k"), (1e6, "1M")],
    quantity.duration: [(130, "130 ns"), (999_900, "1.00 ms"), (10.2e6, "10.2 ms"), (9e10, "90.0 s")],
    quantity.duration_tick: [(0, "0"), (20_000, "20 µs")],
    quantity.size: [(8, "8 B"), (1000, "1 kB"), (100_800, "98.4 KiB"), (1024, "1 KiB"), (1023 * 2**10, "1023 KiB"),
                    (10 * 2**20, "10 MiB"), (3_000_000, "3 MB"), (3_000_001, "2.86 MiB")],
}  # fmt: skip


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [pytest.param(write, *case, id=f"{write.__name__}-{case[0]}") for write, cases in TOLD.items() for case in cases],
)
def test_a_number_in_digits_that_mean_something(write, value, text):
    assert write(value) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ns", "0 ns"),
        (1_234, "ns", "1.23 us"),
        (-45_600_000, "ns", "-45.6 ms"),
        (3e12, "ns", "50.0 min"),
        (2_500, "ns/step", "2.50 us/step"),
        (2**20 * 40.5, "bytes", "40.5 MiB"),
        (999.96, "bytes", "1,000 bytes"),
        (1234567.8, "steps/s", "1,234,568 steps/s"),
        (0.0123, "steps/s", "0.0123 steps/s"),
    ],
)
def test_a_value_has_the_unit_in_which_it_reads_best(value, unit, text):
    assert quantity.show(value, unit) == text


@pytest.mark.parametrize(
    ("low", "high", "most", "ticks"),
    [
        (1, 100, 9, [1, 2, 5, 10, 20, 50, 100]),
        (1, 100, 5, [1, 3, 10, 30, 100]),
        (1, 1e6, 4, [1, 1e2, 1e4, 1e6]),
        (40, 45, 5, []),
    ],
)
def test_ticks_are_round_and_few(low, high, most, ticks):
    assert quantity.ticks(low, high, most) == pytest.approx(ticks)


def test_a_setting_in_words():
    setting = {"actors": 15, "epsilon": 0.1, "object_bytes": 10 * 2**20, "steps_per_message": 1, "work_seconds": 0.5}
    told = ["15 actors", "epsilon 0.1", "10 MiB objects", "1 step per message", "0.5 s of simulated work"]
    assert [quantity.parameter(name, value) for name, value in setting.items()] == told
