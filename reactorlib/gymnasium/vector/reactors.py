"""The reactors of a vector environment: groups of environments, which the caller asks all at once or one by one."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping
from io import BytesIO
from typing import Any, NamedTuple

import numpy as np

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, shutdown
from reactorlib.executors.failure import Failure, PortableFailure
from reactorlib.gymnasium.isolation import forms
from reactorlib.gymnasium.saving import KnowingPickler, known_to_all
from reactorlib.gymnasium.vector.infos import CodeError, marshalled, unmarshalled
from reactorlib.gymnasium.vector.layout import rows_of
from reactorlib.gymnasium.vector.share import Setup, Share

NOTHING = b""  # a reply without infos
MARSHALLED, PICKLED = b"m", b"p"  # how any other of another process begins


class Fault(NamedTuple):
    """An environment has raised. Its pickle has the error in a form that every process can load."""

    environment: int
    error: BaseException

    def __reduce__(self) -> Any:
        return _fault, (self.environment, *PortableFailure.of(Failure(self.error, None)))


def _fault(environment: int, *words: Any) -> Fault:
    return Fault(environment, PortableFailure(*words).rebuilt().error)


class Remote(NamedTuple):
    """The results of a step or a reset of a share that has memory of its own."""

    said: Any
    observations: Any  # None, where they are no arrays: then they are in `said`
    rewards: Any
    terminations: Any
    truncations: Any


class Group(Reactor):
    """One share: it lives where its worker is."""

    step = Input[int]()  # which batch takes the observations; the actions lie in their array
    ask = Input[Any]()  # the name of a method of Share, and its arguments
    reply = Output[Any]()

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.share: Any = None

    @reaction(step, effects=reply)
    def act(self, step: Any, reply: Any) -> None:
        self._reply(reply, self.share.step_all, step.value)

    @reaction(ask, effects=reply)
    def answer(self, ask: Any, reply: Any) -> None:
        self._reply(reply, self._answer, ask.value)
        self.arrays.answered[self.bank_index] += 1

    def _reply(self, reply: Any, act: Callable[[Any], Any], value: Any) -> None:
        """Reply with the result of an act, or with its error, which the caller raises."""
        try:
            result = self._packed(act(value))
        except Exception as error:  # noqa: BLE001  # the environment's, or of its infos
            result = self._packed(Fault(int(self.arrays.inside[self.bank_index]), error))
        reply.set(result)

    def _packed(self, result: Any) -> Any:
        return packed(result, self.known) if self.is_remote else result

    def _answer(self, question: Any) -> Any:
        method, arguments = unpacked(question)
        if method == "open":
            return self._open(arguments)
        result = getattr(self.share, method)(*arguments)
        return self._with_values(result, arguments[-1]) if method in ("step", "reset") else result

    @reaction(shutdown)
    def end(self) -> None:
        if self.share is not None:
            self.share.close()  # unless the caller has closed it

    def _open(self, memory: Any) -> None:
        setup, number = self.setup, self.bank_index
        self.known = known_to_all(setup.forked)
        self.is_remote = _is_other_rank() if setup.apart else os.getpid() != setup.process
        own = np.zeros(setup.layout.nbytes, np.uint8) if memory is None else memory.array
        self.arrays = setup.layout.carve(own)
        self.arrays.inside[number], self.arrays.answered[number] = -1, 0
        self.share = Share(setup, number, self.arrays)
        self.share.generators = forms() if self.is_remote else {}

    def _with_values(self, said: Any, buffer: int) -> Any:
        """The infos of a step, with the arrays that the caller does not find in memory."""
        share = self.share
        if not share.arrays.observations:
            said = said, share.last
        if not (self.setup.apart and self.is_remote):
            return said
        rows, arrays = slice(share.low, share.low + share.count), share.arrays
        seen = rows_of(arrays.observations[buffer], rows) if arrays.observations else None
        return Remote(said, seen, arrays.rewards[rows], arrays.terminations[rows], arrays.truncations[rows])


class Environments(Reactor):
    """All groups. The caller sets `step` for all, or `ask` for some."""

    step = Input[int]()
    ask = Input[Any](width=lambda groups: groups)
    replies = Output[Any](width=lambda groups: groups)

    def __init__(self, groups: int, setup: Setup) -> None:
        self.groups = Bank(Group, groups, setup)
        connect(self.step, self.groups.step)
        connect(self.ask, self.groups.ask)
        connect(self.groups.reply, self.replies)


def _is_other_rank() -> bool:
    from reactorlib.mpi.ranks import is_first  # only where there are ranks

    return not is_first()


def packed(result: Any, known: Mapping[str, Any]) -> bytes:
    """A result for another process. Empty infos are left out, and a result without code needs no slow pickle."""
    if not result and isinstance(result, list):
        return NOTHING
    try:
        return MARSHALLED + marshalled(result)
    except CodeError:
        file = BytesIO()
        KnowingPickler(file, known).dump(result)
        return PICKLED + file.getvalue()


def unpacked(reply: Any) -> Any:
    """The value of a reply or a question, which is itself within a process."""
    if type(reply) is not bytes:
        return reply
    if not reply:
        return []
    if reply[:1] == MARSHALLED:
        return unmarshalled(memoryview(reply)[1:])
    return pickle.loads(memoryview(reply)[1:])
