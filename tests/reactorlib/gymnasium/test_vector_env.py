"""ReactorVectorEnv against SyncVectorEnv, on every executor; and what it makes of environments that fail."""

import functools
import gc
import multiprocessing
import os
import random
import signal
import threading
import time
from contextlib import suppress
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reactorlib.gymnasium
from reactorlib import WorkerError
from reactorlib.gymnasium import EnvironmentTimeoutError, ReactorPool, ReactorVectorEnv, check_vector_env
from reactorlib.gymnasium.contract import difference, find_all_faults, find_faults, probes
from tests.choice import first
from tests.reactorlib.executors.conftest import PATIENCE_S
from tests.reactorlib.gymnasium.environments import WAYS, Held, failing, made
from tests.reactorlib.scripts import python

MODES = list(AutoresetMode)
CLASSIC = ["CartPole-v1", "Pendulum-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Acrobot-v1"]
TOYS = ["Blackjack-v1", "CliffWalking-v1", "FrozenLake-v1", "Taxi-v4"]
GAMES = ["ALE/Pong-v5", "ALE/Breakout-v5", "ALE/SpaceInvaders-v5"]
ENVIRONMENTS = [*(CLASSIC[0], TOYS[0], GAMES[0]), *CLASSIC[1:], *TOYS[1:], *GAMES[1:]]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pids(env: ReactorVectorEnv) -> list[int]:
    processes = getattr(env._groups.session._execution.executor, "processes", {})
    return [process.pid for process in processes.values()]


@pytest.mark.parametrize("way", first(1, WAYS, "every probe on every executor; one of them is always tried"))
def test_the_checker_finds_nothing(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way not in ("inline", "three"):  # the others meet a few, and any in the test with random ones
        few = ("infos of every kind", "images", "Dict", "Text in a Dict", "observations in one buffer")
        monkeypatch.setattr(
            "reactorlib.gymnasium.contract.vector_check.PROBES", {name: probes.PROBES[name] for name in few}
        )
    assert find_all_faults(functools.partial(ReactorVectorEnv, **WAYS[way]), steps=10) == []


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("probe", first(1, ["images", "Text in a Dict"], "two kinds of space; one is always tried"))
def test_every_way_to_start_processes_works(context: str, probe: str) -> None:
    assert find_faults(ReactorVectorEnv(made(probe), workers=2, start_method=context), steps=10) == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", first(2, ENVIRONMENTS, "every environment; two are always tried"))
def test_trajectories_of_environments_are_those_of_sync(name: str, mode: AutoresetMode) -> None:
    if name in GAMES:
        gymnasium.register_envs(pytest.importorskip("ale_py"))
    env = reactorlib.gymnasium.make_vec(name, 3, vector_kwargs={"autoreset_mode": mode, "workers": 2})
    assert find_faults(env, steps=3 if name in GAMES else 60, seed=4) == []


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    probe=st.sampled_from([name for name in probes.PROBES if name not in probes.TWINS]),
    way=st.sampled_from(sorted(WAYS)),
    mode=st.sampled_from(MODES),
    copy=st.booleans(),
    seed=st.one_of(st.none(), st.integers(0, 1000), st.lists(st.integers(0, 99), min_size=3, max_size=3)),
    acts=st.lists(
        st.sampled_from(["step", "step", "step", "reset", "mask", "seeded mask", "async", "call"]), max_size=25
    ),
)
def test_random_uses_are_those_of_sync(
    probe: str, way: str, mode: AutoresetMode, copy: bool, seed: Any, acts: list[str]
) -> None:
    ours = ReactorVectorEnv(made(probe), copy=copy, autoreset_mode=mode, **WAYS[way])
    sync = SyncVectorEnv(made(probe), copy=copy, autoreset_mode=mode)
    sync.action_space.seed(3)
    try:
        sync.reset(seed=5), ours.reset(seed=5)  # a reset without a seed goes on from here
        both = [env.reset(seed=seed) for env in (ours, sync)]
        for act in acts:
            assert difference(*both, act) is None
            if act in ("step", "async") and not (mode is AutoresetMode.DISABLED and np.any(sync._autoreset_envs)):
                actions = sync.action_space.sample()
                if act == "async":
                    ours.step_async(actions)
                both = [ours.step_wait() if act == "async" else ours.step(actions), sync.step(actions)]
            elif act == "call":
                both = [env.get_attr("count") for env in (ours, sync)]
            elif "mask" in act:
                seeds, mask = [7, None, 9] if act == "seeded mask" else None, np.array([True, False, True])
                both = [env.reset(seed=seeds, options={"reset_mask": mask}) for env in (ours, sync)]
            else:
                both = [env.reset() for env in (ours, sync)]
        assert difference(*both, "the end") is None
    finally:
        ours.close()
        sync.close()


@pytest.mark.parametrize("wrapper", ["RecordEpisodeStatistics", "NormalizeObservation", "NormalizeReward"])
def test_wrappers_see_what_they_see_of_sync(vector: Any, wrapper: str) -> None:
    wrap = getattr(gymnasium.wrappers.vector, wrapper)
    make = [functools.partial(gymnasium.make, "CartPole-v1")] * 4
    ours, sync = wrap(vector(make, workers=2)), wrap(SyncVectorEnv(make))
    both = [env.reset(seed=1) for env in (ours, sync)]
    sync.action_space.seed(1)
    for _ in range(100):
        for result in both:
            assert isinstance(result[-1], dict)
            if "episode" in result[-1]:
                result[-1]["episode"].pop("t")
        assert difference(*both, wrapper) is None
        actions = sync.action_space.sample()
        both = [env.step(actions) for env in (ours, sync)]


def test_spaces_may_differ(vector: Any) -> None:
    def make(high: float) -> Any:
        return probes.Probe(0, spaces.Box(-high, high, (2,), np.float32))

    functions = [functools.partial(make, high) for high in (1.0, 2.0, 3.0)]
    with pytest.raises(RuntimeError, match="observation spaces"):
        ReactorVectorEnv(functions, workers=2)
    assert find_faults(ReactorVectorEnv(functions, workers=2, observation_mode="different"), steps=10) == []
    single, both = (spaces.Box(-9, 9, shape, np.float32) for shape in ((2,), (3, 2)))
    env = vector(functions, workers=2, observation_mode=(both, single))
    assert (env.observation_space, env.single_observation_space) == (both, single)
    assert env.reset(seed=1)[0].shape == (3, 2)


@pytest.mark.parametrize("options", [{"observation_mode": "all"}, {"autoreset_mode": "never"}, {"workers": 0},
                                     {"max_concurrency": -1}, {"worker": print}])  # fmt: skip
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        ReactorVectorEnv(made("no infos"), **options)


def test_actions_spaces_must_be_the_same() -> None:
    functions = [functools.partial(probes.Probe, 0, None, spaces.Discrete(n)) for n in (2, 3)]
    with pytest.raises(RuntimeError, match="different from `Discrete"):
        ReactorVectorEnv(functions, workers=2)


def test_batches_are_lent_for_as_long_as_they_are_kept(vector: Any) -> None:
    env = vector(made("images"), workers=2)
    assert len(env._groups.leases) > 0
    kept = [env.reset(seed=1)[0], *(env.step(np.zeros(3, np.int64))[0] for _ in range(20))]
    copies = [array.copy() for array in kept]
    assert len({array.__array_interface__["data"][0] for array in kept}) == len(kept)
    last = kept[-1]
    kept[5:] = []
    for array, copy in zip([*kept, last], [*copies[:5], copies[-1]], strict=True):
        np.testing.assert_array_equal(array, copy)
        array[...] = 0  # it is the user's
    env.close()
    np.testing.assert_array_equal(last, 0)  # also after the end


def test_without_copy_observations_lie_in_one_place(vector: Any) -> None:
    env = vector(made("images"), workers=2, copy=False)
    assert np.shares_memory(env.reset(seed=1)[0], env.step(np.zeros(3, np.int64))[0])


def test_one_line_of_make_vec_is_changed() -> None:
    env = gymnasium.make_vec("reactorlib.gymnasium:reactor/CartPole-v1", num_envs=3)
    assert isinstance(env, ReactorVectorEnv)
    check_vector_env(env, steps=10)
    env = gymnasium.make_vec("reactor/CartPole-v1", 2, vector_kwargs=None, max_episode_steps=7)
    env.reset(seed=1)
    assert [env.step(np.array([k % 2, k % 2]))[3].all() for k in range(7)] == [False] * 6 + [True]
    env.close()


def test_make_vec_takes_wrappers_and_arguments() -> None:
    env = reactorlib.gymnasium.make_vec(
        "CartPole-v1", 2, wrappers=[gymnasium.wrappers.TimeAwareObservation], render_mode="rgb_array",
        vector_kwargs={"workers": 1}, vectorization_mode="async",
    )  # fmt: skip
    assert env.reset(seed=1)[0].shape == (2, 5)
    assert (env.render_mode, env.spec.id) == ("rgb_array", "CartPole-v1")
    env.close()


def test_an_environment_registered_here_is_known_to_processes_that_are_spawned() -> None:
    gymnasium.register(
        "reactor-test/Probe-v0", entry_point="reactorlib.gymnasium.contract.probes:Quiet", kwargs={"number": 1}
    )
    try:
        env = reactorlib.gymnasium.make_vec("reactor-test/Probe-v0", 2, vector_kwargs={"start_method": "spawn"})
        assert env.reset(seed=1)[0].shape == (2, 3)
        env.close()
    finally:
        del gymnasium.registry["reactor-test/Probe-v0"]


def test_an_id_that_was_registered_after_the_import_is_explained() -> None:
    gymnasium.register("Later-v0", entry_point="reactorlib.gymnasium.contract.probes:Quiet", kwargs={"number": 1})
    try:
        with pytest.raises(gymnasium.error.NameNotFound, match=r"reactorlib\.gymnasium\.register\(ID\)"):
            gymnasium.make_vec("reactorlib.gymnasium:reactor/Later-v0", 2)
        with pytest.raises(gymnasium.error.NameNotFound) as unknown:
            gymnasium.make("Latest-v0")
        assert "register" not in str(unknown.value)
        gymnasium.make_vec(reactorlib.gymnasium.register("Later-v0"), 2).close()
    finally:
        del gymnasium.registry["Later-v0"]
        gymnasium.registry.pop("reactor/Later-v0", None)


@pytest.mark.parametrize("kind", [ReactorVectorEnv, ReactorPool])
def test_the_start_method_has_its_old_name_for_a_while(kind: Any) -> None:
    with pytest.warns(DeprecationWarning, match="`start_method`") as warned:
        env = kind(made("no infos", 2), workers=1, context="spawn")
    env.close()
    assert [one.filename for one in warned] == [__file__]
    with pytest.raises(ValueError, match="`context`"):
        kind(made("no infos", 2), workers=1, context="spawn", start_method="fork")


def test_arguments_of_async_stand_where_it_has_them() -> None:
    env = ReactorVectorEnv(made("no infos", 2), False, False, None, False, None, "same", "SameStep", 1)
    env.close()
    assert (env.copy, env.autoreset_mode, env.plan.workers) == (False, gymnasium.vector.AutoresetMode.SAME_STEP, 1)


def test_step_is_not_called_by_its_name(vector: Any) -> None:
    with pytest.raises(ValueError, match="`step`"):
        vector(made("no infos"), workers=2).call("step", 1)


APART = {"workers": 2, "caller_steps": False}
TWOS, NOUGHTS = np.full(4, 2), np.zeros(4, np.int64)


@pytest.mark.parametrize("way", [way for way in WAYS if "three" not in way])
@pytest.mark.parametrize(
    "how", first(2, ["raise", "shape", "dtype", "reward"], "one rule for whatever is wrong; two are always tried")
)
def test_an_environment_that_raises_is_named_and_all_go_on(vector: Any, way: str, how: str) -> None:
    env = vector(failing("step", how), **WAYS[way])
    env.reset(seed=1)
    expected = ZeroDivisionError if how == "raise" else (ValueError, TypeError)
    with pytest.raises(expected) as raised:
        env.step(TWOS)
    notes = "".join(raised.value.__notes__)
    assert "in environment 2 of ReactorVectorEnv(num_envs=4), in `step`" in notes
    assert how != "raise" or "_fail" in "".join(map(str, raised.traceback)) + notes
    env.step_async(TWOS)
    with pytest.raises(expected):
        env.step_wait()
    again = [each.reset(seed=1)[0] for each in (env, vector(failing("step", how), executor="inline"))]
    np.testing.assert_array_equal(*again)
    env.step(NOUGHTS)


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_an_environment_that_cannot_be_made_is_named(context: str) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        ReactorVectorEnv(failing("make", "raise"), start_method=context, **APART)
    assert "in environment 2 of" in "".join(raised.value.__notes__)


@pytest.mark.parametrize(("how", "fate"), [("exit", "exited with status 7"), ("kill", "was killed by SIGKILL")])
@pytest.mark.parametrize("at", ["step", "reset"])
@pytest.mark.parametrize("caller_steps", first(1, [False, True], "one rule for both; one is always tried"))
def test_an_environment_that_ends_its_process_is_named(vector, at: str, how: str, fate: str, caller_steps) -> None:
    env = vector(failing(at, how), workers=2, caller_steps=caller_steps)
    env.reset(seed=1)
    gone = pids(env)
    with pytest.raises(WorkerError, match=rf"^environment 2, in `{at}`: worker .* {fate}"):
        env.step(TWOS) if at == "step" else env.reset(options={"x": 1})
    with pytest.raises(ClosedEnvironmentError, match="an error ended it"):
        env.step(NOUGHTS)
    env.close()
    assert not any(alive(pid) for pid in gone)


def test_close_says_of_a_process_that_ends_in_it(vector: Any) -> None:
    env = vector(failing("close", "exit"), **APART)
    with pytest.raises(WorkerError, match="exited with status 7"):
        env.close()


@pytest.mark.parametrize("at", ["step", "reset"])
def test_an_environment_that_hangs_is_named_and_left_behind(at: str) -> None:
    env = ReactorVectorEnv(failing(at, "hang"), **APART)
    env.reset(seed=1)
    gone = pids(env)
    if at == "step":
        env.step_async(TWOS)
    else:
        env.reset_async(None, {"x": 1})
    for kind in (multiprocessing.TimeoutError, TimeoutError, EnvironmentTimeoutError):
        with pytest.raises(kind, match=rf"`{at}_wait` .* 0.05 .* environment 2"):
            getattr(env, f"{at}_wait")(timeout=0.05)
    env.close(terminate=True)
    assert not any(alive(pid) for pid in gone)
    assert env.closed


def test_a_wait_that_was_too_short_is_waited_again(vector: Any) -> None:
    go = multiprocessing.get_context("fork").Event()
    env = vector([functools.partial(Held, n, go) for n in range(2)], workers=1, caller_steps=False)
    env.reset(seed=1)
    env.step_async(np.array([2, 0]))
    with pytest.raises(TimeoutError):
        env.step_wait(timeout=0.01)
    go.set()
    assert env.step_wait(timeout=PATIENCE_S)[0].shape == (2, 3)


@pytest.mark.parametrize("seed", first(3, range(30), "repetition in search of races"))
def test_a_process_killed_at_any_moment_is_one_error_and_nothing_is_left(seed: int) -> None:
    draw = random.Random(seed)
    env = ReactorVectorEnv(made("no infos"), workers=3, caller_steps=draw.random() < 0.5)
    gone = pids(env)
    killer = threading.Timer(draw.random() * 0.01, os.kill, (draw.choice(gone), signal.SIGKILL))
    until = time.monotonic() + PATIENCE_S

    def use() -> None:
        killer.start()
        while time.monotonic() < until:
            if draw.random() < 0.3:
                env.reset(seed=1)
            elif not killer.is_alive() and draw.random() < 0.3:
                env.close()
            else:
                env.step(np.zeros(3, np.int64))

    with pytest.raises(WorkerError, match="was killed by SIGKILL"):
        use()
    killer.join()
    env.close(terminate=True)
    assert not any(alive(pid) for pid in gone)


@pytest.mark.parametrize("seed", first(3, range(30), "repetition in search of races"))
def test_a_process_killed_while_it_is_closed_leaves_nothing(seed: int) -> None:
    draw = random.Random(seed)
    env = ReactorVectorEnv(made("no infos"), workers=3, caller_steps=draw.random() < 0.5)
    env.reset(seed=1)
    gone = pids(env)
    victim = draw.choice(gone)

    def kill() -> None:
        with suppress(ProcessLookupError):
            os.kill(victim, signal.SIGKILL)

    killer = threading.Timer(draw.random() * 0.003, kill)
    killer.start()
    time.sleep(draw.random() * 0.003)
    with suppress(WorkerError):  # where it was killed before it had closed its environments
        env.close()
    killer.join()
    env.close()
    assert not any(alive(pid) for pid in gone)


def test_a_forgotten_vector_is_closed() -> None:
    env: Any = ReactorVectorEnv(made("no infos"), workers=2)
    gone = pids(env)
    del env
    gc.collect()
    assert not any(alive(pid) for pid in gone)


@pytest.mark.parametrize(
    ("module", "absent"), [("reactorlib", "gymnasium"), ("reactorlib.gymnasium", "reactorlib.mpi")]
)
def test_packages_are_imported_once_they_are_asked_for(module: str, absent: str) -> None:
    code = f"import sys, {module}; sys.exit({absent!r} in sys.modules)"
    assert python("-c", code).returncode == 0
