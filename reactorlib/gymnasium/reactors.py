"""The reactors of a vector environment: groups of environments, which the caller asks all at once or one by one."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import Any, NamedTuple

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from gymnasium.vector import AutoresetMode

from reactorlib.declaration.class_body import reaction
from reactorlib.declaration.connect import connect
from reactorlib.declaration.elements import Input, Output, shutdown
from reactorlib.declaration.reactor import Bank, Reactor
from reactorlib.executors.failure import Failure, PortableFailure
from reactorlib.gymnasium.distinct import Known, SameEnvironmentError, unknown
from reactorlib.gymnasium.environment_pickle import KnowingPickler, known_to_all
from reactorlib.gymnasium.generators import forms
from reactorlib.gymnasium.infos import CodeError, marshalled, unmarshalled
from reactorlib.gymnasium.layout import Layout, rows_of
from reactorlib.gymnasium.share import Share

NOTHING = b""  # a reply without infos
MARSHALLED, PICKLED, FAILED = b"m", b"p", b"f"  # how any other of another process begins


class Setup(NamedTuple):
    """The facts that all groups know from the start."""

    make: list[Callable[[], Any]]
    bounds: Sequence[int]  # of shares
    layout: Layout
    mode: AutoresetMode
    process: int  # the caller's
    forked: bool  # whether other processes have what the main script defines
    apart: bool  # whether they share no memory with the caller's
    share: type[Share]
    first: Known  # the environment that the caller made


class Carried:
    """The facts of all groups, which cloudpickle takes to a process that is spawned."""

    def __init__(self, setup: Setup) -> None:
        self.setup = setup

    def __reduce__(self) -> Any:
        setup, file = self.setup, BytesIO()
        pickler = _SetupPickler(file, setup.first())
        pickler.dump(setup.make[1:])
        pickler.first = None
        pickler.dump(setup._replace(make=setup.make[:1], first=unknown))
        return _carried, (file.getvalue(),)


def _carried(pickled: bytes) -> Carried:
    unpickler = pickle.Unpickler(BytesIO(pickled))
    others, setup = unpickler.load(), unpickler.load()
    setup.make.extend(others)
    return Carried(setup)


class _SetupPickler(cloudpickle.Pickler):  # type: ignore[misc]
    """Refuses functions that carry the first environment along, as each process would have a copy of it."""

    def __init__(self, file: BytesIO, first: Any) -> None:
        super().__init__(file)
        self.first = first

    def reducer_override(self, obj: Any) -> Any:
        if obj is self.first and obj is not None:
            raise SameEnvironmentError
        return super().reducer_override(obj)


class Fault(NamedTuple):
    """An environment has raised."""

    environment: int
    error: BaseException


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

    def __init__(self, setup: Carried) -> None:
        self.setup = setup.setup
        self.share: Share | None = None

    @reaction(step, effects=reply)
    def act(self, step: Any, reply: Any) -> None:
        assert self.share is not None
        try:
            infos = self.share.step_all(step.value)
            packed = self._packed(infos) if infos else NOTHING
        except Exception as error:  # noqa: BLE001  # the environment's, or of its infos: the caller raises it
            reply.set(self._fault(error))
        else:
            reply.set(packed)

    @reaction(ask, effects=reply)
    def answer(self, ask: Any, reply: Any) -> None:
        try:
            method, arguments = unpacked(ask.value)
            if method == "open":
                self._open(arguments)
                result: Any = None
            else:
                result = getattr(self.share, method)(*arguments)
                if method in ("step", "reset"):
                    result = self._with_values(result, arguments[-1])
            packed = self._packed(result)
        except Exception as error:  # noqa: BLE001
            reply.set(self._fault(error))
        else:
            reply.set(packed)
        self.arrays.answered[self.bank_index] += 1

    @reaction(shutdown)
    def end(self) -> None:
        if self.share is not None:
            self.share.close()  # unless the caller has closed it

    def _open(self, memory: Any) -> None:
        make, bounds, layout, mode, process, forked, apart, kind, first = self.setup
        self.known, self.is_remote = known_to_all(forked), _is_other_rank() if apart else os.getpid() != process
        low, high = bounds[self.bank_index : self.bank_index + 2]
        self.arrays = layout.carve(np.zeros(layout.nbytes, np.uint8) if memory is None else memory.array)
        self.arrays.inside[self.bank_index], self.arrays.answered[self.bank_index] = -1, 0
        self.share = kind(self.bank_index, low, make[low:high], layout, self.arrays, mode, first)
        self.share.generators = forms() if self.is_remote else {}

    def _with_values(self, said: Any, buffer: int) -> Any:
        """The infos of a step, with the arrays that the caller does not find in memory."""
        share = self.share
        assert share is not None
        if not share.arrays.observations:
            said = said, share.last
        if not (self.setup.apart and self.is_remote):
            return said
        rows, arrays = slice(share.low, share.low + share.count), share.arrays
        seen = rows_of(arrays.observations[buffer], rows) if arrays.observations else None
        return Remote(said, seen, arrays.rewards[rows], arrays.terminations[rows], arrays.truncations[rows])

    def _packed(self, result: Any) -> Any:
        return packed(result, self.known) if self.is_remote else result

    def _fault(self, error: Exception) -> Any:
        inside = int(self.arrays.inside[self.bank_index])
        if not self.is_remote:
            return Fault(inside, error)
        return FAILED + pickle.dumps((inside, tuple(PortableFailure.of(Failure(error, None)))))


class Environments(Reactor):
    """All groups. The caller sets `step` for all, or `ask` for some."""

    step = Input[int]()
    ask = Input[Any](width=lambda groups: groups)
    replies = Output[Any](width=lambda groups: groups)

    def __init__(self, groups: int, setup: Carried) -> None:
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
    body = pickle.loads(memoryview(reply)[1:])
    if reply[:1] == PICKLED:
        return body
    inside, words = body
    return Fault(inside, PortableFailure(*words).rebuilt().error)
