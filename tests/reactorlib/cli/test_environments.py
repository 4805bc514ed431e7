"""The commands for environments."""

import json

import pytest

pytest.importorskip("gymnasium")


def test_seeds_that_share_streams_are_named_and_end_with_1(call):
    done = call("seeds", "0", "1", "2", "--envs", "16", "--json")
    assert done.code == 1
    assert json.loads(done.out)["overlaps"][0] == {"one": 0, "other": 1, "streams": 15}
    assert call("seeds", "0", "1", "2", "--envs", "16", "--rule", "spawn").code == 0
    assert call("seeds", "0", "16", "32", "--envs", "16").code == 0
    assert len(call("seeds", *map(str, range(30)), "--envs", "16").out.splitlines()) == 12
    assert call("seeds", "-1", "--envs", "16").code == 2


def test_runners_of_rllib_share_streams_within_a_run(call):
    done = call("seeds", "0", "--envs", "8", "--rule", "rllib", "--runners", "2", "--json")
    assert done.code == 1
    assert json.loads(done.out)["overlaps"] == [
        {"one": "runner 1 of seed 0", "other": "runner 2 of seed 0", "streams": 7}
    ]
    assert call("seeds", "0", "8", "--envs", "8", "--rule", "rllib").code == 0
    assert call("seeds", "0", "1", "--envs", "4", "--rule", "stable-baselines3").code == 1
    assert call("seeds", "0", "--envs", "4", "--runners", "2").code == 2


CULPRITS = "tests/reactorlib/gymnasium/culprits.py"


@pytest.mark.parametrize(("name", "code", "remedy"), [("Walk", 0, "none"), ("UsesRandom", 1, "generators")])
def test_the_check_of_an_environment_ends_with_1_where_something_is_found(call, name, code, remedy):
    done = call("check-isolation", f"{CULPRITS}:{name}", "--steps", "5", "--json")
    assert done.code == code
    assert json.loads(done.out)["remedy"] == remedy


@pytest.mark.parametrize("name", ["Nope-v1", "nope.py:Env", f"{CULPRITS}:Nope"])
def test_an_environment_that_cannot_be_made_is_a_mistake_in_the_call(call, name):
    done = call("check-isolation", name)
    assert done.code == 2
    assert name.rpartition(":")[0] in done.err
