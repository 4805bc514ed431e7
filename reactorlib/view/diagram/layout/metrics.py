"""Sizes in px, shared by layout and drawing: fonts, paddings, and how large each symbol and title must be."""

from __future__ import annotations

from reactorlib.view.diagram.model import Box, Port, Symbol
from reactorlib.view.diagram.text import text_width

TITLE, TEXT, SMALL = 12.0, 11.0, 9.5  # font sizes
LINE, SMALL_LINE = 15.0, 12.0  # heights of a line of text
NOTCH = 7.0  # how deep the chevron of a reaction is cut, and how far its point stands out
ICON = 17.0  # room for the icon of a timer or action, before its text
STUB = 6.0  # how far the triangle of a port stands out of its box
STACK = 4.0  # by how much each card of a bank's stack shows
HEAD = 26.0  # from the top of a box to what it contains
PAD = 12.0  # between the border of a box and what it contains
LANE = 12.0  # from what stands above it to a lane
ROW = 22.0  # between rows
PORT_LINE = 16.0  # height of a port's line inside its box


def symbol_size(symbol: Symbol) -> tuple[float, float]:
    """Width and height of a symbol with its text."""
    first = text_width(symbol.title, TEXT)
    if symbol.number:
        first += text_width(symbol.number, TEXT, bold=True) + 6
    wide = max([first, *(text_width(line, SMALL) for line in symbol.details)])
    high = LINE + SMALL_LINE * len(symbol.details) + 7
    if symbol.kind == "reaction":
        return wide + 2 * NOTCH + 8, high
    if symbol.kind in ("timer", "logical action", "physical action"):
        return wide + ICON + 14, high
    return wide + 16, high


def title_width(box: Box) -> float:
    """The width that the heading of a box needs, paddings included."""
    wide = text_width(box.title, TITLE, bold=True)
    if box.subtitle:
        wide += 8 + text_width(box.subtitle, TEXT)
    for note in box.notes:
        wide += 18 + text_width(note, SMALL)
    return wide + 2 * 10


def port_width(port: Port) -> float:
    """The length of a port's line inside its box: its name stands on it."""
    return text_width(port.name, SMALL) + 11 if port.name else 10


def label_size(label: str) -> tuple[float, float]:
    """Width and height of a label that stands on an edge."""
    return text_width(label, SMALL) + 12, SMALL_LINE + 3


def stack_height(box: Box) -> float:
    """What the cards behind a bank add below it."""
    return 0.0 if box.width is None or box.width < 2 else STACK * min(box.width - 1, 2)
