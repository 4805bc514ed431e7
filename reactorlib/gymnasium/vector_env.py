"""A vector environment whose environments are stepped by the workers of a session, several by each.

What it does and says is what Gymnasium's SyncVectorEnv does, trajectories bit for bit; the asynchronous calls, and what
they raise, are those of its AsyncVectorEnv.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import numpy as np
from gymnasium import logger, spaces
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.async_vector_env import AsyncState
from gymnasium.vector.utils import batch_differing_spaces, batch_space, concatenate, create_empty_array, iterate

from reactorlib.cpus import available_cpus
from reactorlib.errors import WorkerError
from reactorlib.executors.start_method import choose_start_method
from reactorlib.gymnasium.layout import Layout, Lease, put_rows
from reactorlib.gymnasium.reactors import Carried, Environments, Fault, Part, Setup, known_to_all, packed, unpacked
from reactorlib.gymnasium.share import Info, only_numbers
from reactorlib.session import Session, Stepper
from reactorlib.transport.batch import batch

UNREGISTERED = "a new process does not have the environments that were registered in this one"
FEW_CPUS = 4  # up to which the caller's process steps environments, too


class EnvironmentTimeoutError(multiprocessing.TimeoutError, TimeoutError):
    """A wait took longer than the caller allows: AsyncVectorEnv raises the one, everybody else the other."""


class ReactorVectorEnv(VectorEnv[Any, Any, Any]):
    """Several environments on each of a few workers; in the place of Gymnasium's SyncVectorEnv or AsyncVectorEnv.

    `env_fns` make the environments. `workers` of them (default: as many as there are processors, at most one for each
    environment) step a share each; where processors are few, or with `caller_steps`, the caller's process is one of
    them: it steps its share in `step` and `step_wait`, which no timeout breaks off. `executor` is "processes",
    "threads", "inline", or "mpi" for ranks that may be on several hosts, where the script is run by `python -m
    reactorlib.mpi`; `context` says how processes start: "fork", "spawn" or "forkserver".

    `copy`, `observation_mode` and `autoreset_mode` are as of SyncVectorEnv. With `copy`, what `reset` and `step` return
    is the caller's to keep; large batches are lent for as long as they are kept, not copied. `shared_memory` and
    `daemon` are taken for AsyncVectorEnv's sake and change nothing, `max_concurrency` bounds the workers; a `worker`
    function is refused.

    An environment that raises: its own exception, with its number and traceback as notes; the others go on, and
    `reset` starts anew. WorkerError, with the number of the environment that ran, where a worker process dies.
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
        executor: str = "processes",
    ) -> None:
        self.env_fns = env_fns = list(env_fns)
        if not env_fns:
            raise ValueError("env_fns is empty: give a function for each environment")
        if worker is not None:
            raise ValueError("a custom `worker` serves one environment over a pipe: ReactorVectorEnv has neither")
        for name, count in (("max_concurrency", max_concurrency), ("workers", workers)):
            if count is not None and (count != int(count) or count < 1):
                raise ValueError(f"`{name}` must be a positive integer or None, got {count!r}")
        self.shared_memory, self.copy, self.context, self.daemon = shared_memory, copy, context, daemon
        self.observation_mode, self.max_concurrency = observation_mode, max_concurrency
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = n = len(env_fns)
        self._state = AsyncState.DEFAULT
        self._whole, self._first = "", 0  # in errors: what these environments are a part of, and from which number
        self._learn_spaces()
        if caller_steps is None:
            caller_steps = executor in ("inline", "mpi") or available_cpus() <= FEW_CPUS
        most = available_cpus() if executor != "mpi" else _ranks() - (0 if caller_steps else 1)
        shares = min(n, int(workers or most), int(max_concurrency or n))
        if executor == "inline":
            shares, caller_steps = 1, True
        self._bounds = [n * share // shares for share in range(shares + 1)]
        self._open(executor, caller_steps)

    # Opening

    def _learn_spaces(self) -> None:
        """What a first environment says of all."""
        env = self.env_fns[0]()
        self.metadata = {**env.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = env.render_mode
        self.single_action_space = env.action_space
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        mode = self.observation_mode
        if isinstance(mode, tuple) and len(mode) == 2:
            if not all(isinstance(space, spaces.Space) for space in mode):
                raise TypeError(
                    f"Expected both elements of observation_mode to be Spaces, got {type(mode[0])} and {type(mode[1])}"
                )
            self.observation_space, self.single_observation_space = mode
        elif mode == "same":
            self.single_observation_space = env.observation_space
            self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        elif mode == "different":
            self.single_observation_space = env.observation_space
            others = [self._space_of(one) for one in self.env_fns[1:]]
            self.observation_space = batch_differing_spaces([env.observation_space, *others])
        else:
            raise ValueError(
                "Invalid `observation_mode`, expected: 'same' or 'different' or tuple of single and batch observation "
                f"space, actual got {mode}"
            )
        env.close()

    @staticmethod
    def _space_of(make: Callable[[], Any]) -> Any:
        env = make()
        space = env.observation_space
        env.close()
        return space

    def _open(self, executor: str, caller_steps: bool) -> None:
        n, shares = self.num_envs, len(self._bounds) - 1
        layout = Layout(
            n, shares, self.single_observation_space, self.action_space, self.single_action_space, not self.copy
        )
        self._is_apart = executor == "mpi"  # workers share no memory
        # What the main script defines is the same in forked processes, and in ranks, which import it.
        method = choose_start_method(self.context, lambda: UNREGISTERED) if executor == "processes" else None
        forked = method in (None, "fork")
        setup = Setup([*self.env_fns], self._bounds, layout, self.autoreset_mode, os.getpid(), forked, self._is_apart)
        self._known = known_to_all(forked)
        first = 0 if caller_steps else 1
        if shares == 1 and caller_steps:
            executor = "inline"
        several: dict[str, Any] = {}
        if executor != "inline":
            placement = {f"Environments.groups[{share}]": share + first for share in range(shares)}
            several = {"workers": shares + first, "placement": placement, "start_method": method}
        self._session = Session(Environments, groups=shares, setup=Carried(setup), executor=executor, **several)
        self._remote = [executor in ("processes", "mpi") and share + first > 0 for share in range(shares)]
        self._step: Stepper = self._session.stepper(("step",), ("replies",))
        self._ask: Stepper = self._session.stepper(("ask",), ("replies",))
        self._running = self._ask  # the stepper whose step was begun
        self._what = "open"
        try:
            memory = (
                batch(None, layout.nbytes, np.uint8) if self._is_apart else self._session.batch(layout.nbytes, np.uint8)
            )
            self._arrays = layout.carve(memory.array)
            self._leases = [Lease(batch) for batch in self._arrays.observations[:-1]]
            self._buffer = 0
            self._last: Any = None
            if not layout.is_plain:
                self._last = create_empty_array(self.single_observation_space, n, np.zeros)
            own = [None if self._is_apart and remote else memory for remote in self._remote]
            self._all("open", own, raw=True)
            setup.make.clear()  # what is kept till the exit must not refer to whom the functions belong to
            self._check_spaces(self.single_observation_space, self.single_action_space)
        except BaseException:
            self.close(terminate=True)
            raise

    def _check_spaces(self, observation_space: Any, action_space: Any) -> None:
        """Raise RuntimeError where an environment has others."""
        same = self.observation_mode == "same"
        arguments = (same, observation_space, action_space)
        rows = [row for rows in self._all("compare", [arguments] * len(self._remote)) for row in rows]
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

    # What groups are asked, and what they say

    def _one_each(self, value: Any) -> list[Any]:
        """A value for each environment, its own where processes have theirs: as of AsyncVectorEnv."""
        return [deepcopy(value) if any(self._remote) else value for _ in range(self.num_envs)]

    def _shared_out(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """What is for the environments of each share."""
        return [values[low:high] for low, high in pairwise(self._bounds)]

    def _all(self, method: str, arguments: Sequence[Any], raw: bool = False) -> list[Any]:
        """Ask all groups, wait for what they say."""
        self._begin(method, arguments, raw)
        return self._finish()

    def _begin(self, method: str, arguments: Sequence[Any], raw: bool = False) -> None:
        questions = [
            packed((method, one), self._known) if remote and not raw else (method, one)
            for remote, one in zip(self._remote, arguments, strict=True)
        ]
        self._start(self._ask, method, questions)

    def _start(self, stepper: Stepper, what: str, value: Any) -> None:
        self._what, self._running = what, stepper
        try:
            stepper.begin(value)
        except WorkerError as error:
            raise self._told(error) from error

    def _finish(self, timeout: float | None = None) -> list[Any]:
        return self._results(self._replies(timeout))

    def _replies(self, timeout: float | None) -> list[Any]:
        """What the groups reply, once all have. Raises EnvironmentTimeoutError and WorkerError only."""
        try:
            replies: list[Any] = self._running.finish(timeout)
        except TimeoutError as error:
            where = [int(row) + self._first for row in self._arrays.inside if row >= 0]
            raise EnvironmentTimeoutError(
                f"The call to `{self._what}_wait` has timed out after {timeout} second(s): it waits for "
                f"{_numbers(where) if where else 'workers'}"
            ) from error
        except WorkerError as error:
            raise self._told(error) from error
        return replies

    def _results(self, replies: list[Any]) -> list[Any]:
        """What the groups said; the error of the first environment that raised."""
        results = [unpacked(reply) for reply in replies]
        for share, result in enumerate(results):
            if isinstance(result, Fault):
                number = result.environment + self._first
                where = f"environment {number}" if result.environment >= 0 else f"worker {share}"
                result.error.add_note(f"in {where} of {self._whole or self}, in `{self._what}`")
                raise result.error
            if isinstance(result, Part):
                results[share] = self._taken(share, result)
        return results

    def _taken(self, share: int, part: Part) -> Any:
        """Copy into the arrays what a share has in memory of its own; what else it said."""
        rows, arrays = slice(*self._bounds[share : share + 2]), self._arrays
        if arrays.observations:
            put_rows(arrays.observations[self._buffer], rows, part.observations)
        arrays.rewards[rows], arrays.terminations[rows], arrays.truncations[rows] = part[2:]
        return part.said

    def _told(self, error: WorkerError) -> WorkerError:
        """The error of a worker that died, with the environment that it was in."""
        share = None if error.worker is None else error.worker - (0 if self._remote[0] is False else 1)
        if share is None or not 0 <= share < len(self._remote):
            return error
        inside = int(self._arrays.inside[share])
        low, high = (self._first + bound for bound in self._bounds[share : share + 2])
        where = f"environment {self._first + inside}" if inside >= 0 else _numbers(range(low, high))
        return WorkerError(f"{where}, in `{self._what}`: {error}")

    # Attributes of environments

    @property
    def np_random_seed(self) -> Any:
        """The seed of each environment."""
        return self.get_attr("np_random_seed")

    @property  # type: ignore[misc]
    def np_random(self) -> Any:
        """The random number generator of each environment."""
        return self.get_attr("np_random")

    # Reset

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments, or those of `options["reset_mask"]`: observations and infos."""
        self.reset_async(seed=seed, options=options)
        return self.reset_wait()

    def reset_async(self, seed: Any = None, options: dict[str, Any] | None = None) -> None:
        """Begin to reset; see `reset_wait`."""
        self._assert_is_running()
        seeds = seeds_of(seed, self.num_envs)
        self._assert_nothing_pends("reset_async")
        mask = None
        if options is not None and "reset_mask" in options:
            options = dict(options)
            mask = self._checked_mask(options.pop("reset_mask")).tolist()
        self._begin_reset(seeds, self._one_each(options), mask)

    def _begin_reset(self, seeds: list[Any], options: list[Any], mask: list[bool] | None) -> None:
        self._turn()
        masks = self._shared_out(mask) if mask is not None else [None] * len(self._remote)
        parts = [
            (*own, self._buffer) for own in zip(self._shared_out(seeds), self._shared_out(options), masks, strict=True)
        ]
        self._begin("reset", parts)
        self._state = AsyncState.WAITING_RESET

    def reset_wait(self, timeout: float | None = None) -> tuple[Any, dict[str, Any]]:
        """What the reset that was begun gives. TimeoutError after so many seconds: wait again, or close."""
        results = self._wait(AsyncState.WAITING_RESET, timeout)
        return self._observations(results), self._infos(results)

    def _checked_mask(self, mask: Any) -> Any:
        if not isinstance(mask, np.ndarray):
            raise TypeError(f"`options['reset_mask']` must be a numpy array, got {type(mask)}")
        if mask.shape != (self.num_envs,):
            raise ValueError(f"`options['reset_mask']` must have shape `({self.num_envs},)`, got {mask.shape}")
        if mask.dtype != np.bool_:
            raise TypeError(f"`options['reset_mask']` must have `dtype=np.bool_`, got {mask.dtype}")
        if not np.any(mask):
            raise ValueError(
                "`options['reset_mask']` must contain a boolean array with at least one True value, got "
                f"reset_mask={mask}"
            )
        return mask

    # Step

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """Step all environments: observations, rewards, terminations, truncations, infos."""
        self._assert_is_running()
        self._assert_nothing_pends("step")
        if not self._placed(actions):
            self._begin_with(actions)
            return self._stepped(self._finish())
        self._what = "step"
        try:
            replies = self._step(self._buffer)
        except WorkerError as error:
            raise self._told(error) from error
        return self._stepped(self._results(replies))

    def step_async(self, actions: Any) -> None:
        """Begin to step; see `step_wait`."""
        self._assert_is_running()
        self._assert_nothing_pends("step_async")
        if self._placed(actions):
            self._start(self._step, "step", self._buffer)
        else:
            self._begin_with(deepcopy(actions))  # the caller may write to them before `step_wait`
        self._state = AsyncState.WAITING_STEP

    def step_wait(self, timeout: float | None = None) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        """What the step that was begun gives. TimeoutError after so many seconds: wait again, or close."""
        return self._stepped(self._wait(AsyncState.WAITING_STEP, timeout))

    def _placed(self, actions: Any) -> bool:
        """Put the actions where all workers see them, if they are as the space says: other types travel as they are."""
        place = self._arrays.actions
        if place is None or type(actions) is not np.ndarray or actions.dtype != place.dtype or self._is_apart:
            return False
        if actions.shape != place.shape or not self._arrays.observations:
            return False
        place[...] = actions
        self._turn()
        return True

    def _begin_with(self, actions: Any) -> None:
        rows = list(iterate(self.action_space, actions))
        if len(rows) != self.num_envs:
            raise ValueError(f"{len(rows)} actions for {self.num_envs} environments")
        self._turn()
        self._begin("step", [(part, self._buffer) for part in self._shared_out(rows)])

    def _stepped(self, results: list[Any]) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        arrays = self._arrays
        return (
            self._observations(results),
            arrays.rewards.copy(),
            arrays.terminations.copy(),
            arrays.truncations.copy(),
            self._infos(results),
        )

    # What comes back

    def _turn(self) -> None:
        """Choose a batch of observations that nobody sees; the last one is copied, where all others are kept."""
        if self._leases:
            free = (number for number, lease in enumerate(self._leases) if lease.is_free)
            self._buffer = next(free, len(self._leases))

    def _observations(self, results: list[Any]) -> Any:
        """The batch of observations; `results` keep what was said beside them."""
        if not self._arrays.observations:
            rows = [row for _, rows in results for row in rows]
            results[:] = [said for said, _ in results]
            self._last = concatenate(self.single_observation_space, rows, self._last)
            return deepcopy(self._last) if self.copy else self._last
        if self._buffer < len(self._leases):
            return self._leases[self._buffer].lend()
        batch = self._arrays.observations[self._buffer]
        if not self.copy:
            return batch
        return batch.copy() if isinstance(batch, np.ndarray) else deepcopy(batch)

    def _infos(self, results: list[list[Info]]) -> dict[str, Any]:
        said = [info for infos in results for info in infos]
        infos: dict[str, Any] = {}
        if not said:
            return infos
        numbers = only_numbers(said, self.num_envs)
        if numbers is not None:
            return numbers
        for row, info, final in said:
            if final is not None:
                infos = self._add_info(infos, final, row)
            infos = self._add_info(infos, info, row)
        return infos

    # Calls

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or read its attribute."""
        self.call_async(name, *args, **kwargs)
        return self.call_wait()

    def call_async(self, name: str, /, *args: Any, **kwargs: Any) -> None:
        """Begin to call; see `call_wait`."""
        self._assert_is_running()
        self._assert_nothing_pends("call_async")
        self._begin("call", [(name, one) for one in self._shared_out(self._one_each((args, kwargs)))])
        self._state = AsyncState.WAITING_CALL

    def call_wait(self, timeout: float | None = None) -> tuple[Any, ...]:
        """The results of the call that was begun. TimeoutError after so many seconds: wait again, or close."""
        return tuple(one for part in self._wait(AsyncState.WAITING_CALL, timeout) for one in part)

    def apply(self, function: Callable[[Any], Any], environments: Sequence[int] | None = None) -> list[Any]:
        """What a function gives of each environment, or of these, where they live."""
        self._assert_is_running()
        self._assert_nothing_pends("apply")
        chosen = list(range(self.num_envs) if environments is None else environments)
        parts = self._all("apply", [(function, chosen)] * len(self._remote))
        by_row = dict(zip(sorted(set(chosen)), (one for part in parts for one in part), strict=True))
        return [by_row[row] for row in chosen]

    def render(self) -> tuple[Any, ...]:
        """What each environment renders."""
        return self.call("render")

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """An attribute of each environment."""
        return self.call(name)

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
        self._all("set_attr", [(name, part) for part in self._shared_out(values)])

    # States

    def _assert_is_running(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError(f"Trying to operate on `{type(self).__name__}`, after a call to `close()`.")
        if self._session.closed:
            raise ClosedEnvironmentError(f"Trying to operate on `{type(self).__name__}`, after an error ended it.")

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
            replies = self._replies(timeout)
        except EnvironmentTimeoutError:
            raise
        except BaseException:
            self._state = AsyncState.DEFAULT
            raise
        self._state = AsyncState.DEFAULT
        return self._results(replies)

    def close_extras(self, timeout: float | None = None, terminate: bool = False, **_kwargs: Any) -> None:
        """Close all environments. `terminate`, or a pending call that takes longer than `timeout` seconds: at once."""
        if self._session.closed:
            return
        if self._state is not AsyncState.DEFAULT and not terminate:
            logger.warn(f"Calling `close` while waiting for a pending call to `{self._state.value}` to complete.")
            try:
                self._replies(timeout)  # which nobody waits for any more
            except (EnvironmentTimeoutError, WorkerError):
                terminate = True
        if terminate:
            self._session.kill()
        elif not self._session.closed:
            try:
                self._all("close", [()] * len(self._remote))
            finally:
                self._session.close()

    def __del__(self) -> None:
        if not self.closed and hasattr(self, "_session"):
            self.close(terminate=True)


def _ranks() -> int:
    """How many ranks there are that serve sessions, with that of the caller."""
    from reactorlib.mpi.runs import serving  # only where it is used: it needs ranks

    return serving().size


def _numbers(environments: Sequence[int]) -> str:
    if len(environments) == 1:
        return f"environment {environments[0]}"
    return f"environments {', '.join(map(str, environments))}"


def seeds_of(seed: Any, n: int) -> list[Any]:
    """The seeds of `n` environments, by what a user gives for all."""
    if seed is None:
        return [None] * n
    if isinstance(seed, int | np.integer):
        return [int(seed) + position for position in range(n)]
    if len(seed) != n:
        raise ValueError(
            f"If seeds are passed as a list the length must match num_envs={n} but got length={len(seed)}."
        )
    return list(seed)
