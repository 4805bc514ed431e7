"""Colours and lines by role, for light and dark pages."""

from __future__ import annotations

from typing import Any, NamedTuple


class Style(NamedTuple):
    """The look of one role. Colours are #rrggbb, or empty for none; widths and dashes are in px."""

    fill: str = ""
    line: str = ""
    width: float = 0.0
    dash: tuple[float, ...] = ()


_PLAIN: Any = ("#6b7680", "#8b97a3")
_BLUE: Any = ("#5b7da6", "#7ea6d6")
_BROWN: Any = ("#a58a4a", "#b89c5c")
_RED: Any = ("#b3261e", "#ff8a80")
_INK: Any = ("#1d252c", "#e8edf2")
_PAPER: Any = ("#ffffff", "#12171c")
_NONE: Any = ("", "")
# By role: fill and line, each for light and dark pages, then the width and dashes of the line.
_ROLES: dict[str, Any] = {
    "surface": (_PAPER, ("#8a949e", "#6f7a85"), 1.2),
    "box": (("#f5f7f9", "#1b2229"), _PLAIN, 1.1),
    "box-odd": (_PAPER, _PLAIN, 1.1),
    "mode": (("#fbf7ee", "#221f18"), _BROWN, 1.1),
    "mode-initial": (("#fbf7ee", "#221f18"), _BROWN, 2.4),
    "text": (_INK, _NONE),
    "quiet": (("#55606b", "#a9b4be"), _NONE),
    "label": (("#7a4a00", "#efb04c"), _NONE),
    "warn": (_RED, _NONE),
    "port": (_INK, _NONE),
    "crossing": (_BROWN, _NONE),
    "reaction": (("#dbe7f5", "#22354a"), ("#4a6f9c", "#7ea6d6"), 1.1),
    "reaction-cyclic": (("#fbdcd9", "#4a201d"), _RED, 2.0),
    "signal": (_PAPER, _PLAIN, 1.0),
    "time": (("#fdf0d2", "#3a2f14"), ("#a97b16", "#d9a93f"), 1.0),
    "icon": (_NONE, ("#7a5a0c", "#efc565"), 1.1),
    "icon-text": (("#7a5a0c", "#efc565"), _NONE),
    "connection": (_NONE, ("#39444e", "#b9c4ce"), 1.5),
    "delayed": (_NONE, ("#9a6200", "#e0a03c"), 1.5),
    "physical": (_NONE, ("#8a3f8f", "#d490d9"), 1.5, (7, 3)),
    "trigger": (_NONE, _BLUE, 1.2),
    "use": (_NONE, _BLUE, 1.2, (2, 3)),
    "effect": (_NONE, _BLUE, 1.2, (5, 3)),
    "transition": (_NONE, _BROWN, 1.5),
    "cyclic": (_NONE, _RED, 2.6),
    "cyclic-order": (_NONE, _RED, 2.0, (3, 3)),
    **{f"head-{role}": (_BLUE, _NONE) for role in ("trigger", "use")},
    **{f"head-{role}": (_RED, _NONE) for role in ("cyclic", "cyclic-order")},
}
# The fill of a reactor by its worker. Further workers repeat them; the words in the heading do not.
_TINTS = (
    ("#e3f0fb", "#1a2b3a"), ("#fdeedd", "#38291a"), ("#e3f4ec", "#1a3328"), ("#f7e5f1", "#361f30"),
    ("#fbf6d5", "#34301a"), ("#e6e6f7", "#26263d"), ("#f3e3df", "#38231f"), ("#e6efe0", "#25311d"),
)  # fmt: skip
WORKERS = len(_TINTS)
_ROLES |= {f"worker-{number}": (tint, _PLAIN, 1.1) for number, tint in enumerate(_TINTS)}
LIGHT, DARK = (
    {role: Style(fill[dark], line[dark], *rest) for role, (fill, line, *rest) in _ROLES.items()} for dark in (0, 1)
)
FONT = "Helvetica Neue, Helvetica, Arial, DejaVu Sans, sans-serif"
