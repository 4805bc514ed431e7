"""Environments that share something do in a vector what each does alone, if they are kept apart."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from reactorlib.gymnasium.isolation import Finding, Isolation, generators
from tests.reactorlib.gymnasium import culprits


def report(*found: str) -> Isolation:
    return Isolation("", tuple(Finding(culprit, 1, "reward") for culprit in found), (), (), (), 1, 0.0)


def walked(envs: Any, seeds: list[int], steps: int = 20) -> Any:
    """The observations of each environment, in a row of its own."""
    rows = [envs.reset(seed=seeds)[0]]
    rows += [envs.step(np.ones(len(seeds), int))[0] for _ in range(steps)]
    return np.array(rows).swapaxes(0, 1)


@pytest.mark.parametrize("isolate", ["generators", "processes", report("random", "numpy.random")])
@pytest.mark.parametrize("make", [culprits.UsesRandom, culprits.SeedsRandomItself, culprits.UsesNumpy])
def test_each_draws_what_it_draws_alone(vector: Any, make: Callable[[], Any], isolate: Any) -> None:
    together = walked(vector([make] * 3, isolate=isolate), [4, 5, 6])
    alone = walked(vector([make], isolate="generators", executor="inline"), [5])
    assert np.array_equal(together[1], alone[0])
    assert not np.array_equal(together[0], together[1])
    assert np.array_equal(together, walked(vector([make] * 3, isolate=isolate, workers=2), [4, 5, 6]))


def test_the_callers_generators_are_as_without_environments(vector: Any) -> None:
    pytest.importorskip("torch")
    generators.seed_all(1)
    np.random.normal()  # noqa: NPY002  # of two that it has drawn
    expected = generators.forms()
    assert len(expected) == 3
    for make in (culprits.UsesRandom, culprits.UsesNumpy, culprits.UsesTorch):
        envs = vector([make] * 2, isolate="generators", executor="inline")
        walked(envs, [1, 2])
        assert len(set(envs.call("draw"))) == 2
    assert generators.forms() == expected


@pytest.mark.parametrize("isolate", ["generators", "processes"])
def test_without_a_seed_each_draws_something_else(vector: Any, isolate: str) -> None:
    together = walked(vector([culprits.UsesRandom] * 2, isolate=isolate), [None, None])  # type: ignore[list-item]
    assert not np.array_equal(together[0], together[1])


@pytest.mark.parametrize("make", [culprits.CountsInItsClass, culprits.DrawsFromItsModule])
def test_state_of_a_class_or_module_takes_a_process_each(vector: Any, make: Callable[[], Any]) -> None:
    together = walked(vector([make] * 3, isolate="processes"), [1, 1, 1])
    assert np.array_equal(together[0], together[2])
    assert not np.array_equal(*walked(vector([make] * 2, executor="inline"), [1, 1]))


def test_a_spawned_process_does_not_begin_with_the_state_of_the_callers(vector: Any) -> None:
    report_of_state = report("class or module state")
    fresh = walked(vector([culprits.CountsInItsClass] * 2, isolate=report_of_state, start_method="spawn"), [1, 1], 3)
    culprits.CountsInItsClass.count += 1
    try:
        later = walked(
            vector([culprits.CountsInItsClass] * 2, isolate=report_of_state, start_method="spawn"), [1, 1], 3
        )
    finally:
        culprits.CountsInItsClass.count -= 1
    assert np.array_equal(fresh, later)


def test_hash_order_is_no_obstacle_where_it_is_fixed(vector: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in ("", "random"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        with pytest.raises(ValueError, match="PYTHONHASHSEED=0"):
            vector([culprits.Walk] * 2, isolate=report("hash order"))
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert vector([culprits.Walk] * 2, isolate=report("hash order"), executor="inline").num_envs == 2
    both = vector([culprits.Walk] * 2, isolate=report("hash order", "random"), executor="inline")
    assert both.env_fns[0].args[1] == ["random"]
    with pytest.raises(ValueError, match="mended"):
        vector([culprits.Walk] * 2, isolate=report("hash order", "time"))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (("hash order",), ["PYTHONHASHSEED"]),
        (("hash order", "random"), ["PYTHONHASHSEED", "'generators'"]),
        (("class or module state",), ["'processes'", "'spawn'"]),
        (("hash order", "time"), []),
        (("time",), []),
    ],
)
def test_a_report_says_what_to_do_until_it_is_mended(found: Any, words: list[str]) -> None:
    line = next((line for line in str(report(*found)).splitlines() if "until" in line), "")
    known = ["PYTHONHASHSEED", "'generators'", "'processes'", "'spawn'"]
    assert [word for word in known if word in line] == words


def test_a_check_chooses(vector: Any) -> None:
    assert vector([culprits.Walk] * 2, isolate=True, executor="inline").env_fns == [culprits.Walk] * 2
    envs = vector([culprits.UsesNumpy] * 2, isolate=True, executor="inline")
    assert envs.env_fns[0].args[1] == ["numpy.random"]


@pytest.mark.parametrize(
    ("found", "remedy", "one_process", "threads"),
    [
        ((), "none", True, True),
        (("reset",), "none", True, True),
        (("threads",), "none", True, False),
        (("random", "torch"), "generators", False, False),
        (("class or module state", "random"), "processes", False, False),
        (("time", "random"), None, False, False),
        (("hash order",), None, False, False),
    ],
)
def test_what_was_found_says_which_isolation_suffices(
    found: Any, remedy: Any, one_process: bool, threads: bool
) -> None:
    of = report(*found)
    assert (of.remedy, of.one_process, of.threads) == (remedy, one_process, threads)
    assert of.own_process == (remedy is not None)


@pytest.mark.parametrize(
    ("isolate", "executor", "match"),
    [
        (report("time"), "processes", "mended in the environment"),
        (report("threads"), "threads", "mended in the environment"),
        ("generators", "threads", "'threads' does not keep"),
        ("processes", "inline", "'inline' does not keep"),
        ("both", "processes", "got 'both'"),
    ],
)
def test_an_isolation_that_does_not_suffice_is_refused(vector: Any, isolate: Any, executor: str, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        vector([culprits.Walk] * 2, isolate=isolate, executor=executor)
