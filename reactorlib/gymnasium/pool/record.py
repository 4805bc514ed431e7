"""A file with all that a pool was asked and what it returned, from which another pool returns the same batches.

The file is a sequence of pickles, which may end anywhere: a killed run leaves a record of its steps until then.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple
from zlib import crc32

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from gymnasium.vector.utils import iterate

from reactorlib.gymnasium.contract import difference
from reactorlib.gymnasium.pool.batch_order import BatchOrder
from reactorlib.worker.canonical_form import canonical

VERSION = 2
MARKED_BYTES = 4096  # of an observation, spread over it: a checksum of an Atari screen takes 50 us, of this part 3 us
COLUMNS = ("reward", "termination", "truncation", "observation")

StrPath = str | os.PathLike[str]


class Opened(NamedTuple):
    """The first entry of a record. `make` are the functions that make the environments, by cloudpickle, or why not."""

    version: int
    num_envs: int
    autoreset_mode: str
    make: bytes | str


class Begun(NamedTuple):
    """All environments were reset."""

    seeds: list[Any]
    options: Any


class Sent(NamedTuple):
    """These environments were sent to."""

    ids: list[int]
    actions: list[Any]


class Received(NamedTuple):
    """A batch, with a row for each of its environments. `marks` are checksums of the observations."""

    ids: list[int]
    rewards: list[float]
    terminations: list[bool]
    truncations: list[bool]
    marks: list[int]


class Restored(NamedTuple):
    """The pool went on from a saved state."""

    state: bytes


Entry = Begun | Sent | Received | Restored
CALLS = {Begun: "reset_async", Sent: "send", Received: "recv", Restored: "restore"}


class ReplayError(RuntimeError):
    """A replay does not do what its record holds, from `batch` on, in `environment` where it is one."""

    def __init__(self, text: str, batch: int, environment: int | None = None) -> None:
        super().__init__(text, batch, environment)
        self.batch, self.environment = batch, environment

    def __str__(self) -> str:
        where = "" if self.environment is None else f"environment {self.environment}: "
        return f"batch {self.batch} of the replay: {where}{self.args[0]}"


class PoolRecorder(BatchOrder):
    """Writes a record of a pool whose batches another order decides."""

    def __init__(self, path: StrPath, envs: Any, order: BatchOrder, env_fns: Sequence[Callable[[], Any]]) -> None:
        self._order, self._space = order, envs.observation_space
        self._is_seeded = False
        self._entries = -1  # without the first
        try:
            make: Any = cloudpickle.dumps(list(env_fns))
        except Exception as error:  # noqa: BLE001  # of the user's objects; a record serves without them
            make = f"{type(error).__name__}: {error}"
        self._file = Path(path).open("wb")  # noqa: SIM115  # `close` closes it
        self._write(Opened(VERSION, envs.num_envs, envs.metadata["autoreset_mode"].value, make))

    def _write(self, entry: Opened | Entry) -> None:
        pickle.dump(entry, self._file, protocol=5)
        self._entries += 1
        self._file.flush()  # a process that is killed leaves all that it did

    def reset(self, seeds: list[Any], options: Any) -> list[Any]:
        """Give a seed of its own to each environment that has none yet, so that the record can be replayed."""
        if not self._is_seeded:
            drawn = np.random.SeedSequence().generate_state(len(seeds))
            seeds = [int(new) if seed is None else seed for seed, new in zip(seeds, drawn, strict=True)]
        self._is_seeded = True
        seeds = self._order.reset(seeds, options)
        self._write(Begun(seeds, options))
        return seeds

    def send(self, ids: Sequence[int], actions: Sequence[Any]) -> None:
        self._order.send(ids, actions)
        self._write(Sent(list(ids), list(actions)))

    def choose(self, count: int) -> list[int] | None:
        return self._order.choose(count)

    def received(self, ids: list[int], observations: Any, *columns: Any) -> None:
        self._order.received(ids, observations, *columns)
        self._write(_batch(self._space, ids, observations, *columns))

    def save(self) -> dict[str, Any]:
        return {**self._order.save(), "entries": self._entries}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        self._order.restore(state, whole)
        self._is_seeded = True
        self._write(Restored(whole))

    def close(self) -> None:
        self._file.close()


class PoolReplayer(BatchOrder):
    """Chooses the batches of a record, and compares all that is sent and received with it."""

    def __init__(self, path: StrPath, envs: Any) -> None:
        opened, self._record = read(path)
        if (opened.num_envs, opened.autoreset_mode) != (envs.num_envs, envs.metadata["autoreset_mode"].value):
            was = f"{opened.num_envs} environments, autoreset_mode={opened.autoreset_mode!r}"
            raise ValueError(f"{os.fspath(path)} is the record of a pool of {was}")
        self._space = envs.observation_space
        self._entries = self._batches = 0  # that are behind us
        self._next = next(self._record, None)

    def _taken(self, kind: type[Any]) -> Any:
        """The next entry, which is of this kind."""
        entry = self._expected(kind)
        self._entries += 1
        self._batches += isinstance(entry, Received)
        self._next = next(self._record, None)
        return entry

    def _expected(self, kind: type[Any]) -> Any:
        if self._next is None:
            raise self._error("the record ends here")
        if not isinstance(self._next, kind):
            raise self._error(f"the record has a call of `{CALLS[type(self._next)]}` here, not of `{CALLS[kind]}`")
        return self._next

    def _error(self, text: str, environment: int | None = None) -> ReplayError:
        return ReplayError(text, self._batches, environment)

    def reset(self, seeds: list[Any], options: Any) -> list[Any]:
        """Return the seeds of the record, some of which may not have been given but drawn."""
        entry = self._taken(Begun)
        for number, (seed, recorded) in enumerate(zip(seeds, entry.seeds, strict=True)):
            if seed not in (None, recorded):
                raise self._error(f"it is reset with the seed {seed}, in the record with {recorded}", number)
        return list(entry.seeds)

    def send(self, ids: Sequence[int], actions: Sequence[Any]) -> None:
        entry = self._taken(Sent)
        if list(ids) != entry.ids:
            raise self._error(f"environments {list(ids)} are sent to, in the record {entry.ids}")
        for number, action, recorded in zip(ids, actions, entry.actions, strict=True):
            if found := difference(action, recorded, "its actions"):
                raise self._error(f"{found} as in the record", number)

    def choose(self, count: int) -> list[int]:
        ids: list[int] = self._expected(Received).ids
        if len(ids) < count:
            raise self._error(f"{count} environments are asked for, in the record {len(ids)}")
        return ids

    def received(self, ids: list[int], observations: Any, *columns: Any) -> None:
        recorded, got = self._expected(Received), _batch(self._space, ids, observations, *columns)
        for column, name in enumerate(COLUMNS, start=1):
            for number, one, value in zip(ids, got[column], recorded[column], strict=True):
                if difference(one, value, name):
                    was = "" if name == "observation" else f": {one} instead of {value}"
                    raise self._error(f"its {name} differs from the record{was}", number)
        self._taken(Received)

    def save(self) -> dict[str, Any]:
        return {"entries": self._entries}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        """Go on where the record restored this state, or where the recorded run had it when it saved it."""
        if isinstance(self._next, Restored) and self._next.state == whole:
            self._taken(Restored)
            return
        if "entries" not in state or self._entries:
            raise self._error("the recorded run did not have this state here")
        while self._entries < state["entries"]:
            self._taken(object)


def read(path: StrPath) -> tuple[Opened, Iterator[Entry]]:
    """The first entry of a record, and the others. Raises ValueError where the file is not a record.

    The entries are pickles: read only records that you trust.
    """
    entries, first = _entries(path), None
    with suppress(Exception):  # of another file, or of a record of another version
        first = next(entries, None)
    if not isinstance(first, Opened) or first.version != VERSION:
        raise ValueError(f"{os.fspath(path)} is no record of a ReactorPool of this version")
    return first, entries


def _entries(path: StrPath) -> Iterator[Any]:
    with Path(path).open("rb") as file:
        while True:
            try:
                entry = pickle.load(file)
            except (EOFError, pickle.UnpicklingError):
                if file.read(1):
                    raise
                return  # the end, also one in the middle of an entry
            yield entry


def _batch(space: Any, ids: list[int], observations: Any, *columns: Any) -> Received:
    rewards, terminations, truncations = (column.tolist() for column in columns)
    return Received(ids, rewards, terminations, truncations, marks_of(space, observations, len(ids)))


def marks_of(space: Any, observations: Any, n: int) -> list[int]:
    """A checksum of each of `n` observations of a batch; of large ones, of a part."""
    if not isinstance(observations, np.ndarray) or observations.dtype.hasobject:
        return [crc32(canonical(one)) for one in iterate(space, observations)]
    flat = observations.reshape(n, -1)
    step = -(-flat.shape[1] * flat.itemsize // MARKED_BYTES) | 1  # odd, so that it meets all channels of a picture
    return [crc32(row) for row in np.ascontiguousarray(flat[:, ::step])]
