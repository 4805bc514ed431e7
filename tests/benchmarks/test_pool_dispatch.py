"""The pool compared with TorchRL's dispatch: each way makes rounds, and a series ends with the best way."""

from functools import partial

import pytest

from benchmarks import pool_dispatch, ray_options
from benchmarks.meter import Meter
from benchmarks.pool_dispatch import POOL, SERIES, TORCHRL, Series, Waiting
from tests.harness.runs import engine
from tests.reactorlib.scripts import printed


def test_a_series_ends_with_the_best_way_and_a_failure_is_reported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow, fast, failing = list(TORCHRL)[:3]
    round_ns = {POOL: 500, slow: 2_000, fast: 1_000}
    monkeypatch.setattr(ray_options.block, "run", engine(lambda name: round_ns.get(name, 4_000), failing))
    assert pool_dispatch.main(["3"]) == 0
    printed = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for way, told in {slow: "4.00x", fast: "2.00x", failing: "no memory", "the best of these": "2.00x"}.items():
        lines = [line.removeprefix(way).strip() for line in printed if line.startswith(f"{way}  ")]
        assert [line.startswith(told) for line in lines] == [True] * len(SERIES)


def test_the_pool_makes_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Series("", [partial(Waiting, 0.0, 0.0, 2)] * 4, 2)
    monkeypatch.setitem(SERIES, "short", made)
    monkeypatch.setattr(pool_dispatch.multiprocessing, "set_start_method", lambda *_, **__: None)
    meter = Meter(1, 2, laps=2)
    pool_dispatch.run(meter, POOL, "short")
    assert meter.next_lap() == 0


@pytest.mark.real
@pytest.mark.parametrize("way", TORCHRL)
def test_torchrl_makes_rounds(way: str) -> None:
    pytest.importorskip("torchrl")

    code = f"from benchmarks.pool_dispatch import *; run(Meter(1, 2, laps=2), {way!r}, 'cheap')"
    printed("-c", code, timeout=300)
