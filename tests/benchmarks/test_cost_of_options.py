"""The cost of options of a vector environment: a line for each option, with a ratio of processor times."""

import pytest

from benchmarks import cost_of_options


def test_each_option_has_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"TURNS": 2, "ENVS": 2, "ENVIRONMENTS": {"CartPole-v1": 2}}.items():
        monkeypatch.setattr(cost_of_options, name, value)
    cost_of_options.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in lines] == [f"CartPole-v1, {one}" for one in cost_of_options.OPTIONS]
    assert all(float(line.partition(": ")[2].split()[0]) > 0 for line in lines)


def test_a_ratio_is_of_the_option_to_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"TURNS": 4, "ENVIRONMENTS": {"CartPole-v1": 1}}.items():
        monkeypatch.setattr(cost_of_options, name, value)
    times: dict[object, int] = {}  # in each pair, the plain vector is stepped first
    monkeypatch.setattr(cost_of_options, "turn", lambda envs, *_: times.setdefault(envs, 30 if len(times) % 2 else 10))
    cost_of_options.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[2] for line in lines] == ["3.000 [3.000, 3.000] times as long"] * len(lines)
    assert lines
