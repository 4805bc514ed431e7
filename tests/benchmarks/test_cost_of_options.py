"""The cost of options of vector environments and of pools: a line for each option, with a ratio to a plain one."""

import pytest

from benchmarks import cost_of_options


def test_each_option_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    few = {"TURNS": 2, "POOL_TURNS": 2, "BATCHES": 10, "ENVS": 2, "ENVIRONMENTS": {"CartPole-v1": 2}}
    for name, value in {**few, "POOLS": {"CartPole-v1": 2}}.items():
        monkeypatch.setattr(cost_of_options, name, value)
    cost_of_options.main()
    lines = [line.partition(": ") for line in capsys.readouterr().out.splitlines()]
    _, *options = cost_of_options.OPTIONS
    _, *kinds = cost_of_options.pools("CartPole-v1", 2)
    assert [title for title, _, _ in lines] == [
        *(f"CartPole-v1, {option}" for option in options),
        *(f"CartPole-v1 x 2, {kind}" for kind in kinds),
    ]
    assert all(float(told.split()[0]) > 0 for _, _, told in lines)


def test_a_ratio_is_to_the_plain_one_of_the_same_turn() -> None:
    plain, other = iter([10.0, 20.0, 40.0]), iter([30.0, 40.0, 40.0])
    found = cost_of_options.quartiles({"plain": plain.__next__, "other": other.__next__}, 3)
    assert {way: ratios.tolist() for way, ratios in found.items()} == {"other": [1.5, 2, 2.5]}
