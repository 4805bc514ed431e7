"""Environments of which those that are ready go on while others are still being stepped: send to some, receive some.

Each worker is a vector environment of its own, in a session of its own, so that none waits for another's step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from itertools import pairwise
from time import monotonic, sleep
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

import numpy as np
from gymnasium.error import AlreadyPendingCallError, ClosedEnvironmentError, NoAsyncCallError
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space, iterate

from reactorlib.cpus import available_cpus
from reactorlib.gymnasium.called_env import CalledVectorEnv, check_counts, start_method_of
from reactorlib.gymnasium.identity import distinct
from reactorlib.gymnasium.pool.batch_order import BatchOrder, Order, order_of
from reactorlib.gymnasium.pool.member import Member
from reactorlib.gymnasium.pool.results import Results
from reactorlib.gymnasium.saving import opened, restore, save
from reactorlib.gymnasium.seeding import checked_rule, seeds_of
from reactorlib.gymnasium.vector import EnvironmentTimeoutError
from reactorlib.transport.waiting import Spinner

# Results are taken 0.6 ms after the end of steps of 4 to 12 ms, on two loaded cores. With 2 ms it is 1.2 ms, and
# looking takes 2 % of a core less.
SHORTEST_SLEEP_S, LONGEST_SLEEP_S = 50e-6, 250e-6
LOOK_S = 0.05  # between two looks at whether the workers live

Step = tuple[Any, Any, Any, Any, dict[str, Any]]


class PoolState(NamedTuple):
    """The state of a pool besides that of its environments."""

    pending: Any  # environments that have yet to be received
    rows: Any  # their Results
    order: dict[str, Any]


class ReactorPool(CalledVectorEnv):
    """A vector environment of which parts are stepped at a time, so that nobody waits for the slowest step of all.

    `env_fns`, `workers`, `start_method` and `seeds` are as of ReactorVectorEnv. The environments have the same spaces,
    and the caller's process steps none of them. `executor` is "processes" or "threads". `autoreset_mode` is not
    "Disabled". There is no `isolate`. `context` is the old name of `start_method`.

    `reset_async` and `send` let environments go on. `recv` returns the results of as many as are asked for, whichever
    are ready first: `infos["env_id"]` has their numbers. Each environment's own trajectory is deterministic, the order
    of arrival is not. `reset` and `step` wait for all. After an exception of an environment, which `recv` raises, all
    begin anew with `reset`.

    With `order="logical"`, logical time decides the batches, the same on any number of workers. An environment that is
    sent to is due after its duration: a positive integer of `durations`, or its attribute `duration`. `recv` returns
    exactly the `min_envs` environments that are due first. To repeat the batches of another run, give its lists of
    `infos["env_id"]` as `order`. `resumable` is as of ReactorVectorEnv.

    >>> import gymnasium
    >>> pool = ReactorPool([lambda: gymnasium.make("CartPole-v1")] * 4, workers=2)
    >>> pool.reset_async(seed=1)
    >>> for _ in range(10):
    ...     observations, rewards, terminations, truncations, infos = pool.recv(2)
    ...     pool.send(np.zeros(len(rewards), int), infos["env_id"])
    >>> pool.close()
    """

    def __init__(
        self,
        env_fns: Sequence[Callable[[], Any]],
        *,
        workers: int | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        start_method: str | None = None,
        context: str | None = None,
        executor: str = "processes",
        seeds: str = "consecutive",
        order: Order = "arrival",
        durations: Sequence[int] | None = None,
        resumable: bool = False,
    ) -> None:
        self._members: list[Member] = []
        self._order = BatchOrder()
        if executor not in ("processes", "threads"):
            raise ValueError(f"`executor` must be 'processes' or 'threads', got {executor!r}")
        if AutoresetMode(autoreset_mode) is AutoresetMode.DISABLED:
            raise ValueError("`autoreset_mode` must be 'NextStep' or 'SameStep': `reset` begins all episodes anew")
        check_counts(env_fns, workers=workers)
        self.seeds = checked_rule(seeds)
        self.num_envs = n = len(env_fns)
        count = min(n, int(workers or available_cpus()))
        bounds = [n * member // count for member in range(count + 1)]
        self._spinner = Spinner()
        self._pending = np.zeros(n, np.bool_)  # environments that have yet to be received
        self._sent, self._sends = np.zeros(n, np.int64), 0  # the number of the last `send` to each
        self._failed = False
        options = {"start_method": start_method_of(start_method, context), "autoreset_mode": autoreset_mode,
                   "executor": executor, "resumable": resumable}  # fmt: skip
        try:
            make = distinct(env_fns)
            for low, high in pairwise(bounds):
                self._members.append(Member(str(self), low, make[low:high], **options))
            self._member_of = [member for member in self._members for _ in range(member.count)]
            self._learn_spaces()
            self._results = Results(self.single_observation_space, n)
            self._order = order_of(order, durations, n, lambda: self._each_member(_declared_durations))
        except BaseException:
            self.close(terminate=True)
            raise

    def _learn_spaces(self) -> None:
        """Take the spaces of the first worker's environments. Raises RuntimeError where others have different ones."""
        first, *others = [member.envs for member in self._members]
        self.metadata, self.render_mode = first.metadata, first.render_mode
        for kind in ("observation", "action"):
            space = getattr(first, f"single_{kind}_space")
            if any(getattr(other, f"single_{kind}_space") != space for other in others):
                raise RuntimeError(f"an environment has an {kind} space different from `{space}`")
            setattr(self, f"single_{kind}_space", space)
            setattr(self, f"{kind}_space", batch_space(space, self.num_envs))

    def reset_async(self, seed: Any = None, options: dict[str, Any] | None = None) -> None:
        """Begin to reset all environments; `recv` gives their observations, with rewards of 0."""
        self._assert_may("reset_async")
        if options is not None and "reset_mask" in options:
            raise ValueError("`reset_mask`: all environments of a pool are reset")
        seeds = seeds_of(seed, self.num_envs, self.seeds)
        self._order.begin(self.num_envs)
        self._results.ready[:] = False
        for member in self._members:
            member.reset(seeds[member.low : member.low + member.count], options)
        self._pending[:], self._failed = True, False

    def send(self, actions: Any, env_ids: Any) -> None:
        """Let these environments take a step each: `env_ids` are n different numbers, `actions` a batch of n."""
        self._assert_has_not_failed()
        ids, rows = np.asarray(env_ids), list(iterate(self.action_space, deepcopy(actions)))  # they may have to wait
        if ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iu") or len(rows) != len(ids):
            raise ValueError(f"{len(rows)} actions, and env_ids={env_ids!r}: give one number for each")
        if len(np.unique(ids)) != len(ids) or not np.isin(ids, range(self.num_envs)).all():
            raise ValueError(f"env_ids={env_ids!r}: give different numbers below {self.num_envs}")
        ids = ids.astype(np.int64)
        if self._pending[ids].any():
            busy = ids[self._pending[ids]].tolist()
            raise AlreadyPendingCallError(f"Calling `send` before what environments {busy} give was received.", "step")
        numbers = ids.tolist()
        self._order.sent(numbers)
        self._pending[ids] = True
        self._sends += 1
        self._sent[ids] = self._sends
        members = [self._member_of[number] for number in numbers]
        with self._failing():
            for member, number, action in zip(members, numbers, rows, strict=True):
                member.step(number, action)
            self._advance(dict.fromkeys(members))

    def recv(self, min_envs: int | None = None, timeout: float | None = None, *, max_envs: int | None = None) -> Step:
        """Results of the environments that are ready, at least `min_envs` of them (default: all that were sent to).

        Observations, rewards, terminations, truncations, infos, with a row for each, in the order of their numbers,
        which are `infos["env_id"]`. If more than `max_envs` are ready, the ones that were sent to first are returned.
        TimeoutError after `timeout` seconds: receive again, or close.
        """
        ids, *received, infos = self._received(min_envs, timeout, max_envs)
        return (*received, {**infos, "env_id": ids})

    def _received(
        self, min_envs: int | None = None, timeout: float | None = None, max_envs: int | None = None
    ) -> tuple[Any, ...]:
        """The numbers of the ready environments, and their results."""
        self._assert_is_running()
        count = sent_to = int(self._pending.sum())
        if not count:
            raise NoAsyncCallError("Calling `recv` without any prior call to `send` or `reset_async`.", "step")
        if min_envs is not None and not 1 <= min_envs <= count:
            raise ValueError(f"min_envs={min_envs}, but {count} environments were sent to")
        if max_envs is not None and max_envs < (min_envs or 1):
            raise ValueError(f"max_envs={max_envs} is less than min_envs={min_envs or 1}")
        count = min(count, max_envs or count) if min_envs is None else int(min_envs)
        chosen, wanted = self._order.choose(count, max_envs or sent_to, self._pending), None
        if chosen is not None:
            count, wanted = len(chosen), np.isin(range(self.num_envs), chosen)
        with self._failing():
            ready = self._await(count, timeout, wanted)
            if len(ready) >= count:
                if max_envs is not None and chosen is None:
                    ready = np.sort(ready[np.argsort(self._sent[ready], kind="stable")[:max_envs]])
                observations, *ends, infos = self._results.take(ready)
                self._order.received()
                self._pending[ready] = False
                return (ready, observations, *ends, infos)
        raise EnvironmentTimeoutError(
            f"The call to `recv` has timed out after {timeout} second(s): {len(ready)} of {count} are ready"
        )

    def _await(self, count: int, timeout: float | None = None, wanted: Any = None) -> Any:
        """Look, then sleep, until `count` of the `wanted` environments are ready or the time is over.

        Returns the numbers of the ready ones. Without `wanted`, all are.
        """
        began = looked = monotonic()
        pause = SHORTEST_SLEEP_S
        self._spinner.spin(lambda: len(self._ready(wanted)) >= count, clock())
        while len(ready := self._ready(wanted)) < count:
            now = monotonic()
            if timeout is not None and now - began >= timeout:
                break
            if now - looked >= LOOK_S:
                looked = now
                self._advance(self._members, look=True)
            sleep(pause)
            pause = min(2 * pause, LONGEST_SLEEP_S)
        return ready

    def _ready(self, wanted: Any) -> Any:
        self._advance(self._members)
        ready = self._results.ready
        return np.flatnonzero(ready if wanted is None else ready & wanted)

    def _advance(self, members: Iterable[Member], look: bool = False) -> None:
        """Take the results that are there, and begin the steps that wait."""
        for member in members:
            if (ended := member.advance(look)) is not None:
                self._results.put(*ended)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """After an error nothing can be received, and all have to be reset."""
        try:
            yield
        except BaseException:
            self._pending[:], self._failed = False, True
            raise

    def reset(self, *, seed: Any = None, options: dict[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Reset all environments: observations and infos."""
        self.reset_async(seed, options)
        _, observations, *_, infos = self._received()
        return observations, infos

    def step(self, actions: Any) -> Step:
        """Step all environments: observations, rewards, terminations, truncations, infos."""
        self.send(actions, np.arange(self.num_envs))
        _, *received = self._received()
        return tuple(received)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Call a method of each environment, or read its attribute; none is being stepped meanwhile."""
        self._assert_may("call")
        return tuple(self._each_member(lambda member: member.envs.call(name, *args, **kwargs)))

    def _each_member(self, results: Callable[[Member], Sequence[Any]]) -> list[Any]:
        """The results of the environments of all members."""
        return [one for member in self._members for one in results(member)]

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute of each environment: to one value each of a list or tuple, else all to the same."""
        self._assert_may("set_attr")
        each = self._one_each(values)
        for member in self._members:
            member.envs.set_attr(name, each[member.low : member.low + member.count])

    def save(self) -> bytes:
        """The state of all environments, from which `restore` goes on, once those that were sent to are ready.

        Results that were not received yet are a part of it. Raises ResumeError where an environment has no state.
        """
        self._assert_has_not_failed()
        with self._failing():
            pending = self._await(int(self._pending.sum()))
        state = PoolState(self._pending.copy(), self._results.rows(pending), self._order.save())
        return save(self, [member.groups for member in self._members], state)

    def restore(self, state: bytes) -> None:
        """Bring all environments to a state that `save` returned, here or in another process: only one you trust.

        Raises AlreadyPendingCallError while environments are being stepped: receive them first. Raises ResumeError
        where an environment does not come to its state: reset, or restore another state.
        """
        self._assert_may("restore")
        saved = opened(state, self)
        if saved.pool is None:
            raise ValueError("the state is of a ReactorVectorEnv")
        self._order.restore(saved.pool.order)
        self._results.ready[:], self._failed = False, True
        for member in self._members:
            member.forget()
        restore(self, [member.groups for member in self._members], saved)
        self._results.put(np.flatnonzero(saved.pool.pending), saved.pool.rows)
        self._pending[:], self._failed = saved.pool.pending, False

    def _assert_is_running(self) -> None:
        if self.closed or any(member.groups.session.closed for member in self._members):
            when = "a call to `close()`" if self.closed else "an error ended it"
            raise ClosedEnvironmentError(f"Trying to operate on `{type(self).__name__}`, after {when}.")

    def _assert_may(self, name: str) -> None:
        self._assert_is_running()
        if self._pending.any():
            raise AlreadyPendingCallError(f"Calling `{name}` while environments are being stepped.", "step")

    def _assert_has_not_failed(self) -> None:
        self._assert_is_running()
        if self._failed:
            raise RuntimeError("an environment has raised: reset first")

    def close_extras(self, timeout: float | None = None, terminate: bool = False, **_kwargs: Any) -> None:
        """Close all environments. `terminate`, or a step that takes longer than `timeout` seconds: at once."""
        with ExitStack() as stack:  # all, also where one of them raises
            for member in self._members:
                stack.callback(member.close, timeout, terminate)


def _declared_durations(member: Member) -> list[Any]:
    return member.envs.apply(lambda env: env.get_wrapper_attr("duration") if env.has_wrapper_attr("duration") else None)
