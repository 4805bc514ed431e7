"""Seeds of environments, by both rules, and the streams that two runs share."""

from typing import Any

import gymnasium
import numpy as np
import pytest

from reactorlib.cli.seeds import overlaps
from reactorlib.gymnasium.seeding import seeds_of


@pytest.mark.parametrize("seed", [0, 7, np.int64(7), 2**40])
def test_spawned_seeds_are_those_of_numpys_children(seed: int) -> None:
    found = seeds_of(seed, 50, "spawn")
    children = np.random.SeedSequence(int(seed)).spawn(50)
    assert found == [int(child.generate_state(8)[0]) for child in children]
    assert found[:20] == seeds_of(seed, 20, "spawn")
    assert len(set(found)) == 50


def test_a_word_that_is_taken_is_not_given_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    class Alike(np.random.SeedSequence):
        def spawn(self, n_children: int) -> Any:
            return [np.random.SeedSequence(1)] * n_children

    monkeypatch.setattr(np.random, "SeedSequence", Alike)
    assert len(set(seeds_of(0, 8, "spawn"))) == 8


@pytest.mark.parametrize("rule", ["consecutive", "spawn"])
def test_none_and_lists_are_kept(rule: str) -> None:
    assert seeds_of(None, 2, rule) == [None, None]
    assert seeds_of([5, None], 2, rule) == [5, None]
    with pytest.raises(ValueError, match="num_envs=2 but got length=1"):
        seeds_of([5], 2, rule)


def test_neighbouring_runs_share_all_streams_but_one_unless_seeds_are_spawned() -> None:
    def shared(seeds: Any, rule: str) -> list[tuple[int, ...]]:
        return [(*one.values(),) for one in overlaps([(seed, seeds_of(seed, 16, rule)) for seed in seeds])]

    assert shared([0, 1, 20], "consecutive") == [(0, 1, 15)]
    assert shared(range(20), "spawn") == []
    assert shared([3, 3], "spawn") == [(3, 3, 16)]


def test_a_vector_environment_gives_them(vector: Any) -> None:
    make = [lambda: gymnasium.make("CartPole-v1")] * 3
    spawned, listed = vector(make, seeds="spawn", workers=2), vector(make, executor="inline")
    observations = [spawned.reset(seed=3)[0], listed.reset(seed=seeds_of(3, 3, "spawn"))[0]]
    assert np.array_equal(*observations)
    assert not np.array_equal(observations[0], listed.reset(seed=3)[0])
    with pytest.raises(ValueError, match="'consecutive' or 'spawn', got 'random'"):
        vector(make, seeds="random")
