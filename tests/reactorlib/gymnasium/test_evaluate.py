"""`evaluate`: the row of an episode depends on the episode alone, whatever slot, worker and process it runs in."""

import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from reactorlib.gymnasium import EpisodeRow, Evaluation, ReactorVectorEnv, check_isolation, evaluate
from reactorlib.gymnasium.identity import SameEnvironmentError
from tests.reactorlib.gymnasium import evaluated
from tests.reactorlib.gymnasium.evaluated import ALL

SLOW = pytest.mark.slow(
    reason="every number of environments and workers for 22 environments; some of each are always tried"
)
ATARI = {"Pong", "Breakout"}


def leaning(observations: Any) -> Any:
    return (observations[:, 2] + observations[:, 3] > 0).astype(np.int64)


def of(seen: Any) -> Any:
    """The policy of an Arm."""
    return (np.abs(seen).sum(axis=1) * 7).astype(np.int64) % 3


def agree(name: str, episodes: int, envs: Sequence[int], workers: Sequence[int], executors: Sequence[str]) -> None:
    make, policy, options, refused = ALL[name]
    found: dict[Any, Evaluation] = {}
    for executor in executors:
        for n, count in [(n, count) for n in envs for count in workers]:
            if executor in refused:
                with pytest.raises(ValueError, match=refused[executor]):
                    evaluate(make, policy, episodes, n, count, executor=executor, **options)
            else:
                found[executor, n, count] = evaluate(make, policy, episodes, n, count, executor=executor, **options)
    first = next(iter(found.values()))
    assert [row.episode for row in first.rows] == list(range(episodes))
    assert {key: first.compare(one) for key, one in found.items() if one != first} == {}


@pytest.mark.parametrize("name", [name for name in ALL if name not in ATARI])
def test_rows_are_equal(name: str) -> None:
    agree(name, 11, (1, 4), (2,), ("processes", "threads"))


@SLOW
@pytest.mark.parametrize("name", ALL)
@pytest.mark.timeout(900)
def test_rows_are_equal_for_every_number(name: str) -> None:
    agree(name, 12 if name in ATARI else 66, (1, 3, 16, 64), (1, 2), ("processes", "threads", "inline"))


def test_a_row_is_what_a_loop_of_one_environment_sees() -> None:
    rows = evaluate("CartPole-v1", leaning, 5, envs=3).rows
    env = gymnasium.make("CartPole-v1")
    for row in rows:
        observation, _ = env.reset(seed=row.seed)
        total, length, ended = 0.0, 0, (False, False)
        while not any(ended):
            observation, reward, *ended, _ = env.step(leaning(observation[None])[0])  # type: ignore[assignment]
            total, length = total + float(reward), length + 1
        assert (row.episode_return, row.length) == (total, length)
        assert row.ended == ("terminated" if ended[0] else "truncated")
    env.close()


def test_seeds_are_those_that_are_given() -> None:
    rows = evaluate("CartPole-v1", leaning, seeds=[5, 5, 9], envs=2).rows
    assert [(row.episode, row.seed) for row in rows] == [(0, 5), (1, 5), (2, 9)]
    assert rows[0][2:] == rows[1][2:]
    with pytest.raises(ValueError, match="3 seeds"):
        evaluate("CartPole-v1", leaning, 2, seeds=[5, 5, 9])


def test_a_name_is_looked_up_once_and_not_for_each_episode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "arms.py").write_text("from tests.reactorlib.gymnasium.evaluated import Arm\n")
    found = evaluate("arms.py:Arm", of, 6, envs=2, executor="inline")
    assert found == evaluate(evaluated.Arm, of, 6, envs=1)
    assert sys.path.count(str(tmp_path)) == 1


def test_what_fails_is_a_row() -> None:
    rows = evaluate(evaluated.Raises, of, 9, envs=4).rows
    assert [row.episode for row in rows if row.ended == "error"] == [4, 7]
    assert rows[4].length == 0
    assert rows[4].first_observation is None
    assert rows[4].error is not None
    assert "ValueError: no start (evaluated.py:" in rows[4].error
    assert rows[7].length == 2
    assert rows[7].first_observation is not None


def test_what_hangs_is_a_row_and_its_process_is_killed() -> None:
    found = evaluate(evaluated.Hangs, of, 11, envs=3, workers=2, step_limit_s=0.5)
    assert [(row.episode, row.length, row.episode_return) for row in found.rows if row.ended == "timeout"] == [
        (7, 1, None), (9, 0, None)
    ]  # fmt: skip
    assert found.errors == 3  # with the one that has no start


@pytest.mark.parametrize("limit_s", [None, 30.0])
def test_a_process_that_dies_is_a_row(limit_s: float | None) -> None:
    found = evaluate(evaluated.Dies, of, 9, envs=4, workers=2, caller_steps=False, step_limit_s=limit_s)
    died = found.rows[7]
    assert (died.ended, died.length, died.error) == (
        "error", 1, "its process exited with status 3 before the run ended"
    )  # fmt: skip
    assert found.errors == 2


@pytest.mark.parametrize("executor", ["threads", "inline"])
def test_what_cannot_be_stopped_has_no_limit(executor: str) -> None:
    with pytest.raises(ValueError, match="a thread, or the caller, cannot be stopped"):
        evaluate(evaluated.Arm, of, 2, step_limit_s=1.0, executor=executor)


def test_environments_that_are_reused_show_what_their_reset_leaves() -> None:
    one, many = (evaluate(evaluated.Hoards, of, 8, envs=envs, reuse=True) for envs in (1, 4))
    assert len(one.differences(many)) >= 4
    assert check_isolation(evaluated.Hoards).culprits == ("reset",)
    assert evaluate(evaluated.Arm, of, 8, envs=4, reuse=True) == evaluate(evaluated.Arm, of, 8, envs=1)


def test_state_of_a_class_shows_and_has_a_name() -> None:
    one, many = (evaluate(evaluated.Leaks, of, 8, envs=envs, executor="inline") for envs in (1, 4))
    assert one.differences(many)
    assert check_isolation(evaluated.Leaks).remedy == "processes"


def test_one_object_for_all_episodes_is_refused() -> None:
    env = evaluated.Arm()
    with pytest.raises(SameEnvironmentError):
        evaluate(lambda: env, of, 4, envs=2, executor="inline")


def test_a_policy_keeps_a_state_and_a_generator_for_each_episode() -> None:
    def policy(seen: Any, episodes: Any) -> Any:
        for row, episode in zip(seen, episodes, strict=True):
            assert (episode.state is None) == (row[1] == 0)  # the first step
            episode.state = (episode.state or 0.0) * 0.9 + float(row[0])
        return np.array([int(abs(one.state) * 10 + one.rng.integers(3)) % 3 for one in episodes])

    one = evaluate(evaluated.Arm, policy, 12, envs=1)
    for envs in (3, 12):
        assert evaluate(evaluated.Arm, policy, 12, envs=envs, executor="inline") == one


@pytest.mark.parametrize("size", [1, 3, 8])
def test_a_policy_gets_batches_of_one_size(size: int) -> None:
    sizes = set()

    def policy(seen: Any, episodes: Any) -> Any:
        sizes.add((len(seen), len(episodes), len({id(one) for one in episodes})))
        return of(seen)

    found = evaluate(evaluated.Arm, policy, 12, envs=4, policy_batch=size, executor="inline")
    assert sizes == {(size, size, size)}
    assert found == evaluate(evaluated.Arm, of, 12, envs=1)


def test_a_network_gives_each_row_the_same_by_itself() -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(1)
    layers = [torch.nn.Linear(4, 64), torch.nn.Tanh(), torch.nn.Linear(64, 64), torch.nn.Tanh(), torch.nn.Linear(64, 2)]
    network = torch.nn.Sequential(*layers)

    def policy(observations: Any) -> Any:
        with torch.no_grad():
            return network(torch.from_numpy(observations)).argmax(1).numpy()

    one = evaluate("CartPole-v1", policy, 12, envs=1, policy_batch=1)
    assert evaluate("CartPole-v1", policy, 12, envs=8, policy_batch=1) == one


def test_an_agent_of_cleanrl_is_evaluated_by_its_own_functions() -> None:
    torch = pytest.importorskip("torch")

    def make_env(env_id: str, idx: int, capture_video: bool, run_name: str) -> Callable[[], Any]:
        return lambda: gymnasium.wrappers.RecordEpisodeStatistics(gymnasium.make(env_id))

    class Agent(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, envs: Any) -> None:
            super().__init__()
            self.actor = torch.nn.Linear(envs.single_observation_space.shape[0], envs.single_action_space.n)

        def get_action_and_value(self, x: Any) -> Any:
            probs = torch.distributions.Categorical(logits=self.actor(x))
            return probs.mode, None, probs.entropy(), None

    torch.manual_seed(0)
    envs = gymnasium.vector.SyncVectorEnv([make_env("CartPole-v1", 0, False, "run")], autoreset_mode="SameStep")
    agent = Agent(envs)
    observations, _ = envs.reset(seed=3)
    infos: dict[str, Any] = {}
    while "final_info" not in infos:
        actions, *_ = agent.get_action_and_value(torch.Tensor(observations))
        observations, _, _, _, infos = envs.step(actions.numpy())
    envs.close()
    found = evaluate(
        make_env("CartPole-v1", 0, False, "run"), lambda seen: agent.get_action_and_value(torch.Tensor(seen))[0],
        seeds=range(8), envs=4, policy_batch=1,
    )  # fmt: skip
    assert found.rows[3].episode_return == infos["final_info"]["episode"]["r"][0]


class LazyVectorEnv:
    """As lerobot's: it calls what it is given with the functions, when it is first used."""

    def __init__(self, env_cls: Callable[[Sequence[Callable[[], Any]]], Any], factory_fns: list[Callable[[], Any]]):
        self._env_cls, self._factory_fns = env_cls, factory_fns
        self._env: Any = None

    def __getattr__(self, name: str) -> Any:
        self._env = self._env or self._env_cls(self._factory_fns)
        return getattr(self._env, name)


def test_a_lazy_vector_of_lerobot_takes_ours() -> None:
    kind = pytest.importorskip("lerobot.envs.lazy_vec_env").LazyVectorEnv if _has_lerobot() else LazyVectorEnv
    env = kind(functools.partial(ReactorVectorEnv, workers=2), [evaluated.BoundToAThread] * 3)
    observations, _ = env.reset(seed=[4, 5, 6])
    observations, *_ = env.step(np.zeros(3, np.int64))
    assert observations.shape == (3, 2)
    assert len(env.call("unwrapped")) == 3
    env.close()


def _has_lerobot() -> bool:
    from importlib.util import find_spec

    return find_spec("lerobot") is not None


def test_rows_that_are_done_are_kept_and_others_are_told_when_they_end() -> None:
    whole = evaluate(evaluated.Arm, of, 10, envs=3)
    told: list[EpisodeRow] = []
    again = evaluate(evaluated.Arm, of, 10, envs=3, done=whole.rows[2:7], on_row=told.append)
    assert again == whole
    assert sorted(row.episode for row in told) == [0, 1, 7, 8, 9]
    assert evaluate(evaluated.Arm, of, 10, done=whole.rows) == whole


def test_the_policys_errors_are_raised() -> None:
    for actions, words in {
        1: r"`policy` returned actions of shape \(\) for 2 rows, instead of shape \(2,\)",
        None: "returned None",
        ((0,), (1,)): r"of shape \(2, 1\)",
        ((0,), (1, 2)): "a tuple that is no array",
    }.items():
        with pytest.raises(ValueError, match=words):
            evaluate(evaluated.Arm, lambda _seen, actions=actions: actions, 2)
    with pytest.raises(ZeroDivisionError):
        evaluate(evaluated.Arm, lambda _seen: 1 // 0, 2, workers=2)


@pytest.mark.parametrize("made", [None, 3, np.zeros(2)])
def test_a_function_that_makes_no_environment_is_named(made: Any) -> None:
    with pytest.raises(TypeError, match=f"`make_env` returned a value of type {type(made).__name__}"):
        evaluate(lambda: made, of, 2)


@pytest.mark.parametrize("options", [{"envs": 0}, {"max_steps": 0}, {"policy_batch": 0}, {"step_limit_s": 0.0}])
def test_counts_are_positive(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        evaluate(evaluated.Arm, of, 2, **options)


def row(index: int, total: float, ended: str = "terminated", seen: str = "a") -> EpisodeRow:
    return EpisodeRow(index, index, 3, total, index % 2 == 0, seen, ended, None)


def test_a_comparison_names_the_rows_and_how_far_they_are_apart() -> None:
    one = Evaluation((row(0, 1.0), row(1, 2.0), row(2, 3.0)))
    other = Evaluation((row(0, 1.0), row(1, 5.0), row(2, 3.5, seen="b")))
    assert one.compare(one) == "all 3 rows are equal"
    assert one.differences(other) == {
        1: {"episode_return": (2.0, 5.0)}, 2: {"episode_return": (3.0, 3.5), "first_observation": ("a", "b")}
    }  # fmt: skip
    said = one.compare(other)
    assert said.startswith("2 of 3 rows differ, 1 of them from the first observation on")
    assert "up to 3 apart" in said
    assert one.differences(Evaluation(one.rows[:1]))[1]["seed"] == (1, None)
    assert one.compare(Evaluation(one.rows[:2])).endswith("\nepisode 2: only one of them has it")


def test_failed_episodes_have_no_part_in_the_mean() -> None:
    found = Evaluation((row(0, 1.0), row(1, 3.0, "truncated"), row(2, 100.0, "error")))
    assert (found.mean_return, found.errors, found.success_rate) == (2.0, 1, 0.5)
    assert np.isnan(Evaluation(()).mean_return)
    assert np.isnan(Evaluation((row(0, 1.0),)).half_width)


def test_an_evaluation_shows_its_first_error_and_no_number_that_it_lacks() -> None:
    failed = row(3, 0.0, "error")._replace(error="RuntimeError: broken", episode_return=None)
    one = Evaluation((row(0, 1.0),))
    assert str(one).startswith("mean return 1, success ")
    assert str(Evaluation((failed,))) == "episode 3 failed: RuntimeError: broken\nno return, 1 episodes, 1 failed"
    assert str(Evaluation((row(0, 1.0), row(1, 3.0)))).startswith("mean return 2 ± ")
    assert "nan" not in Evaluation((failed,)).compare(Evaluation((row(3, 1.0),)))
