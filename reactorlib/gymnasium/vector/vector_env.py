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
from gymnasium import logger, spaces
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.spaces.utils import is_space_dtype_shape_equiv
from gymnasium.vector import AutoresetMode
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import batch_differing_spaces, batch_space, concatenate, create_empty_array, iterate

from reactorlib import ExecutorName, RunError
from reactorlib.gymnasium.called_env import CalledVectorEnv, check_counts, start_method_of
from reactorlib.gymnasium.identity import distinct
from reactorlib.gymnasium.isolation import Isolate, apart
from reactorlib.gymnasium.saving import Journal, opened, restore, save
from reactorlib.gymnasium.seeding import checked_rule, seeds_of
from reactorlib.gymnasium.vector.groups import EnvironmentTimeoutError, Groups
from reactorlib.gymnasium.vector.infos import Info, merged
from reactorlib.gymnasium.vector.layout import Layout
from reactorlib.gymnasium.vector.share import Setup
from reactorlib.gymnasium.vector.stepping_plan import SteppingPlan, chosen

NOT_CALLED = ("reset", "step", "close", "_setattr", "_check_spaces")


class ReactorVectorEnv(CalledVectorEnv):
    """Several environments on each of a few workers, in place of Gymnasium's SyncVectorEnv or AsyncVectorEnv.

    `env_fns` make an environment at each call, and each of the `workers` steps a share of them. By default there are
    as many workers as processors. Where processors are few, or with `caller_steps`, the caller's process is one of
    them. By default it is not if its thread runs an event loop or is not the main one. It steps its share in `step` and
    `step_wait`, which no timeout breaks off. `executor` is "processes", "threads", "inline", or "mpi" for ranks, where
    `python -m reactorlib.mpi` runs the script. `start_method` says how processes start. Without any of these four,
    `plan` is made: processes where they pay, by steps of one environment that are timed. Results are the same.

    Where `reset` is given a number s, environment i gets the seed s + i, as in Gymnasium. With `seeds="spawn"` it gets
    one of NumPy's SeedSequence, so that two numbers share no streams.

    `isolate` keeps environments apart that share something. "generators" gives each its own random, NumPy's and
    torch's global generators, seeded by `reset`. "processes" also gives each a process of its own. A forked process
    begins with the module and class state of the caller, so give `start_method="spawn"` if that has changed. A report
    of `check_isolation` chooses. With True, the first one is checked, which takes some seconds. ValueError if neither
    suffices.

    With `resumable`, `save` also serves environments that cannot be pickled at their first reset: their seeds and
    actions are kept, and `restore` repeats them. `copy`, `observation_mode` and `autoreset_mode` are as of
    SyncVectorEnv. With `copy`, the caller keeps what `reset` and `step` return; large batches are lent, not copied.

    Five arguments stand where AsyncVectorEnv has them, for programs that pass them. `max_concurrency` bounds the
    workers. `shared_memory` and `daemon` change nothing. `worker` is refused with a ValueError, as there is no pipe to
    serve. `context` is the old name of `start_method`.

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
        executor: ExecutorName | None = None,
        start_method: str | None = None,
        seeds: str = "consecutive",
        isolate: Isolate = False,
        resumable: bool = False,
    ) -> None:
        if worker is not None:
            raise ValueError("a custom `worker` serves one environment over a pipe: ReactorVectorEnv has neither")
        method = start_method_of(start_method, context)
        env_fns, in_processes = apart(list(env_fns), isolate, executor or "processes")
        self.env_fns = env_fns = [partial(Journal, one) for one in env_fns] if resumable else env_fns
        check_counts(env_fns, max_concurrency=max_concurrency, workers=workers)
        self.seeds = checked_rule(seeds)
        self.copy, self.observation_mode = copy, observation_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = n = len(env_fns)
        self._state, self._was_reset = AsyncState.DEFAULT, False
        if in_processes:
            workers, caller_steps, max_concurrency = n, False, None
        make = distinct(env_fns)
        with closing(make[0]()) as env:
            self._learn_spaces(env)
            found = chosen(env, n, executor, workers, caller_steps, method, max_concurrency)
        del env  # no worker needs it
        self.plan, method, caller_steps = found
        self._open(make, self.plan, method, caller_steps)

    def _learn_spaces(self, env: Any) -> None:
        """Learn the spaces of all from a first environment. Raises ValueError or TypeError for an unknown mode."""
        self.metadata = {**env.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = env.render_mode
        self.single_action_space, self.single_observation_space = env.action_space, env.observation_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        mode = self.observation_mode
        if isinstance(mode, tuple) and len(mode) == 2:
            if not all(isinstance(space, spaces.Space) for space in mode):
                raise TypeError(f"`observation_mode` is a tuple of two spaces, got {mode}")
            self.observation_space, self.single_observation_space = mode
        elif mode == "same":
            self.observation_space = batch_space(env.observation_space, self.num_envs)
        elif mode == "different":
            several = [env.observation_space]
            for make in self.env_fns[1:]:
                with closing(make()) as other:
                    several.append(other.observation_space)
            self.observation_space = batch_differing_spaces(several)
        else:
            raise ValueError(f"`observation_mode` must be 'same', 'different' or a tuple of two spaces, got {mode!r}")

    def _open(self, make: list[Any], plan: SteppingPlan, method: str | None, caller_steps: bool) -> None:
        n, in_place, executor = self.num_envs, not self.copy, plan.executor
        bounds = [n * share // plan.workers for share in range(plan.workers + 1)]
        observation_space, action_space = self.single_observation_space, self.single_action_space
        layout = Layout(n, len(bounds) - 1, observation_space, self.action_space, action_space, in_place)
        apart, forked = executor == "mpi", method in (None, "fork")  # ranks share no memory
        setup = Setup(make, bounds, layout, self.autoreset_mode, os.getpid(), forked, apart)
        self._groups = Groups(setup, executor, method, caller_steps, weakref.ref(self))
        self._last: Any = None if layout.is_plain else create_empty_array(observation_space, n, np.zeros)
        try:
            self._check_spaces(observation_space, action_space)
        except BaseException:
            self.close(terminate=True)
            raise

    def _check_spaces(self, observation_space: Any, action_space: Any) -> None:
        """Raise RuntimeError where an environment has others."""
        same = self.observation_mode == "same"
        spaces_alike = partial(_are_alike, same=same, observation_space=observation_space, action_space=action_space)
        rows = self.apply(spaces_alike)
        if not all(observations for observations, _ in rows):
            what = "equal: is observation_mode='different' meant?" if same else "of one shape and dtype"
            raise RuntimeError(f"the observation spaces of the environments are not {what}")
        if not all(actions for _, actions in rows):
            raise RuntimeError(f"an environment has an action space different from `{action_space}`")

    def _copies(self, value: Any) -> list[Any]:
        """One value per environment. With other processes these are copies, as for AsyncVectorEnv."""
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
        self._assert_may("reset_async")
        seeds = seeds_of(seed, self.num_envs, self.seeds)
        mask = None
        if options is not None and "reset_mask" in options:
            options = dict(options)
            mask = checked_mask(options.pop("reset_mask"), self.num_envs, self._was_reset).tolist()
        self._begin_reset(seeds, self._copies(options), mask)

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
        """Step all environments. Returns observations, rewards, terminations, truncations and infos.

        `actions` is a batch of the action space with a row per environment. Observations are one as well, with their
        space's dtype. The others are arrays of shape (num_envs,): rewards float64, terminations and truncations bool.
        """
        if self.closed or self._state is not AsyncState.DEFAULT:
            self._assert_may("step")
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
        self._assert_may("step_async")
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
        self._assert_may("call_async")
        if name in NOT_CALLED:
            raise ValueError(f"`call` does not call `{name}`: use `{name}` of the vector environment")
        self._begin_call(name, self._copies((args, kwargs)))

    def _begin_call(self, name: str, arguments: list[Any]) -> None:
        self._groups.begin("call", [(name, part) for part in self._groups.shared_out(arguments)])
        self._state = AsyncState.WAITING_CALL

    def call_wait(self, timeout: float | None = None) -> tuple[Any, ...]:
        """The results of the call that was begun. After a TimeoutError, wait again or close."""
        return tuple(one for part in self._wait(AsyncState.WAITING_CALL, timeout) for one in part)

    def apply(self, function: Callable[[Any], Any], environments: Sequence[int] | None = None) -> list[Any]:
        """The results of a function that is called with each environment, or with these, where they live."""
        self._assert_may("apply")
        chosen = list(range(self.num_envs) if environments is None else environments)
        parts = self._ask_all("apply", (function, chosen))
        by_row = dict(zip(sorted(set(chosen)), (one for part in parts for one in part), strict=True))
        return [by_row[row] for row in chosen]

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment: to one value each of a list or tuple, else all to the same."""
        self._assert_may("set_attr")
        each = self._one_each(values)
        self._begin_call("set_wrapper_attr", [((name, value), {}) for value in each])
        self.call_wait()

    def save(self) -> bytes:
        """The state of all environments, from which `restore` goes on. Raises ResumeError where one has none."""
        self._assert_may("save")
        return save(self, [self._groups])

    def restore(self, state: bytes) -> None:
        """Bring all environments to a state that `save` returned, here or in another process: only one you trust.

        Raises ResumeError where an environment does not come to its state: reset, or restore another state.
        """
        self._assert_may("restore")
        saved = opened(state, self)
        if saved.pool is not None and saved.pool.pending.any():
            raise ValueError("the state is of a ReactorPool with environments that were sent to")
        restore(self, [self._groups], saved)
        self._was_reset = True

    def _assert_is_running(self) -> None:
        if self.closed or self._groups.session.closed:
            when = "a call to `close()`" if self.closed else "an error ended it"
            raise ClosedEnvironmentError(f"Trying to operate on `{type(self).__name__}`, after {when}.")

    def _assert_may(self, name: str) -> None:
        """Raise ClosedEnvironmentError or AlreadyPendingCallError if this cannot be called now."""
        self._assert_is_running()
        if self._state is not AsyncState.DEFAULT:
            pending = str(self._state.value)
            raise AlreadyPendingCallError(
                f"Calling `{name}` while waiting for a pending call to `{pending}` to complete.", pending
            )

    def _wait(self, state: AsyncState, timeout: float | None) -> list[Any]:
        self._assert_is_running()
        if self._state is not state:
            name = state.value
            raise NoAsyncCallError(f"Calling `{name}_wait` without any prior call to `{name}_async`.", name)
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
            terminate = not self._groups.ends(timeout)
        if terminate:
            self._groups.session.kill()
        elif not self._groups.session.closed:
            try:
                self._ask_all("close", ())
            finally:
                self._groups.session.close()


def _are_alike(env: Any, same: bool, observation_space: Any, action_space: Any) -> tuple[bool, bool]:
    """Whether the spaces of an environment are these; observations, unless they are the `same`, may be equivalent."""
    found = env.observation_space
    alike = observation_space == found if same else is_space_dtype_shape_equiv(observation_space, found)
    return bool(alike), bool(action_space == env.action_space)


def checked_mask(mask: Any, n: int, all_were_reset: bool) -> Any:
    """The reset mask of `n` environments, if it is one. It may leave out some only if `all_were_reset` before."""
    if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
        raise TypeError(f"`options['reset_mask']` must be an array of booleans, got {mask!r}")
    if mask.shape != (n,) or not mask.any():
        raise ValueError(f"`options['reset_mask']` must have the shape ({n},) and at least one True, got {mask}")
    if not (all_were_reset or mask.all()):
        raise ValueError("reset all environments first: some that `reset_mask` leaves out have no observation yet")
    return mask
