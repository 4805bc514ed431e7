"""The causes of an execution of a reaction: the executions at its tag that it had to wait for.

They are those that write what it reads, and the one before it of its own reactor.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby

from reactorlib import Span
from reactorlib.elaboration.records import Cell, Elaborated


def causes_by_tag(program: Elaborated, spans: Sequence[Span]) -> Iterator[tuple[list[Span], list[list[int]]]]:
    """The spans of each tag, and the causes of each of them by their positions among these."""
    reads = [program.graph.origins(reaction.reads) for reaction in program.reactions]
    for _, same in groupby(spans, key=lambda span: span.tag):
        written: dict[Cell, list[int]] = defaultdict(list)
        last_of: dict[int, int] = {}
        at_tag, causes = list(same), list[list[int]]()
        for position, span in enumerate(at_tag):
            reaction = program.reactions[span.reaction]
            earlier = {writer for cell in reads[span.reaction] for writer in written.get(cell, ())}
            if id(reaction.instance) in last_of:
                earlier.add(last_of[id(reaction.instance)])
            causes.append(sorted(earlier))
            last_of[id(reaction.instance)] = position
            for cell in reaction.writes:
                written[cell].append(position)
        yield at_tag, causes


def critical_path(at_tag: Sequence[Span], causes: Sequence[Sequence[int]]) -> list[int]:
    """The chain of dependent reactions of one tag that takes longest, by position, last one first."""
    length: list[int] = []
    for span, earlier in zip(at_tag, causes, strict=True):
        length.append(span.ended_ns - span.began_ns + max((length[position] for position in earlier), default=0))
    path = [max(range(len(length)), key=length.__getitem__)]
    while causes[path[-1]]:
        path.append(max(causes[path[-1]], key=length.__getitem__))
    return path
