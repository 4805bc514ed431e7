"""A saved state goes on, bit for bit, in another vector environment or pool. An error names a state that cannot be
saved.
"""

import functools
import random
import threading
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import AlreadyPendingCallError
from gymnasium.utils import EzPickle

from reactorlib.gymnasium import ReactorPool, ReactorVectorEnv, ResumeError
from reactorlib.gymnasium.contract import difference, probes
from reactorlib.gymnasium.saving import Journal, opened
from tests.reactorlib.gymnasium.environments import WAYS, failing, made
from tests.reactorlib.gymnasium.random_pools import run
from tests.reactorlib.gymnasium.test_isolate import report


class Closed(probes.Quiet):
    """Cannot be pickled."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.lock = threading.Lock()


class Eased(probes.Quiet, EzPickle):
    """Its pickle has the arguments of its constructor."""

    def __init__(self, number: int) -> None:
        EzPickle.__init__(self, number)
        super().__init__(number)


class Global(probes.Quiet):
    """Draws from a generator that is not its own."""

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return (observation, reward + random.random(), *rest)


class Unlike(Global, Closed):
    """Cannot be pickled either."""


class Weird(Closed):
    """Adds what was set or called to its rewards."""

    bonus = 0.0

    def add(self, bonus: float) -> None:
        self.bonus += bonus

    def step(self, action: Any) -> Any:
        observation, reward, *rest = super().step(action)
        return (observation, reward + self.bonus, *rest)


def several(kind: Any, count: int = 3) -> Any:
    return [functools.partial(kind, number) for number in range(count)]


def steps(envs: Any, count: int = 25) -> list[Any]:
    return [envs.step(envs.action_space.sample()) for _ in range(count)]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [made("infos of every kind"), made("Text"), several(Closed), several(Eased)])
def test_a_vector_goes_on_from_its_state(vector: Any, make: Any, way: str) -> None:
    ours = vector(make, resumable=True, **WAYS[way])
    ours.action_space.seed(1)
    ours.reset(seed=4)
    steps(ours)
    state = ours.save()
    expected = steps(ours)
    again = vector(make, resumable=True, workers=2)
    again.reset()
    steps(again, 3)
    again.restore(state)
    middle = steps(again, 10)
    assert difference(middle, expected[:10], "steps") is None
    last = vector(make, resumable=True, executor="inline")
    last.restore(again.save())
    assert difference(steps(last, 15), expected[10:], "steps") is None
    assert difference(last.reset(), ours.reset(), "reset") is None


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_a_state_holds_the_last_observations_and_ends(vector: Any, mode: str) -> None:
    ours, again = (vector(made("no infos", 5), autoreset_mode=mode, workers=2) for _ in range(2))
    ours.reset(seed=4)
    ended = np.zeros(5, bool)
    while not ended.any():
        *_, terminations, truncations, _ = ours.step(np.zeros(5, int))
        ended = terminations | truncations
    again.restore(ours.save())
    options = {"reset_mask": ended} if mode == "Disabled" else None
    both = [(envs.reset(options=options), envs.step(np.zeros(5, int))) for envs in (ours, again)]
    assert difference(both[1], both[0], "reset and step") is None


@pytest.mark.parametrize("way", [{"executor": "inline"}, {"workers": 2}])
def test_ends_are_those_of_the_state_where_nobody_resets(vector: Any, way: dict[str, Any]) -> None:
    ours = vector(made("no infos", 5), autoreset_mode="Disabled", **way)
    ours.reset(seed=4)
    begun, ended = ours.save(), False
    while not ended:
        *_, terminations, truncations, _ = ours.step(np.zeros(5, int))
        ended = bool((terminations | truncations).any())
    state = ours.save()
    ours.restore(begun)
    ours.step(np.zeros(5, int))
    ours.restore(state)
    counts = ours.get_attr("count")
    with pytest.raises(AssertionError, match="the episode has ended"):
        ours.step(np.zeros(5, int))
    assert ours.get_attr("count") == counts


def test_batches_that_the_user_keeps_stay_as_they_are(vector: Any) -> None:
    ours = vector(made("images"), workers=2)
    ours.reset(seed=1)
    state = ours.save()
    kept = [ours.step(np.zeros(3, int))[0] for _ in range(3)]
    copies = [one.copy() for one in kept]
    ours.restore(state)
    assert difference(kept, copies, "batches") is None
    assert difference(ours.step(np.zeros(3, int))[0], copies[0], "step") is None


class Tried(Closed):
    """Raises if its action is 2."""

    def step(self, action: Any) -> Any:
        result = super().step(action)
        return result if action < 2 else 1 / 0


def test_a_state_after_an_exception_is_reached_again(vector: Any) -> None:
    ours, again = (vector(several(Tried), resumable=True, workers=2) for _ in range(2))
    ours.reset(seed=1)
    with pytest.raises(ZeroDivisionError):
        ours.step(np.array([1, 2, 1]))
    ours.reset(seed=2)
    ours.step(np.ones(3, int))
    again.restore(ours.save())
    both = [envs.step(np.ones(3, int)) for envs in (ours, again)]
    assert difference(both[1], both[0], "step") is None


def test_a_state_before_the_first_reset_is_that_of_the_constructor(vector: Any) -> None:
    ours, again = (vector(made("no infos"), resumable=True, workers=2) for _ in range(2))
    ours.set_attr("number", 5)
    again.restore(ours.save())
    assert again.get_attr("number") == (5, 5, 5)


def test_what_was_set_and_called_is_done_again(vector: Any) -> None:
    ours, again = (vector(several(Weird), resumable=True, workers=2) for _ in range(2))
    ours.set_attr("bonus", [100.0, 200.0, 300.0])
    ours.reset(seed=1)
    steps(ours, 3)
    ours.call("add", 1000.0)
    steps(ours, 3)
    again.restore(ours.save())
    assert again.get_attr("bonus") == (1100.0, 1200.0, 1300.0)
    ours.action_space.seed(1)
    again.action_space.seed(1)
    assert difference(steps(again), steps(ours), "steps") is None


def test_equal_environments_have_one_state_whatever_vector_they_are_in(vector: Any) -> None:
    contents = set()
    for _ in range(2):
        envs = vector(several(probes.Quiet), executor="inline")
        envs.reset(seed=3)
        contents.add(tuple(one.content for one in opened(envs.save(), envs).environments))
    assert len(contents) == 1


def test_actions_are_kept_only_where_there_is_no_pickle() -> None:
    for make, are_kept in ((several(Closed)[0], True), (made("no infos")[0], False)):
        env = Journal(make)
        env.reset(seed=1)
        env.step(0)
        assert (env.entries is not None) is are_kept
        env.close()


@pytest.mark.parametrize(
    ("make", "resumable", "seed", "match"),
    [(Closed, False, 1, "resumable"), (Eased, False, 1, "EzPickle"), (Closed, True, None, "seed")],
)
def test_environments_that_cannot_be_saved_are_named(
    vector: Any, make: Any, resumable: bool, seed: Any, match: str
) -> None:
    functions = [*made("no infos", 2), functools.partial(make, 2)]
    for kind, options in ((ReactorVectorEnv, {"executor": "inline"}), (ReactorPool, {"workers": 2})):
        ours = vector(functions, kind=kind, resumable=resumable, **options)
        ours.reset(seed=seed)
        with pytest.raises(ResumeError, match=match) as raised:
            ours.save()
        assert raised.value.environments == [2]
        assert make.__name__ in str(raised.value)
        ours.step(np.zeros(3, int))


def test_a_state_that_is_not_reached_again_is_refused_and_a_reset_goes_on(vector: Any) -> None:
    make = [*several(Closed, 2), functools.partial(Unlike, 2)]
    for kind in (ReactorVectorEnv, ReactorPool):
        ours, again = (vector(make, kind=kind, resumable=True, workers=2) for _ in range(2))
        ours.reset(seed=1)
        steps(ours, 3)
        with pytest.raises(ResumeError, match="Unlike") as raised:
            again.restore(ours.save())
        assert raised.value.environments == [2]
        again.reset(seed=1)
        steps(again, 3)


def test_a_pickle_without_the_generator_is_refused_and_one_with_it_goes_on(vector: Any) -> None:
    ours = vector(several(Global, 2), workers=1, caller_steps=False)
    ours.reset(seed=1)
    steps(ours, 1)
    with pytest.raises(ResumeError, match="random") as raised:
        ours.save()
    assert raised.value.environments == [0, 1]
    ours, again = (vector(several(Global, 2), workers=1, caller_steps=False, isolate="generators") for _ in range(2))
    ours.reset(seed=1)
    steps(ours, 3)
    again.restore(ours.save())
    assert difference(steps(again), steps(ours), "steps") is None


@pytest.mark.parametrize("other", ["processes", "generators"])
@pytest.mark.parametrize("resumable", [False, True])
@pytest.mark.parametrize("make", [several(Global, 2), made("no infos", 2)])
def test_environments_in_processes_of_their_own_are_saved_with_their_generators(
    vector: Any, make: Any, resumable: bool, other: str
) -> None:
    ours = vector(make, isolate="processes", resumable=resumable)
    ours.action_space.seed(1)
    ours.reset(seed=1)
    steps(ours, 3)
    state = ours.save()
    expected = steps(ours)
    again = vector(make, isolate=other, resumable=resumable)
    for envs in (ours, again):
        envs.restore(state)
        assert difference(steps(envs, 10), expected[:10], "steps") is None
    last = vector(make, isolate="processes", resumable=resumable)
    last.restore(again.save())
    assert difference(steps(last, 15), expected[10:], "steps") is None


def test_a_generator_that_no_one_has_for_itself_is_refused_in_a_process_of_its_own(vector: Any) -> None:
    ours = vector(several(Global, 2), isolate=report("class or module state", "numpy.random"))
    ours.reset(seed=1)
    steps(ours, 1)
    with pytest.raises(ResumeError, match=r"draws from random,"):
        ours.save()


def test_environments_that_are_refused_alike_are_named_once_by_their_own_name(vector: Any) -> None:
    ours = vector(several(Closed), isolate="generators", resumable=True, workers=2)
    ours.reset()
    with pytest.raises(ResumeError) as raised:
        ours.save()
    assert raised.value.environments == [0, 1, 2]
    text = str(raised.value)
    assert text.count("Closed") == 1
    assert "environments 0, 1, 2" in text
    assert not [name for name in ("Journal", "OwnGenerators") if name in text]


def test_a_state_by_actions_needs_an_environment_that_is_resumable(vector: Any) -> None:
    ours = vector(several(Closed), resumable=True, workers=1)
    ours.reset(seed=1)
    with pytest.raises(ResumeError, match="resumable=True") as raised:
        vector(several(Closed), workers=1).restore(ours.save())
    assert raised.value.environments == [0, 1, 2]


def test_states_of_others_are_refused(vector: Any) -> None:
    ours, pool = vector(made("no infos", 3), workers=1), vector(made("no infos", 3), kind=ReactorPool, workers=1)
    ours.reset(seed=1)
    pool.reset_async(seed=1)
    state, of_pool = ours.save(), pool.save()
    with pytest.raises(AlreadyPendingCallError):
        pool.restore(of_pool)
    pool.recv()
    for wrong, where in (
        (state, vector(made("no infos", 2), workers=1)),
        (state, vector(made("no infos", 3), workers=1, autoreset_mode="SameStep")),
        (state[:-1], ours),
        (b"", ours),
        (state, pool),
        (of_pool, ours),
        (of_pool, vector(made("no infos", 3), kind=ReactorPool, order="logical", durations=[1, 1, 1])),
    ):
        with pytest.raises(ValueError, match="state"):
            where.restore(wrong)
    ours.restore(pool.save())  # nothing of it pends
    ours.step_async(np.zeros(3, int))
    for call in (ours.save, lambda: ours.restore(state)):
        with pytest.raises(AlreadyPendingCallError):
            call()
    ours.step_wait()


def test_a_pool_is_saved_with_what_was_not_received(vector: Any) -> None:
    ours, again = (vector(made("Dict", 4), kind=ReactorPool, workers=2) for _ in range(2))
    ours.reset_async(seed=1)
    run(ours, 5, [1])
    again.restore(ours.save())
    assert difference(again.recv(), ours.recv(), "batch") is None


def test_a_pool_that_has_failed_is_restored(vector: Any) -> None:
    ours = vector(failing("step", "raise"), kind=ReactorPool, workers=2)
    ours.reset(seed=1)
    state, expected = ours.save(), ours.step(np.zeros(4, int))
    with pytest.raises(ZeroDivisionError):
        ours.step(np.full(4, 2))
    with pytest.raises(RuntimeError, match="reset"):
        ours.save()
    ours.restore(state)
    assert difference(ours.step(np.zeros(4, int)), expected, "step") is None


def test_an_environment_of_gymnasium_and_one_of_ale_go_on(vector: Any) -> None:
    ale = pytest.importorskip("ale_py")
    gymnasium.register_envs(ale)
    for name in ("CartPole-v1", "ALE/Pong-v5"):
        make = [functools.partial(gymnasium.make, name)] * 2
        ours, again = (vector(make, resumable=True, workers=2) for _ in range(2))
        ours.reset(seed=3)
        steps(ours, 60)
        again.restore(ours.save())
        assert difference(steps(again, 30), steps(ours, 30), name) is None
