"""Bundling: parallel strands become one edge, and connections to the same targets become a bus."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from reactorlib.view.diagram.model import CONNECTIONS, Edge, EdgeKind

# Two ends have one unlabelled line between them: of the first of these kinds that occurs.
STRENGTH: tuple[EdgeKind, ...] = ("connection", "trigger", "effect", "use")


class Strand(NamedTuple):
    """One channel of a connection, or one name in a reaction. `members`: the two reactors that a connection joins."""

    kind: EdgeKind
    source: str
    target: str
    label: str = ""
    cyclic: bool = False
    members: tuple[int, int] | None = None

    def piece(self, source: str, target: str, labelled: bool) -> Strand:
        """The strand between two other ends. Without its label, a connection is a plain one."""
        if labelled:
            return self._replace(source=source, target=target)
        kind: EdgeKind = "connection" if self.kind in CONNECTIONS else self.kind
        return Strand(kind, source, target, "", self.cyclic)


def bundled(strands: Iterable[Strand]) -> tuple[Edge, ...]:
    """The edges of one area, in order of first appearance."""
    parallel: dict[tuple[EdgeKind, str, str, str], list[Strand]] = defaultdict(list)
    kinds: dict[tuple[str, str], set[EdgeKind]] = defaultdict(set)
    for strand in strands:
        parallel[strand.kind, strand.source, strand.target, strand.label].append(strand)
        if not strand.label:
            kinds[strand.source, strand.target].add(strand.kind)
    alike: dict[tuple[EdgeKind, str, bool], dict[str, dict[str, None]]] = defaultdict(lambda: defaultdict(dict))
    for (kind, source, target, label), same in parallel.items():
        if label or kind not in STRENGTH or kind == min(kinds[source, target] & {*STRENGTH}, key=STRENGTH.index):
            cyclic = any(strand.cyclic for strand in same)
            alike[kind, _with_pattern(label, same), cyclic][source][target] = None
    return tuple(edge for key, targets_of in alike.items() for edge in _edges(*key, targets_of))


def _with_pattern(label: str, strands: Sequence[Strand]) -> str:
    """The label, and whether all members of two folded banks reach each other. They need not: `i` may reach `i`."""
    pairs = {strand.members for strand in strands if strand.members is not None}
    sources, targets = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    pattern = ""
    if len(sources) > 1 and len(pairs) == len(sources) * len(targets):
        pattern = "each to each" if len(targets) > 1 else ""
    elif len(pairs) > 2 and sources == targets and {*pairs} == {(s, t) for s in sources for t in targets if s != t}:
        pattern = "each to every other"
    return ", ".join(filter(None, (label, pattern)))


def _edges(kind: EdgeKind, label: str, cyclic: bool, targets_of: dict[str, dict[str, None]]) -> Iterator[Edge]:
    """Edges that differ in their ends only: one from each source, of connections one to each set of targets."""
    sources_of: dict[tuple[str | frozenset[str], ...], list[str]] = defaultdict(list)
    for source, targets in targets_of.items():
        sources_of[(frozenset(targets),) if kind in CONNECTIONS else (source,)].append(source)
    for sources in sources_of.values():
        yield Edge(kind, tuple(sources), tuple(targets_of[sources[0]]), label, cyclic)
