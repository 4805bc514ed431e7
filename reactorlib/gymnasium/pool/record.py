"""A file with all that a pool was asked and what it returned, from which another pool returns the same batches.

The file is a sequence of pickles, which may end anywhere: a killed run leaves a record of its steps until then.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from reprlib import repr as shown
from typing import Any, NamedTuple
from zlib import crc32

import cloudpickle  # type: ignore[import-untyped]
import numpy as np
from gymnasium.vector.utils import iterate

from reactorlib.gymnasium.contract import difference
from reactorlib.gymnasium.pool.batch_order import BatchOrder, Entry
from reactorlib.worker.canonical_form import canonical

VERSION = 3
MARKED_BYTES = 4096  # of an observation, spread over it: a checksum of an Atari screen takes 50 us, of this part 3 us
NAMES = {
    "reset_async": ("seed",),
    "send": ("action",),
    "recv": ("reward", "termination", "truncation", "observation"),
}  # of the values in the columns of an entry

StrPath = str | os.PathLike[str]


class Opened(NamedTuple):
    """The first entry of a record. `make` are the functions that make the environments, by cloudpickle, or why not."""

    version: int
    num_envs: int
    autoreset_mode: str
    make: bytes | str


class ReplayError(RuntimeError):
    """A replay does not do what its record holds, from `batch` on, in `environment` where it is one."""

    def __init__(self, text: str, batch: int, environment: int | None = None) -> None:
        super().__init__(text, batch, environment)
        self.batch, self.environment = batch, environment

    def __str__(self) -> str:
        where = "" if self.environment is None else f"environment {self.environment}: "
        return f"batch {self.batch} of the replay: {where}{self.args[0]}"


class PoolRecorder(BatchOrder):
    """Writes a record of a pool."""

    def __init__(
        self, path: StrPath, envs: Any, env_fns: Sequence[Callable[[], Any]], durations: Sequence[int] | None
    ) -> None:
        super().__init__(durations)
        self._space, self._entries = envs.observation_space, 0  # without the first
        try:
            make: Any = cloudpickle.dumps(list(env_fns))
        except Exception as error:  # noqa: BLE001  # of the user's objects; a record serves without them
            make = f"{type(error).__name__}: {error}"
        self._file = Path(path).open("wb")  # noqa: SIM115  # `close` closes it
        self._write(Opened(VERSION, envs.num_envs, envs.metadata["autoreset_mode"].value, make))

    def _write(self, entry: Opened | Entry) -> None:
        pickle.dump(entry, self._file, protocol=5)
        self._file.flush()  # a process that is killed leaves all that it did

    def note(self, entry: Entry) -> Entry:
        """Write it. A first reset draws seeds for environments that have none, so that the record can be replayed."""
        if entry.call == "reset_async" and not self._entries:
            drawn = np.random.SeedSequence().generate_state(len(entry.ids))
            entry = _with_seeds(entry, map(int, drawn))
        self._write(_marked(entry, self._space))
        self._entries += 1
        return super().note(entry)

    def save(self) -> dict[str, Any]:
        return {**super().save(), "entries": self._entries}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        super().restore(state, whole)
        self.note(Entry("restore", [], [], whole))

    def close(self) -> None:
        self._file.close()


class PoolReplayer(BatchOrder):
    """Chooses the batches of a record, and compares all that is sent and received with it."""

    def __init__(self, path: StrPath, envs: Any) -> None:
        super().__init__()
        opened, self._record = read(path)
        if (opened.num_envs, opened.autoreset_mode) != (envs.num_envs, envs.metadata["autoreset_mode"].value):
            was = f"{opened.num_envs} environments, autoreset_mode={opened.autoreset_mode!r}"
            raise ValueError(f"{os.fspath(path)} is the record of a pool of {was}")
        self._space = envs.observation_space
        self._entries = self._batches = 0  # that are behind us
        self._next = next(self._record, None)

    def _expected(self, call: str | None = None) -> Entry:
        """The next entry, which is of this call."""
        if self._next is None:
            raise self._error("the record ends here")
        if call not in (None, self._next.call):
            raise self._error(f"the record has a call of `{self._next.call}` here, not of `{call}`")
        return self._next

    def _pass(self) -> None:
        self._batches += self._expected().call == "recv"
        self._entries += 1
        self._next = next(self._record, None)

    def _error(self, text: str, environment: int | None = None) -> ReplayError:
        return ReplayError(text, self._batches, environment)

    def note(self, entry: Entry) -> Entry:
        """Compare it. The seeds are those of the record, some of which may not have been given but drawn."""
        recorded = self._expected(entry.call)
        if entry.call == "reset_async":
            entry = _with_seeds(entry, recorded.columns[0])
        if entry.ids != recorded.ids:
            raise self._error(f"environments {entry.ids} are sent to, in the record {recorded.ids}")
        pairs = zip(NAMES[entry.call], _marked(entry, self._space).columns, recorded.columns, strict=True)
        for name, column, values in pairs:
            for number, one, value in zip(entry.ids, column, values, strict=True):
                if difference(one, value, name) is not None:
                    differs = "differs from" if name == "observation" else f"{shown(one)} is {shown(value)} in"
                    raise self._error(f"its {name} {differs} the record", number)
        self._pass()
        return entry

    def choose(self, count: int) -> list[int]:
        ids = self._expected("recv").ids
        if len(ids) < count:
            raise self._error(f"{count} environments are asked for, in the record {len(ids)}")
        return ids

    def save(self) -> dict[str, Any]:
        return {"entries": self._entries}

    def restore(self, state: dict[str, Any], whole: bytes) -> None:
        """Go on where the record restored this state, or where the recorded run had it when it saved it."""
        if self._next is not None and self._next.call == "restore" and self._next.more == whole:
            self._pass()
            return
        if "entries" not in state or self._entries:
            raise self._error("the recorded run did not have this state here")
        while self._entries < state["entries"]:
            self._pass()


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


def _with_seeds(entry: Entry, values: Iterable[int]) -> Entry:
    """A reset that has these seeds where it has none, or the same."""
    seeds = [value if seed in (None, value) else seed for seed, value in zip(*entry.columns, values, strict=True)]
    return entry._replace(columns=[seeds])


def _marked(entry: Entry, space: Any) -> Entry:
    """The entry as it is written: a batch has checksums in the place of observations."""
    if entry.call != "recv":
        return entry
    *ends, observations = entry.columns
    marks = marks_of(space, observations, len(entry.ids))
    return entry._replace(columns=[*(column.tolist() for column in ends), marks])


def marks_of(space: Any, observations: Any, n: int) -> list[int]:
    """A checksum of each of `n` observations of a batch; of large ones, of a part."""
    if not isinstance(observations, np.ndarray) or observations.dtype.hasobject:
        return [crc32(canonical(one)) for one in iterate(space, observations)]
    flat = observations.reshape(n, -1)
    step = -(-flat.shape[1] * flat.itemsize // MARKED_BYTES) | 1  # odd, so that it meets all channels of a picture
    return [crc32(row) for row in np.ascontiguousarray(flat[:, ::step])]
