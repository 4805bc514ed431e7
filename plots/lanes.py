"""Which panels lie beside each other, so that the lanes they share are few of them empty. Draws nothing."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

# A panel joins a row where no panel of it then lacks more of its lanes than this part.
_EMPTY = 0.25


@dataclass(frozen=True)
class Row:
    """Panels beside each other, by their numbers, and the lanes that they have together, in no order."""

    panels: tuple[int, ...]
    lanes: frozenset[str]


def rows(panels: Sequence[Collection[str]], most: int) -> list[Row]:
    """Every panel, of which the lanes are given, in a row of at most `most`: those with most lanes first, and else in
    their order.
    """
    made: list[Row] = []
    for number in sorted(range(len(panels)), key=lambda number: -len(panels[number])):
        last = made[-1] if made else Row((), frozenset())
        together = Row((*last.panels, number), last.lanes.union(panels[number]))
        if last.panels and len(together.panels) <= most and _is_full(together, panels):
            made[-1] = together
        else:
            made.append(Row((number,), frozenset(panels[number])))
    return made


def _is_full(row: Row, panels: Sequence[Collection[str]]) -> bool:
    return all(len(set(panels[number])) >= (1 - _EMPTY) * len(row.lanes) for number in row.panels)
