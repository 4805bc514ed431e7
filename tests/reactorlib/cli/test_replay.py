"""`python -m reactorlib replay` shows a step of one environment as the pool had it, or how it differs."""

import functools
import json
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("gymnasium")

from reactorlib.cli import main
from reactorlib.gymnasium import ReactorPool
from reactorlib.gymnasium.contract import probes
from reactorlib.gymnasium.pool import replayed_step
from tests.reactorlib.gymnasium.environments import made
from tests.reactorlib.gymnasium.random_pools import run


class Moody(probes.Quiet):
    """Has other rewards in another process."""

    made = 0

    def __init__(self, number: int) -> None:
        super().__init__(number)
        Moody.made += 1
        self.bonus = Moody.made

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return (observation, reward + self.bonus, *rest)


def recorded(path: Path, make: Any, state: bytes | None = None) -> tuple[list[Any], bytes]:
    pool = ReactorPool(make, workers=2, executor="threads", record=path)
    if state is None:
        pool.reset_async(seed=1)
    else:
        pool.restore(state)
    log = run(pool, 30, [2])
    state = pool.save()
    pool.close()
    return log, state


def steps_of(log: list[Any], environment: int) -> list[tuple[Any, Any, Any, Any]]:
    """Observation, reward and ends of each of its results."""
    return [
        tuple(column[ids.index(environment)] for column in columns)
        for *columns, infos in log
        if environment in (ids := infos["env_id"].tolist())
    ]


@pytest.mark.parametrize("probe", ["no infos", "infos of every kind"])
def test_a_step_is_shown_as_it_was(tmp_path: Path, probe: str) -> None:
    log, state = recorded(tmp_path / "first", made(probe, 4))
    for environment in (0, 3):
        for step, (observation, *rest) in enumerate(steps_of(log, environment)):
            found = replayed_step(tmp_path / "first", environment, step)
            assert found.observation.tolist() == observation.tolist()
            assert [found.reward, found.terminated, found.truncated] == rest
            assert found.differences == []
            assert (found.action is None) is (step == 0)
    log, _ = recorded(tmp_path / "second", made(probe, 4), state)
    observation, reward, *_ = steps_of(log, 2)[3]
    found = replayed_step(tmp_path / "second", 2, 3)  # the first result was under way when the state was saved
    assert (found.observation.tolist(), found.reward, found.differences) == (observation.tolist(), reward, [])


def test_the_command_shows_a_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log, _ = recorded(tmp_path / "record", made("no infos", 4))
    assert main(["replay", str(tmp_path / "record"), "--env", "1", "--step", "2", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["reward"] == steps_of(log, 1)[2][1]
    assert main(["replay", str(tmp_path / "record"), "--env", "1", "--step", "2"]) == 0
    assert "as in the record" in capsys.readouterr().out


def test_a_step_that_is_not_as_it_was_is_a_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recorded(tmp_path / "record", [functools.partial(Moody, number) for number in range(3)])
    assert main(["replay", str(tmp_path / "record"), "--env", "1", "--step", "1", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["differences"] == ["reward"]
    assert main(["replay", str(tmp_path / "record"), "--env", "1", "--step", "1"]) == 1
    told = capsys.readouterr()
    assert "as in the record" not in told.out
    assert told.err.strip().endswith("step 1 is not as in the record: reward")


@pytest.mark.parametrize(("arguments", "match"), [("--env 4 --step 1", "0 to 3"), ("--env 1 --step 99", "steps")])
def test_steps_that_the_record_does_not_have_are_refused(
    tmp_path: Path, arguments: str, match: str, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded(tmp_path / "record", made("no infos", 4))
    assert main(["replay", str(tmp_path / "record"), *arguments.split()]) == 2
    assert match in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "none"), *arguments.split()]) == 2


def test_functions_that_cannot_be_pickled_are_not_in_the_record(tmp_path: Path) -> None:
    lock = threading.Lock()
    recorded(tmp_path / "record", [lambda: lock and probes.Quiet(1)] * 2)
    with pytest.raises(ValueError, match="lock"):
        replayed_step(tmp_path / "record", 0, 1)
