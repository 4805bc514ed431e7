"""Text that the terminal and the pages show alike: tables, and the explanations of `words.toml`."""

import tomllib
from dataclasses import dataclass
from pathlib import Path

NOTHING = "-"
_WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class TextTable:
    """Rows of text under a title. `best`: indices of the rows that lead their point."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    best: frozenset[int] = frozenset()


def explanation(name: str, **values: object) -> str:
    """An explanation, with these values in it."""
    return _WORDS[name].format(**values)
