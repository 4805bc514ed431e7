"""How wide a line of text may get: the widths of DejaVu Sans, wider than what browsers use for sans-serif elsewhere."""

from __future__ import annotations

import math
import unicodedata

# Advance widths of the characters from space to ~, in hundredths of the font size.
_REGULAR = (
    "32 40 46 84 64 95 78 28 39 39 50 84 32 36 32 34 64 64 64 64 64 64 64 64 64 64 34 34 84 84 84 53 "
    "100 69 69 70 77 64 58 78 76 30 30 66 56 87 75 79 61 79 70 64 62 74 69 99 69 62 69 39 34 39 84 50 "
    "50 62 64 55 64 62 36 64 64 28 28 58 28 98 64 62 64 64 42 53 40 64 60 82 60 60 53 64 34 64 84"
)
_BOLD = (
    "35 46 53 84 70 101 88 31 46 46 53 84 38 42 38 37 70 70 70 70 70 70 70 70 70 70 40 40 84 84 84 58 "
    "100 78 77 74 83 69 69 83 84 38 38 78 64 100 84 86 74 86 78 73 69 82 78 111 78 73 73 46 37 46 84 50 "
    "50 68 72 60 72 68 44 72 72 35 35 67 35 105 72 69 72 72 50 60 48 72 66 93 65 66 59 72 37 72 84"
)
_WIDTHS = {
    bold: {chr(32 + i): int(width) for i, width in enumerate(table.split())}
    for bold, table in ((False, _REGULAR), (True, _BOLD))
}
_WIDE, _OTHER = 105, 80  # East Asian full width; any other character outside ASCII


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The width of a line in px for a font `size` in px, rounded up to whole px.

    >>> text_width("reaction", 10)
    42.0
    """
    known = _WIDTHS[bold]
    hundredths = sum(known.get(character) or _unusual(character) for character in text)
    return float(math.ceil(hundredths * size / 100))


def _unusual(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return _WIDE if unicodedata.east_asian_width(character) in "WF" else _OTHER
