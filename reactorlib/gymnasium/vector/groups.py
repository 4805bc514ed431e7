"""The caller's side of the groups of environments: what it asks them, and the memory that they share with it."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from reactorlib import Batch, ExecutorName, Session, Stepper, WorkerError
from reactorlib.gymnasium.identity import numbers_of
from reactorlib.gymnasium.saving import known_to_all
from reactorlib.gymnasium.vector.calling_thread import calling_thread
from reactorlib.gymnasium.vector.layout import Lease, put_rows
from reactorlib.gymnasium.vector.reactors import Environments, Fault, Remote, packed, unpacked
from reactorlib.gymnasium.vector.share import Setup

ELSEWHERE = "If that is the cause, give caller_steps=False and no executor='inline': then other processes step all"


class EnvironmentTimeoutError(multiprocessing.TimeoutError, TimeoutError):
    """A wait took longer than the caller allows. It is a TimeoutError of Python and of multiprocessing.

    `environments` are the numbers of those that are being called.
    """

    environments: Sequence[int] = ()


class Groups:
    """A session with one group for each share of the environments. Only one question is pending at a time.

    `whole` is the vector environment and `first` the number of its first environment, as errors show them.
    """

    def __init__(
        self, setup: Setup, executor: ExecutorName, method: str | None, caller_steps: bool, whole: Callable[[], object]
    ) -> None:
        layout, self.whole, self.first = setup.layout, whole, 0
        self._bounds, self.is_apart, self._caller_steps = setup.bounds, setup.apart, caller_steps
        self._known = known_to_all(setup.forked)
        shares, before = layout.shares, 0 if caller_steps else 1
        several: dict[str, Any] = {}
        if executor != "inline":
            placement = {f"Environments.groups[{share}]": share + before for share in range(shares)}
            several = {"workers": shares + before, "placement": placement, "start_method": method}
        self.session = Session(Environments, groups=shares, setup=setup, executor=executor, **several)
        self.remote = [executor in ("processes", "mpi") and share + before > 0 for share in range(shares)]
        self._step: Stepper = self.session.stepper(("step",), ("replies",))
        self._ask: Stepper = self.session.stepper(("ask",), ("replies",))
        self._running = self._ask  # the stepper whose step was begun
        self._what = "open"
        self.buffer = 0  # the batch that takes the next observations
        try:
            size = layout.nbytes
            own = Batch(np.empty(size, np.uint8), (size,), np.uint8) if self.is_apart else None
            memory = own or self.session.batch(size, np.uint8)
            self.arrays = layout.carve(memory.array)
            self.arrays.terminations[:] = self.arrays.truncations[:] = False
            self.leases = [Lease(one) for one in self.arrays.observations[:-1]]
            self.ask("open", [None if self.is_apart and remote else memory for remote in self.remote], raw=True)
            setup.make.clear()  # the functions' owners must not live until the exit
        except BaseException:
            self.session.kill()
            raise

    def shared_out(self, values: Sequence[Any]) -> list[Sequence[Any]]:
        """The part of the values that each share gets."""
        return [values[low:high] for low, high in pairwise(self._bounds)]

    def turn(self) -> None:
        """Choose a batch of observations that nobody sees; the last one is copied, where all others are kept."""
        if self.leases:
            free = (number for number, lease in enumerate(self.leases) if lease.is_free)
            self.buffer = next(free, len(self.leases))

    def ask(self, method: str, arguments: Sequence[Any], raw: bool = False) -> list[Any]:
        """Call a method of each share and wait for the results."""
        self.begin(method, arguments, raw)
        return self.finish()

    def begin(self, method: str, arguments: Sequence[Any], raw: bool = False) -> None:
        """Begin to call a method of each share. `raw` arguments are memory, which needs no pickle."""
        questions = [
            packed((method, one), self._known) if remote and not raw else (method, one)
            for remote, one in zip(self.remote, arguments, strict=True)
        ]
        self._start(self._ask, method, questions)

    def assert_none_has_ended(self) -> None:
        """Raise before any environment steps, so that the others stay as they are."""
        ended = np.flatnonzero(self.arrays.terminations | self.arrays.truncations)
        if len(ended):
            where = numbers_of(ended.tolist())
            raise AssertionError(f"the episode has ended: reset {where} first (autoreset_mode is disabled)")

    def begin_step(self) -> None:
        """Begin a step with the actions that lie in the arrays."""
        self._start(self._step, "step", self.buffer)

    def step(self) -> list[Any]:
        """Step with the actions that lie in the arrays: the infos of each share, or nothing where there are none."""
        self._what = "step"
        try:
            replies = self._step(self.buffer)
        except WorkerError as error:
            raise self._told(error) from error
        return self.results(replies) if any(replies) else []

    def _start(self, stepper: Stepper, what: str, value: Any) -> None:
        self._what, self._running = what, stepper
        try:
            stepper.begin(value)
        except WorkerError as error:
            raise self._told(error) from error

    def finish(self, timeout: float | None = None) -> list[Any]:
        """The results of the question that was begun."""
        return self.results(self.replies(timeout))

    def replies(self, timeout: float | None = None) -> list[Any]:
        """The replies of all groups. Raises EnvironmentTimeoutError and WorkerError only."""
        try:
            replies: list[Any] = self._running.finish(timeout)
        except TimeoutError as error:
            where = [int(row) + self.first for row in self.arrays.inside if row >= 0]
            late = EnvironmentTimeoutError(
                f"The call to `{self._what}_wait` has timed out after {timeout} second(s): it waits for "
                f"{numbers_of(where) if where else 'workers'}"
            )
            late.environments = where
            raise late from error
        except WorkerError as error:
            raise self._told(error) from error
        return replies

    def ends(self, timeout: float | None) -> bool:
        """Wait for the question that was begun, whose results are for nobody any more; whether it ends in time."""
        try:
            self.replies(timeout)
        except (EnvironmentTimeoutError, WorkerError):
            return False
        return True

    def results(self, replies: list[Any]) -> list[Any]:
        """The results in the replies, or the error of the first environment that raised."""
        results = [unpacked(reply) for reply in replies]
        for share, result in enumerate(results):
            if isinstance(result, Fault):
                where = self._where(share, result.environment)
                one = result.environment
                result.error.__dict__["environments"] = [self.first + one] if one >= 0 else []
                result.error.add_note(f"in {where} of {self.whole()}, in `{self._what}`")
                obstacle = calling_thread().obstacle if share == 0 and self._caller_steps else None
                if obstacle is not None:
                    result.error.add_note(f"{obstacle}. {ELSEWHERE}")
                raise result.error
            if isinstance(result, Remote):
                results[share] = self._taken(share, result)
        return results

    def _taken(self, share: int, part: Remote) -> Any:
        """Copy into the arrays what a share has in memory of its own. Returns the rest."""
        rows, arrays = slice(*self._bounds[share : share + 2]), self.arrays
        if arrays.observations:
            put_rows(arrays.observations[self.buffer], rows, part.observations)
        arrays.rewards[rows], arrays.terminations[rows], arrays.truncations[rows] = part[2:]
        return part.said

    def _told(self, error: WorkerError) -> WorkerError:
        """The error of a worker that died, with the environment that it was in."""
        share = None if error.worker is None else error.worker - (0 if self.remote[0] is False else 1)
        if share is None or not 0 <= share < len(self.remote):
            return error
        inside = int(self.arrays.inside[share])
        told = WorkerError(f"{self._where(share, inside)}, in `{self._what}`: {error}")
        told.__dict__["environments"] = [self.first + inside] if inside >= 0 else []
        return told

    def _where(self, share: int, inside: int) -> str:
        """The environment of a share that is being called, or all of them."""
        rows = [inside] if inside >= 0 else range(*self._bounds[share : share + 2])
        return numbers_of([self.first + row for row in rows])
