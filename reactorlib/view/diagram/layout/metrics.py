"""Sizes in px: fonts, paddings, and the room that words and symbols take."""

from __future__ import annotations

import math
import unicodedata

from reactorlib.view.diagram.model import Box, PortSymbol, Symbol

TITLE, TEXT, SMALL = 12.0, 11.0, 9.5  # font sizes
LINE, SMALL_LINE = 15.0, 12.0  # heights of a line of text
NOTCH = 7.0  # depth of the cut in a reaction's chevron, and length of its point
ICON = 17.0  # room for the icon of a timer or action, before its text
STUB = 6.0  # how far the triangle of a port stands out of its box
STACK = 4.0  # how far each card of a bank's stack stands out
HEAD = 26.0  # from the top of a box to its content
PAD = 12.0  # around the content of a box
PORT_LINE = 16.0  # height of a port's line inside its box

# Widths of the characters from space to ~, in hundredths of the font size. They are those of DejaVu Sans, which is
# wider than the sans-serifs of browsers.
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
_WIDTHS = tuple(dict(enumerate(map(int, table.split()), ord(" "))) for table in (_REGULAR, _BOLD))
_WIDE, _OTHER = 105, 80  # East Asian full width; any other character outside ASCII


def text_width(text: str, size: float, bold: bool = False) -> float:
    """The largest width of a line for a font `size`, rounded up.

    >>> text_width("reaction", 10)
    42.0
    """
    known = _WIDTHS[bold]
    return float(math.ceil(sum(known.get(ord(sign)) or _unusual(sign) for sign in text) * size / 100))


def _unusual(sign: str) -> int:
    if unicodedata.combining(sign):
        return 0
    return _WIDE if unicodedata.east_asian_width(sign) in "WF" else _OTHER


def symbol_size(symbol: Symbol) -> tuple[float, float]:
    """Width and height of a symbol with its text."""
    first = text_width(symbol.title, TEXT)
    if symbol.number:
        first += text_width(symbol.number, TEXT, bold=True) + 6
    wide = max([first, *(text_width(line, SMALL) for line in symbol.details)])
    around = {"reaction": 2 * NOTCH + 8, "time": ICON + 14}.get(symbol.role.removesuffix("-cyclic"), 16)
    return wide + around, LINE + SMALL_LINE * len(symbol.details) + 7


def title_width(box: Box) -> float:
    """The width of a box's heading, paddings included."""
    wide = text_width(box.title, TITLE, bold=True)
    if box.subtitle:
        wide += 8 + text_width(box.subtitle, TEXT)
    return wide + sum(18 + text_width(note, SMALL) for note in box.notes) + 2 * 10


def port_width(port: PortSymbol) -> float:
    """The length of a port's line inside its box, which carries its name."""
    return text_width(port.name, SMALL) + 11 if port.name else 10


def label_size(label: str) -> tuple[float, float]:
    """Width and height of an edge's label."""
    return (text_width(label, SMALL) + 12, SMALL_LINE + 3) if label else (0.0, 0.0)


def cards(box: Box) -> int:
    """The number of cards that show behind a folded bank."""
    return 0 if box.width is None else min(box.width - 1, 2)
