"""The check of an environment names what it depends on, and accuses nobody else."""

from pathlib import Path

import pytest

from reactorlib.gymnasium.isolation import check_isolation

HERE = Path(__file__).with_name("culprits.py")
GUILTY = {
    "UsesRandom": "random",
    "SeedsRandomItself": "random",
    "UsesNumpy": "numpy.random",
    "UsesTorch": "torch",
    "CountsInItsClass": "class or module state",
    "DrawsFromItsModule": "class or module state",
    "SharesAList": "class or module state",
    "ReadsTheTime": "time",
    "ReadsTheDate": "time",
    "MeasuresItsStep": "time",
    "UsesItsProcess": "process id",
    "FollowsASet": "hash order",
    "HashesAName": "hash order",
    "HasNoSeed": "entropy",
    "NamesItself": "entropy",
    "ContinuesAFile": "files",
    "KeepsItsEpisode": "reset",
    "MindsItsThread": "threads",
    "UsesItsAddress": "other",
}


@pytest.mark.parametrize("name", GUILTY)
def test_the_culprit_is_named_and_no_other(name: str) -> None:
    found = check_isolation(f"{HERE}:{name}", steps=40, limit_s=110)
    assert (*found.culprits, *found.unchecked) == (GUILTY[name],)
    assert not found.is_isolated


CLEAN = [
    *("CartPole-v1", "Pendulum-v1", "FrozenLake-v1", "Blackjack-v1", "Taxi-v4", "ale_py:ALE/Pong-v5"),
    *(f"{HERE}:{name}" for name in ("Walk", "PacesItself", "WritesALog", "HasItsOwnRandom", "SharesATable", "SortsASet",
                                    "TellsTheTime", "DrawsForNothing", "recorded")),
]  # fmt: skip


@pytest.mark.parametrize("name", CLEAN, ids=lambda name: name.rpartition(":")[2])
def test_nobody_is_accused_falsely(name: str) -> None:
    found = check_isolation(name, steps=40, limit_s=110)
    assert found.findings == ()
    assert found.unchecked == ()
    assert found.remedy == "none"
