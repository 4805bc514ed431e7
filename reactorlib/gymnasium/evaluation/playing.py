"""Play episodes of a policy on a vector of slots, and collect their rows. An episode does not depend on its slot."""

from __future__ import annotations

import inspect
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing, suppress
from functools import cache, cached_property, partial
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from reactorlib import WorkerError
from reactorlib.gymnasium.called_env import check_counts
from reactorlib.gymnasium.evaluation.rows import ERROR, TIMEOUT, EpisodeRow, Evaluation
from reactorlib.gymnasium.evaluation.slot import Slot, made
from reactorlib.gymnasium.identity import SameEnvironmentError
from reactorlib.gymnasium.isolation import Isolate, apart, maker
from reactorlib.gymnasium.vector import (
    ARRAYS,
    EnvironmentTimeoutError,
    Info,
    ListedVectorEnv,
    is_plain,
    joined,
    rows_of,
)

EPISODES = 100
_LOOKS = 8  # at a step that takes long, within its limit

Policy = Callable[..., Any]
OnRow = Callable[[EpisodeRow], object]


class Episode:
    """An episode as the policy sees it. `state` is the policy's own, None when the episode begins."""

    def __init__(self, index: int, seed: int) -> None:
        self.index, self.seed = index, seed
        self.state: Any = None
        self.began = 0  # the round before its first step

    @cached_property
    def rng(self) -> np.random.Generator:
        """A random number generator for the policy, seeded by the episode's seed."""
        return np.random.default_rng(self.seed)


def evaluate(
    make_env: str | Callable[[], Any],
    policy: Policy,
    episodes: int | None = None,
    envs: int = 16,
    workers: int | None = None,
    seeds: Sequence[int] | None = None,
    *,
    policy_batch: int | None = None,
    max_steps: int | None = None,
    step_limit_s: float | None = None,
    reuse: bool = False,
    isolate: Isolate = False,
    done: Iterable[EpisodeRow] = (),
    on_row: OnRow | None = None,
    **options: Any,
) -> Evaluation:
    """Play episodes with a policy, up to `envs` at the same time. Returns a row for each, in order.

    Episode k has the seed k, or `seeds[k]`, wherever it runs, and an environment of its own. `make_env` makes it, and
    may be a name such as "CartPole-v1" or "file.py:make_env". There are 100 `episodes`, or as many as seeds. Its row
    does not depend on `envs` and `workers`. That needs an environment that depends on its seed and actions alone, and a
    policy that computes each row by itself.

    `policy` gets a batch of observations, a row for each running episode, and returns a batch of actions. If it has a
    parameter `episodes`, it also gets a list with an `Episode` for each row, whose `state` it may set. With
    `policy_batch=n` it always gets n rows: the last batch of a round repeats its last row, as of a new Episode. With 1
    it gets each row alone.

    An exception of the environment, and the death of its process, are rows. So is a call that takes longer than
    `step_limit_s` seconds: then processes step all environments, and the one that hangs is killed. Episodes that
    shared its fate begin again. An episode is truncated after `max_steps`. With `reuse`, episodes of a slot share one
    environment, which saves time where making one takes long, and shows what its `reset` leaves behind.

    `isolate` is as of ReactorVectorEnv; with "processes" each episode has a process of its own. `done` are rows that
    are kept instead of played. `on_row` is called with each row when its episode ends. `options` are of
    ReactorVectorEnv, such as `executor`.

    Raises ValueError for bad counts and actions of another shape, TypeError if `make_env` returns no environment, and
    what the policy or the first environment raises. It passes actions on that are not in the action space.

    >>> evaluation = evaluate("CartPole-v1", lambda observations: (observations[:, 2] > 0).astype(int), 20, envs=4)
    >>> len(evaluation.rows), evaluation.rows[3].seed, evaluation.errors
    (20, 3, 0)
    """
    chosen = list(range(EPISODES if episodes is None else episodes) if seeds is None else map(int, seeds))
    if len(chosen) != (len(chosen) if episodes is None else episodes):
        raise ValueError(f"{episodes} episodes, but {len(chosen)} seeds")
    check_counts(chosen or [None], envs=envs, workers=workers, policy_batch=policy_batch, max_steps=max_steps)
    if step_limit_s is not None:
        if options.setdefault("executor", "processes") != "processes" or options.setdefault("caller_steps", False):
            raise ValueError(
                "`step_limit_s` needs other processes: a thread, or the caller, cannot be stopped in a step"
            )
        if step_limit_s <= 0:
            raise ValueError(f"`step_limit_s` must be positive, got {step_limit_s}")
    make = partial(_of_name, make_env, Path.cwd()) if isinstance(make_env, str) else make_env
    (make,), is_apart = apart([make], isolate, options.get("executor") or "processes")
    with closing(made(make)) as env:
        seen = env.observation_space
        (blank,) = iterate(batch_space(seen, 1), create_empty_array(seen, 1, np.zeros))
        like = env.metadata, env.render_mode, env.action_space, seen, blank
    del env
    slot = partial(Slot, make, like, max_steps, reuse)
    if is_apart:
        options |= {"executor": "processes", "caller_steps": False}
    play = _Play(slot, policy, like[2:4], policy_batch, step_limit_s, on_row)
    play.rows = {row.episode: row for row in done}
    play.waiting.extend(Episode(k, seed) for k, seed in enumerate(chosen) if k not in play.rows)
    while play.waiting:
        n = min(envs, len(play.waiting))
        play.vector(ListedVectorEnv([slot] * n, workers=n if is_apart else workers, **options), refill=not is_apart)
    return Evaluation(tuple(sorted(row for number, row in play.rows.items() if number < len(chosen))))


@cache  # a process looks a name up once, not for each episode
def _maker(name: str, _folder: Path) -> Callable[[], Any]:
    return maker(name)


def _of_name(name: str, folder: Path) -> Any:
    return _maker(name, folder)()


class _Play:
    """The waiting episodes, the episodes of each slot, and the rows of ended ones."""

    def __init__(
        self, slot: Any, policy: Policy, spaces: Any, size: int | None, limit_s: float | None, on_row: OnRow | None
    ) -> None:
        self._policy, self._size, self._limit_s, self._on_row = policy, size, limit_s, on_row
        self._action_space, self._observation_space = spaces
        self._tells = _is_told_episodes(policy)
        self._shape = self._action_space.shape if isinstance(self._action_space, ARRAYS) else None
        self._is_single = limit_s is not None  # slots get one episode at a time, so that what ends a process has a name
        self.rows: dict[int, EpisodeRow] = {}
        self.waiting: deque[Episode] = deque()
        self._queues: list[deque[Episode]] = []  # of each slot: the first one is running
        self._round = 0

    def vector(self, envs: Any, refill: bool) -> None:
        """Play on this vector until nothing waits, or until it fails. Closes it."""
        self._queues, self._envs = [deque() for _ in range(envs.num_envs)], envs
        self._is_single |= not refill
        try:
            self._play(refill)
            envs.close()
        except BaseException as error:
            envs.close(terminate=True)
            lost = getattr(error, "environments", ())
            if not lost or not isinstance(error, Exception) or isinstance(error, SameEnvironmentError):
                raise
            self._fail(lost, error)

    def _play(self, refill: bool) -> None:
        observations, infos = self._begin()
        before: list[int] = []
        while True:
            while infos:
                self._take(infos)
                infos = []
                if refill and self.waiting and not all(self._queues):
                    observations, infos = self._begin()
            running = [slot for slot, queue in enumerate(self._queues) if queue]
            if not running:
                return
            if running != before or self._tells:  # else they are other episodes in the same rows
                act, before = self._actor(running), running
            while not infos:
                actions = act(observations)
                self._round += 1
                observations, _, _, _, infos = self._step(actions)

    def _begin(self) -> Any:
        """Give episodes to slots that have none: several at a time while many wait."""
        n = len(self._queues)
        seeds: list[Any] = [None] * n
        for slot, queue in enumerate(self._queues):
            count = 1 if self._is_single else max(1, len(self.waiting) // (2 * n))
            if not queue and self.waiting:
                queue.extend(self.waiting.popleft() for _ in range(count))
                queue[0].began = self._round
                seeds[slot] = [(one.index, one.seed) for one in queue]
        mask = np.array([seed is not None for seed in seeds])
        self._envs.reset_async(seed=seeds, options={"reset_mask": mask})
        return self._within_limit(self._envs.reset_wait)

    def _step(self, actions: Any) -> Any:
        if self._limit_s is None:
            return self._envs.step(actions)
        self._envs.step_async(actions)
        return self._within_limit(self._envs.step_wait)

    def _within_limit(self, wait: Callable[..., Any]) -> Any:
        """Wait. Raises EnvironmentTimeoutError, with the environments that were called for longer than the limit."""
        if self._limit_s is None:
            return wait()
        since: dict[int, float] = {}
        while True:
            try:
                return wait(timeout=self._limit_s / _LOOKS)
            except EnvironmentTimeoutError as error:
                now = monotonic()
                since = {slot: since.get(slot, now) for slot in error.environments}
                if late := [slot for slot, began in since.items() if now - began >= self._limit_s]:
                    error.environments = late
                    raise

    def _take(self, infos: list[Info]) -> None:
        """Keep the rows that slots have reported."""
        for slot, info, _ in infos:
            queue = self._queues[slot]
            for row in info["rows"]:
                queue.popleft()
                self._keep(EpisodeRow(*row))
            if queue:
                queue[0].began = self._round

    def _keep(self, row: EpisodeRow) -> None:
        self.rows[row.episode] = row
        if self._on_row is not None:
            self._on_row(row)

    def _fail(self, slots: Sequence[int], error: Exception) -> None:
        """Keep the rows of episodes that have failed with their process. All others of the vector begin again."""
        if isinstance(error, EnvironmentTimeoutError):
            ended, words = TIMEOUT, f"no answer for {self._limit_s:g} s"
        else:
            ended, words = ERROR, " ".join(f"{type(error).__name__}: {error}".split())
            if isinstance(error, WorkerError):  # its text begins with the slot, the worker and the process
                words = f"its process {words.rpartition(') ')[2]}"
        for slot in slots if self._is_single else ():  # else the slot may have begun another episode
            one = self._queues[slot].popleft()
            steps = max(0, self._round - one.began - 1)
            self._keep(EpisodeRow(one.index, one.seed, steps, None, None, None, ended, words))
        self._is_single = True
        again = [Episode(one.index, one.seed) for queue in self._queues for one in queue]
        self.waiting = deque(sorted([*again, *self.waiting], key=lambda one: one.index))

    def _actor(self, running: list[int]) -> Callable[[Any], Any]:
        """The function from observations to actions of all slots, while these are running."""
        n, size = len(self._queues), self._size or len(running)
        slots, episodes = [*running], [self._queues[slot][0] for slot in running]
        while len(slots) % size:
            slots.append(slots[-1])
            episodes.append(Episode(episodes[-1].index, episodes[-1].seed))
        if slots == [*range(n)] and size == n:
            return lambda observations: self._acted(observations, episodes)
        batches = [(slots[at : at + size], episodes[at : at + size]) for at in range(0, len(slots), size)]
        place = {slot: at for at, slot in enumerate(running)}
        filled = [place.get(slot, 0) for slot in range(n)]  # an idle slot ignores its action

        def act(observations: Any) -> Any:
            space, actions = self._observation_space, self._action_space
            parts = [self._acted(_rows(space, [observations], n, some), told) for some, told in batches]
            return _rows(actions, parts, size, filled)

        return act

    def _acted(self, observations: Any, episodes: list[Episode]) -> Any:
        actions = self._policy(observations, episodes=episodes) if self._tells else self._policy(observations)
        if self._shape is None:
            return actions
        try:
            array = np.asarray(actions)
        except Exception as error:
            raise ValueError(f"`policy` returned a {type(actions).__name__} that is no array: {error}") from error
        wanted = (len(episodes), *self._shape)
        if array.shape != wanted:
            got = "None" if actions is None else f"actions of shape {array.shape}"
            raise ValueError(f"`policy` returned {got} for {len(episodes)} rows, instead of shape {wanted}")
        return array


def _is_told_episodes(policy: Policy) -> bool:
    with suppress(TypeError, ValueError):  # of a function in C
        return "episodes" in inspect.signature(policy).parameters
    return False


def _rows(space: Any, batches: Sequence[Any], size: int, chosen: Sequence[int]) -> Any:
    """These rows of all batches, each of which has `size` rows."""
    if is_plain(space):
        return rows_of(joined(batches) if len(batches) > 1 else batches[0], chosen)
    rows = [row for batch in batches for row in iterate(batch_space(space, size), batch)]
    empty: Any = create_empty_array(space, len(chosen))
    return concatenate(space, [rows[at] for at in chosen], empty)
