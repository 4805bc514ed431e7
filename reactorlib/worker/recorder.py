"""The trace of a run: which reaction ran at which tag and set which values. Its digest proves determinism."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from time import perf_counter_ns
from typing import Any, NamedTuple

from reactorlib.elaboration.records import Elaborated
from reactorlib.errors import RunError, type_name, words_of
from reactorlib.tag import Tag
from reactorlib.worker.event_queue import CurrentTag


class TraceRecord(NamedTuple):
    """One execution of a reaction: its tag (relative to the start), its path, the (port path, value) pairs it set.

    >>> TraceRecord(Tag(0, 0), "Source.begin", (("Source.out", 1),)).writes
    (('Source.out', 1),)
    """

    tag: Tag
    reaction: str
    writes: tuple[tuple[str, Any], ...]


class Span(NamedTuple):
    """When and on which worker a reaction ran, in ns of `perf_counter_ns`; its index is that in `Program.reactions`.

    >>> Span(0, Tag(0, 0), began_ns=100, ended_ns=350, worker=1).worker
    1
    """

    reaction: int
    tag: Tag
    began_ns: int
    ended_ns: int
    worker: int


# time, microstep, reaction, writes, began, ended, worker
Row = tuple[int, int, int, tuple[tuple[str, Any], ...], int, int, int]


class Recorder:
    """Collects what runs. `note` is called by traced writers, `record` after each reaction."""

    def __init__(self, program: Elaborated, now: CurrentTag, worker: int) -> None:
        self._program = program
        self._now = now
        self._worker = worker
        self._writes: list[tuple[str, Any]] = []
        # Rows one after the other. Tuples would cost a third more: the garbage collector would look through them.
        self._entries: list[Any] = []
        self.note = self._writes.append

    def record(self, reaction: int, began_ns: int) -> None:
        ended = perf_counter_ns()
        now, writes = self._now, self._writes
        written = tuple(writes) if writes else ()
        self._entries += (now.time, now.microstep, reaction, written, began_ns, ended, self._worker)
        writes.clear()

    def rows(self) -> list[Row]:
        return list(zip(*(self._entries[part::7] for part in range(7)), strict=True))

    def merge(self, rows: Iterable[Row]) -> None:
        """Add the rows of another worker, in the order in which one worker alone would have run them."""
        rank = self._program.order.rank
        merged = sorted([*self.rows(), *rows], key=lambda row: (row[0], row[1], rank[row[2]]))
        self._entries = list(chain.from_iterable(merged))

    def records(self) -> list[TraceRecord]:
        reactions = self._program.reactions
        return [TraceRecord(Tag(row[0], row[1]), reactions[row[2]].path, row[3]) for row in self.rows()]

    def spans(self) -> list[Span]:
        return [Span(row[2], Tag(row[0], row[1]), row[4], row[5], row[6]) for row in self.rows()]


def digest_of(records: Iterable[TraceRecord]) -> str:
    """The digest of a trace, equal exactly if two runs did the same: 32 hexadecimal digits of BLAKE2b.

    Raises RunError, with the path of the port, for a value that has no form: a lambda, a lock.
    """
    from hashlib import blake2b

    from reactorlib.worker.canonical_form import canonical

    state = blake2b(digest_size=16)
    for record in records:
        state.update(f"{record.tag.time} {record.tag.microstep} {record.reaction}\n".encode())
        for path, value in record.writes:
            try:
                form = canonical(value)
            except Exception as error:
                why = f"{type(error).__name__}: {' '.join(words_of(error).split())}"
                raise RunError(f"{path}: a value of type {type_name(value)} has no digest: {why}") from error
            state.update(f"{path} {len(form)} ".encode() + form)
    return state.hexdigest()
