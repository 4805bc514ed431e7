"""A table as text, which the terminal and the pages show alike."""

from dataclasses import dataclass

NOTHING = "-"


@dataclass(frozen=True)
class TextTable:
    """Rows of text under a title. `best`: indices of the rows that lead their point."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[int] = frozenset()
