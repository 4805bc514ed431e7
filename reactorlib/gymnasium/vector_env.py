"""A vector environment whose environments are stepped by the workers of a session, several by each.

It behaves as Gymnasium's SyncVectorEnv, trajectories bit for bit. Asynchronous calls are those of its AsyncVectorEnv.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Sequence
from contextlib import closing
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from gymnasium import logger
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.vector import AutoresetMode
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array, iterate

from reactorlib.errors import RunError, WorkerError
from reactorlib.gymnasium.batched_spaces import batched_spaces
from reactorlib.gymnasium.calls import Calls, check_counts, checked_mask
from reactorlib.gymnasium.distinct import known
from reactorlib.gymnasium.groups import EnvironmentTimeoutError, Groups
from reactorlib.gymnasium.infos import Info, merged
from reactorlib.gymnasium.isolation.isolate import Isolate, apart
from reactorlib.gymnasium.journal import Journal
from reactorlib.gymnasium.layout import Layout
from reactorlib.gymnasium.reactors import Setup
from reactorlib.gymnasium.saving import opened_for, restore, save
from reactorlib.gymnasium.seeding import checked_rule, seeds_of
from reactorlib.gymnasium.share import Share
from reactorlib.gymnasium.statistics import Statistics, TimedGroups, TimedShare, statistics_of
from reactorlib.gymnasium.stepping_plan import SteppingPlan, wanted


class ReactorVectorEnv(Calls):
    """Several environments on each of a few workers; in the place of Gymnasium's SyncVectorEnv or AsyncVectorEnv.

    `env_fns` make an environment at each call, and each of the `workers` steps a share of them. By default there are
    as many workers as processors. Where processors are few, or with `caller_steps`, the caller's process is one of
    them. By default it is not if its thread runs an event loop or is not the main one. It steps its share in `step` and
    `step_wait`, which no timeout breaks off. `executor` is "processes", "threads", "inline", or "mpi" for ranks, where
    `python -m reactorlib.mpi` runs the script. `context` says how processes start. Without any of these four, `plan`
    is made: processes where they pay, by steps of one environment that are timed. Results are the same.

    Where `reset` is given a number s, environment i gets the seed s + i, as in Gymnasium. With `seeds="spawn"` it gets
    one of NumPy's SeedSequence, so that two numbers share no streams.

    `isolate` keeps environments apart that share something. "generators" gives each its own random, NumPy's and
    torch's global generators, seeded by `reset`. "processes" also gives each a process of its own. A forked process
    begins with the module and class state of the caller, so give `context="spawn"` if that has changed. A report of
    `check_isolation` chooses. With True, the first one is checked, which takes some seconds. ValueError if neither
    suffices.

    With `statistics`, some rounds are timed for `statistics()`, which costs less than 1 % of the throughput.

    `copy`, `observation_mode` and `autoreset_mode` are as of SyncVectorEnv. With `copy`, the caller keeps what `reset`
    and `step` return; large batches are lent, not copied. `max_concurrency` bounds the workers. `shared_memory` and
    `daemon` change nothing, and a `worker` function is refused. With `resumable`, `save` also serves environments that
    cannot be pickled at their first reset: their seeds and actions are kept, and `restore` repeats them.

    The exception of an environment is raised with its number and traceback as notes, and `reset` starts anew.
    WorkerError names the environment that ran where a worker process dies.
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        shared_memory: bool = True,
        copy: bool = True,
        context: str | None = None,
        daemon: bool = True,
        worker: Any = None,
        observation_mode: str | tuple[Any, Any] = "same",
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        max_concurrency: int | None = None,
        *,
        workers: int | None = None,
        caller_steps: bool | None = None,
        executor: str | None = None,
        seeds: str = "consecutive",
        statistics: bool = False,
        isolate: Isolate = False,
        resumable: bool = False,
    ) -> None:
        env_fns, in_processes = apart(list(env_fns), isolate, executor or "processes")
        self.env_fns = env_fns = [partial(Journal, one) for one in env_fns] if resumable else env_fns
        if worker is not None:
            raise ValueError("a custom `worker` serves one environment over a pipe: ReactorVectorEnv has neither")
        check_counts(env_fns, max_concurrency=max_concurrency, workers=workers)
        self.seeds, self._is_timed = checked_rule(seeds), statistics
        self.shared_memory, self.copy, self.context, self.daemon = shared_memory, copy, context, daemon
        self.observation_mode, self.max_concurrency = observation_mode, max_concurrency
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = n = len(env_fns)
        self._state, self._was_reset = AsyncState.DEFAULT, False
        if in_processes:
            workers, caller_steps, max_concurrency = n, False, None
        frame = wanted(n, executor, workers, caller_steps, context, max_concurrency)
        with closing(env_fns[0]()) as env:
            self._learn_spaces(env)
            self.plan, self._first = frame.plan(env, n), known(env)
            del env  # nobody has it but a function that returns it again
        self._open(self.plan, frame.method, frame.caller_steps or self.plan.executor == "inline")

    def _learn_spaces(self, env: Any) -> None:
        """Learn the spaces of all from a first environment."""
        self.metadata = {**env.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = env.render_mode
        self.single_action_space = env.action_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        spaces_of = batched_spaces(self.observation_mode, env.observation_space, self.env_fns)
        self.single_observation_space, self.observation_space = spaces_of

    def _open(self, plan: SteppingPlan, method: str | None, caller_steps: bool) -> None:
        n, in_place, executor = self.num_envs, not self.copy, plan.executor
        bounds = [n * share // plan.workers for share in range(plan.workers + 1)]
        observation_space, action_space = self.single_observation_space, self.single_action_space
        layout = Layout(n, len(bounds) - 1, observation_space, self.action_space, action_space, in_place)
        apart, forked = executor == "mpi", method in (None, "fork")  # ranks share no memory
        share, groups = (TimedShare, TimedGroups) if self._is_timed else (Share, Groups)
        make, mode = [*self.env_fns], self.autoreset_mode
        setup = Setup(make, bounds, layout, mode, os.getpid(), forked, apart, share, self._first)
        self._groups = groups(setup, executor, method, caller_steps, weakref.ref(self))
        self._last: Any = None if layout.is_plain else create_empty_array(observation_space, n, np.zeros)
        try:
            self._check_spaces(observation_space, action_space)
        except BaseException:
            self.close(terminate=True)
            raise

    def _check_spaces(self, observation_space: Any, action_space: Any) -> None:
        """Raise RuntimeError where an environment has others."""
        same = self.observation_mode == "same"
        arguments = (same, observation_space, action_space)
        rows = [row for rows in self._ask_all("compare", arguments) for row in rows]
        if not all(observations for observations, _ in rows):
            raise RuntimeError(
                "ReactorVectorEnv(..., observation_mode='same') however some of the sub-environments observation "
                "spaces are not equivalent. If this is intentional, use `observation_mode='different'` instead."
                if same
                else "ReactorVectorEnv(..., observation_mode='different' or custom space) however the sub-environment's"
                " observation spaces do not share a common shape and dtype."
            )
        if not all(actions for _, actions in rows):
            raise RuntimeError(
                f"Some environments have an action space different from `{action_space}`. In order to "
                "batch actions, the action spaces from all environments must be equal."
            )

    def _one_each(self, value: Any) -> list[Any]:
        """A value for each environment, its own where processes have theirs: as of AsyncVectorEnv."""
        return [deepcopy(value) if any(self._groups.remote) else value for _ in range(self.num_envs)]

    def _ask_all(self, method: str, arguments: tuple[Any, ...]) -> list[Any]:
        """The results of a method of each share with the same arguments."""
        return self._groups.ask(method, [arguments] * len(self._groups.remote))

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of `options["reset_mask"]`: observations and infos."""
        self.reset_async(seed=seed, options=options)
        return self.reset_wait()

    def reset_async(self, seed: Any = None, options: dict[str, Any] | None = None) -> None:
        """Begin to reset; see `reset_wait`."""
        self._assert_is_running()
        seeds = seeds_of(seed, self.num_envs, self.seeds)
        self._assert_nothing_pends("reset_async")
        mask = None
        if options is not None and "reset_mask" in options:
            options = dict(options)
            mask = checked_mask(options.pop("reset_mask"), self.num_envs, self._was_reset).tolist()
        self._begin_reset(seeds, self._one_each(options), mask)

    def _begin_reset(self, seeds: list[Any], options: list[Any], mask: list[bool] | None) -> None:
        groups = self._groups
        groups.turn()
        masks = groups.shared_out(mask) if mask is not None else [None] * len(groups.remote)
        shared = zip(groups.shared_out(seeds), groups.shared_out(options), masks, strict=True)
        groups.begin("reset", [(*own, groups.buffer) for own in shared])
        self._state = AsyncState.WAITING_RESET

    def reset_wait(self, timeout: float | None = None) -> tuple[Any, dict[str, Any]]:
        """The results of the reset that was begun. After a TimeoutError, wait again or close."""
        results, self._was_reset = self._wait(AsyncState.WAITING_RESET, timeout), True
        return self._observations(results), self._infos(results)

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments: observations, rewards, terminations, truncations, infos."""
        if self.closed or self._state is not AsyncState.DEFAULT:
            self._assert_is_running()
            self._assert_nothing_pends("step")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._groups.assert_none_has_ended()
        try:
            if self._placed(actions):
                return self._stepped(self._groups.step())
            self._begin_with(actions)
            return self._stepped(self._groups.finish())
        except RunError as error:
            if type(error) is RunError:  # the session's, which asks nobody whether it is closed until here
                self._assert_is_running()
            raise

    def step_async(self, actions: Any) -> None:
        """Begin to step; see `step_wait`."""
        self._assert_is_running()
        self._assert_nothing_pends("step_async")
        if self.autoreset_mode is AutoresetMode.DISABLED:
            self._groups.assert_none_has_ended()
        if self._placed(actions):
            self._groups.begin_step()
        else:
            self._begin_with(deepcopy(actions))  # the caller may write to them before `step_wait`
        self._state = AsyncState.WAITING_STEP

    def step_wait(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """The results of the step that was begun. After a TimeoutError, wait again or close."""
        return self._stepped(self._wait(AsyncState.WAITING_STEP, timeout))

    def _placed(self, actions: Any) -> bool:
        """Put the actions where all workers see them, if they are as the space says: other types travel as they are."""
        groups = self._groups
        place = groups.arrays.actions
        if place is None or type(actions) is not np.ndarray or actions.dtype != place.dtype or groups.is_apart:
            return False
        if actions.shape != place.shape or not groups.arrays.observations:
            return False
        place[...] = actions
        groups.turn()
        return True

    def _begin_with(self, actions: Any) -> None:
        rows = list(iterate(self.action_space, actions))
        if len(rows) != self.num_envs:
            raise ValueError(f"{len(rows)} actions for {self.num_envs} environments")
        groups = self._groups
        groups.turn()
        groups.begin("step", [(part, groups.buffer) for part in groups.shared_out(rows)])

    def _stepped(self, results: list[Any]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        arrays, observations = self._groups.arrays, self._observations(results)
        infos = self._infos(results) if results else {}
        return observations, arrays.rewards.copy(), arrays.terminations.copy(), arrays.truncations.copy(), infos

    def _observations(self, results: list[Any]) -> Any:
        """The batch of observations; `results` keep everything else."""
        groups = self._groups
        if not groups.arrays.observations:
            rows = [row for _, rows in results for row in rows]
            results[:] = [said for said, _ in results]
            self._last = concatenate(self.single_observation_space, rows, self._last)
            return deepcopy(self._last) if self.copy else self._last
        if groups.buffer < len(groups.leases):
            return groups.leases[groups.buffer].lend()
        batch = groups.arrays.observations[groups.buffer]
        if not self.copy:
            return batch
        return batch.copy() if isinstance(batch, np.ndarray) else deepcopy(batch)

    def _infos(self, results: list[list[Info]]) -> dict[str, Any]:
        said = [info for infos in results for info in infos]
        return merged(said, self.num_envs) if said else {}

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or read its attribute."""
        self.call_async(name, *args, **kwargs)
        return self.call_wait()

    def call_async(self, name: str, /, *args: Any, **kwargs: Any) -> None:
        """Begin to call; see `call_wait`."""
        self._assert_is_running()
        self._assert_nothing_pends("call_async")
        self._groups.begin("call", [(name, one) for one in self._groups.shared_out(self._one_each((args, kwargs)))])
        self._state = AsyncState.WAITING_CALL

    def call_wait(self, timeout: float | None = None) -> tuple[Any, ...]:
        """The results of the call that was begun. After a TimeoutError, wait again or close."""
        return tuple(one for part in self._wait(AsyncState.WAITING_CALL, timeout) for one in part)

    def apply(self, function: Callable[[Any], Any], environments: Sequence[int] | None = None) -> list[Any]:
        """The results of a function that is called with each environment, or with these, where they live."""
        self._assert_is_running()
        self._assert_nothing_pends("apply")
        chosen = list(range(self.num_envs) if environments is None else environments)
        parts = self._ask_all("apply", (function, chosen))
        by_row = dict(zip(sorted(set(chosen)), (one for part in parts for one in part), strict=True))
        return [by_row[row] for row in chosen]

    def statistics(self) -> Statistics:
        """The time of steps and of waiting, and the last environments. The vector is made with `statistics=True`."""
        self._assert_is_running()
        self._assert_nothing_pends("statistics")
        if not isinstance(self._groups, TimedGroups):
            raise ValueError("nothing is timed: make the vector environment with statistics=True")
        return statistics_of(self._ask_all("timed", ()), self._groups)

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment: to one value each of a list or tuple, else all to the same."""
        self._assert_is_running()
        if not isinstance(values, list | tuple):
            values = self._one_each(values)
        if len(values) != self.num_envs:
            raise ValueError(
                "Values must be a list or tuple with length equal to the number of environments. Got "
                f"`{len(values)}` values for {self.num_envs} environments."
            )
        self._assert_nothing_pends("set_attr")
        self._groups.ask("set_attr", [(name, part) for part in self._groups.shared_out(values)])

    def save(self) -> bytes:
        """The state of all environments, from which `restore` goes on. Raises ResumeError where one has none."""
        self._assert_is_running()
        self._assert_nothing_pends("save")
        return save(self, [self._groups])

    def restore(self, state: bytes) -> None:
        """Bring all environments to a state that `save` returned, here or in another process: only one you trust.

        Raises ResumeError where an environment does not come to its state: reset, or restore another state.
        """
        self._assert_is_running()
        self._assert_nothing_pends("restore")
        saved = opened_for(self, state)
        if saved.pool is not None and saved.pool.pending.any():
            raise ValueError("the state is of a ReactorPool with environments that were sent to")
        restore(self, [self._groups], saved)
        self._was_reset = True

    def _assert_is_running(self) -> None:
        if self.closed or self._groups.session.closed:
            when = "a call to `close()`" if self.closed else "an error ended it"
            raise ClosedEnvironmentError(f"Trying to operate on `{type(self).__name__}`, after {when}.")

    def _assert_nothing_pends(self, name: str) -> None:
        if self._state is not AsyncState.DEFAULT:
            raise AlreadyPendingCallError(
                f"Calling `{name}` while waiting for a pending call to `{self._state.value}` to complete.",
                str(self._state.value),
            )

    def _wait(self, state: AsyncState, timeout: float | None) -> list[Any]:
        self._assert_is_running()
        if self._state is not state:
            raise NoAsyncCallError(
                f"Calling `{state.value}_wait` without any prior call to `{state.value}_async`.", state.value
            )
        try:
            replies = self._groups.replies(timeout)
        except EnvironmentTimeoutError:
            raise
        except BaseException:
            self._state = AsyncState.DEFAULT
            raise
        self._state = AsyncState.DEFAULT
        return self._groups.results(replies)

    def close_extras(self, timeout: float | None = None, terminate: bool = False, **_kwargs: Any) -> None:
        """Close all environments. `terminate`, or a pending call that takes longer than `timeout` seconds: at once."""
        if self._groups.session.closed:
            return
        if self._state is not AsyncState.DEFAULT and not terminate:
            logger.warn(f"Calling `close` while waiting for a pending call to `{self._state.value}` to complete.")
            try:
                self._groups.replies(timeout)  # which nobody waits for any more
            except (EnvironmentTimeoutError, WorkerError):
                terminate = True
        if terminate:
            self._groups.session.kill()
        elif not self._groups.session.closed:
            try:
                self._ask_all("close", ())
            finally:
                self._groups.session.close()
