"""Many strands, few edges: what runs in parallel is drawn once, and what reaches everything is drawn as a bus."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from reactorlib.view.diagram.model import CONNECTIONS, Edge, EdgeKind

# Between the same two ends one plain line is enough: the first of these that occurs.
STRENGTH: tuple[EdgeKind, ...] = ("connection", "trigger", "effect", "use")
EACH_OTHER = "each to every other"
Key = tuple[EdgeKind, str, str, str]  # kind, label, source, target


class Strand(NamedTuple):
    """One channel of a connection, or one name of a reaction; `members`: which reactors a connection joins."""

    kind: EdgeKind
    source: str
    target: str
    label: str = ""
    cyclic: bool = False
    members: tuple[int, int] | None = None

    def between(self, source: str, target: str, labelled: bool = True) -> Strand:
        """A piece of the strand. Where its label stands on another piece, this one is a plain line."""
        if labelled:
            return self._replace(source=source, target=target)
        kind: EdgeKind = "connection" if self.kind in CONNECTIONS else self.kind
        return Strand(kind, source, target, "", self.cyclic)


def bundled(strands: Iterable[Strand]) -> tuple[Edge, ...]:
    """The edges of one area, in order of first appearance."""
    merged: dict[Key, list[Strand]] = {}
    for strand in strands:
        merged.setdefault((strand.kind, strand.label, strand.source, strand.target), []).append(strand)
    strongest: dict[tuple[str, str], int] = {}
    for kind, label, source, target in merged:
        if kind in STRENGTH and not label:
            ends = source, target
            strongest[ends] = min(strongest.get(ends, len(STRENGTH)), STRENGTH.index(kind))
    singles = [
        Edge(kind, (source,), (target,), _with_pattern(label, same), any(strand.cyclic for strand in same))
        for (kind, label, source, target), same in merged.items()
        if label or kind not in STRENGTH or STRENGTH.index(kind) == strongest[source, target]
    ]
    return tuple(_bundles(singles))


def _with_pattern(label: str, strands: list[Strand]) -> str:
    """Between folded banks, whether every member reaches every other; nothing is said where they pair off."""
    pairs = {strand.members for strand in strands if strand.members is not None}
    sources, targets = {pair[0] for pair in pairs}, {pair[1] for pair in pairs}
    if len(sources) < 2 or len(targets) < 2:
        return label
    to_itself = any(source == target for source, target in pairs)
    if len(pairs) == len(sources) * len(targets):
        pattern = "each to each"
    elif sources == targets and not to_itself and len(pairs) == len(sources) * (len(sources) - 1) > 2:
        pattern = EACH_OTHER
    else:
        return label
    return f"{label}, {pattern}" if label else pattern


def _bundles(singles: list[Edge]) -> Iterable[Edge]:
    """Edges alike are joined: all from one source, or where several connections reach the same targets."""
    alike: dict[tuple[EdgeKind, str, bool], list[Edge]] = {}
    for edge in singles:
        alike.setdefault((edge.kind, edge.label, edge.cyclic), []).append(edge)
    for (kind, label, cyclic), edges in alike.items():
        targets_of: dict[str, dict[str, None]] = {}
        for edge in edges:
            targets_of.setdefault(edge.sources[0], {})[edge.targets[0]] = None
        if kind not in CONNECTIONS:
            yield from (Edge(kind, (s,), tuple(targets), label, cyclic) for s, targets in targets_of.items())
            continue
        if len(targets_of) > 2 and _all_but_own(targets_of):
            ends = dict.fromkeys(target for targets in targets_of.values() for target in targets)
            shown = f"{label}, {EACH_OTHER}" if label else EACH_OTHER
            yield Edge(kind, tuple(targets_of), tuple(ends), shown, cyclic)
            continue
        sources_of: dict[tuple[str, ...], list[str]] = {}
        for source, targets in targets_of.items():
            sources_of.setdefault(tuple(sorted(targets)), []).append(source)
        for sources in sources_of.values():
            yield Edge(kind, tuple(sources), tuple(targets_of[sources[0]]), label, cyclic)


def _all_but_own(targets_of: dict[str, dict[str, None]]) -> bool:
    """Whether every source reaches the ports of all the other boxes: all targets but one, a different one each."""
    ends = {target for targets in targets_of.values() for target in targets}
    missing = [ends - targets.keys() for targets in targets_of.values()]
    own = {source.rpartition(".")[0]: source for source in targets_of}
    return (
        len(ends) == len(targets_of) == len(own)
        and all(len(left) == 1 for left in missing)
        and all(
            next(iter(left)).rpartition(".")[0] == source.rpartition(".")[0]
            for source, left in zip(targets_of, missing, strict=True)
        )
    )
