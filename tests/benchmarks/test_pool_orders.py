"""The throughput of a pool with each way to decide its batches: a line for each, compared with the plain pool."""

import sys

import pytest

from benchmarks import pool_orders


def test_each_way_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["pool_orders", "--envs", "2", "--turns", "2", "--batches", "10"])
    pool_orders.main()
    lines = capsys.readouterr().out.splitlines()
    with pool_orders.ways("CartPole-v1", 2) as ways:
        assert len(lines) == len(ways)
        for line, way in zip(lines, ways, strict=True):
            assert line.startswith(f"CartPole-v1 x 2, {way}: ")
    assert lines[0].endswith("1.00 of the plain pool, quartiles 1.00 to 1.00")


def test_a_ratio_is_of_speeds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["pool_orders", "--turns", "3"])
    times = iter([1.0, 2.0, 4.0, 1.0, 0.5] * 3)
    monkeypatch.setattr(pool_orders, "seconds_a_step", lambda made, batches: next(times))
    pool_orders.main()
    ratios = [float(line.partition(" of the plain")[0].split()[-1]) for line in capsys.readouterr().out.splitlines()]
    assert ratios == [1.0, 0.5, 0.25, 1.0, 2.0]
