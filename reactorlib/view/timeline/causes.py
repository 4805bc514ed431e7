"""What an execution of a reaction had to wait for at its tag: writers of what it reads, earlier ones of its reactor."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from reactorlib.elaboration.program import Cell, Elaborated
from reactorlib.worker.trace import Span


class Causes:
    """The dependencies of a program's reactions, asked for by the spans of one tag after another."""

    def __init__(self, program: Elaborated) -> None:
        self._program = program
        self._reads = [program.graph.origins(reaction.reads) for reaction in program.reactions]

    def by_tag(self, spans: Sequence[Span]) -> Iterator[tuple[list[Span], list[list[int]]]]:
        """The spans of each tag, and for each of them the positions among these of those that it waited for."""
        for _, same in groupby(spans, key=lambda span: span.tag):
            at_tag = list(same)
            yield at_tag, self._causes(at_tag)

    def _causes(self, spans: list[Span]) -> list[list[int]]:
        written: dict[Cell, list[int]] = defaultdict(list)
        last_of: dict[int, int] = {}
        found: list[list[int]] = []
        for position, span in enumerate(spans):
            reaction = self._program.reactions[span.reaction]
            earlier = {writer for cell in self._reads[span.reaction] for writer in written.get(cell, ())}
            if id(reaction.instance) in last_of:
                earlier.add(last_of[id(reaction.instance)])
            found.append(sorted(earlier))
            last_of[id(reaction.instance)] = position
            for cell in reaction.writes:
                written[cell].append(position)
        return found


def critical_path(at_tag: Sequence[Span], causes: Sequence[Sequence[int]]) -> list[int]:
    """The chain of dependent reactions of one tag that takes longest, by position, last one first."""
    length: list[int] = []
    through: list[int | None] = []
    for span, earlier in zip(at_tag, causes, strict=True):
        before = max(earlier, key=length.__getitem__, default=None)
        through.append(before)
        length.append(span.ended_ns - span.began_ns + (0 if before is None else length[before]))
    at: int | None = max(range(len(length)), key=length.__getitem__)
    path: list[int] = []
    while at is not None:
        path.append(at)
        at = through[at]
    return path
