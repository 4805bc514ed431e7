"""Colours and lines by role, for a light and a dark surface. The drawing brings its own surface along."""

from __future__ import annotations

from typing import Any, NamedTuple


class Style(NamedTuple):
    """How shapes of one role are drawn; colours are #rrggbb, an empty one draws nothing. `dash` in px."""

    fill: str = ""
    line: str = ""
    width: float = 0.0
    dash: tuple[float, ...] = ()


# By role: the fill, light and dark, the line, light and dark, its width and dashes.
_ROLES: dict[str, Any] = {
    "surface": (("#ffffff", "#12171c"), ("#8a949e", "#6f7a85"), 1.2),
    "box": (("#f5f7f9", "#1b2229"), ("#6b7680", "#8b97a3"), 1.1),
    "box-odd": (("#ffffff", "#12171c"), ("#6b7680", "#8b97a3"), 1.1),
    "mode": (("#fbf7ee", "#221f18"), ("#a58a4a", "#b89c5c"), 1.1),
    "mode-initial": (("#fbf7ee", "#221f18"), ("#a58a4a", "#b89c5c"), 2.4),
    "text": (("#1d252c", "#e8edf2"), ("", "")),
    "quiet": (("#55606b", "#a9b4be"), ("", "")),
    "label": (("#7a4a00", "#efb04c"), ("", "")),
    "warn": (("#b3261e", "#ff8a80"), ("", "")),
    "port": (("#1d252c", "#e8edf2"), ("", "")),
    "crossing": (("#a58a4a", "#b89c5c"), ("", "")),
    "reaction": (("#dbe7f5", "#22354a"), ("#4a6f9c", "#7ea6d6"), 1.1),
    "reaction-cyclic": (("#fbdcd9", "#4a201d"), ("#b3261e", "#ff8a80"), 2.0),
    "signal": (("#ffffff", "#12171c"), ("#6b7680", "#8b97a3"), 1.0),
    "time": (("#fdf0d2", "#3a2f14"), ("#a97b16", "#d9a93f"), 1.0),
    "icon": (("", ""), ("#7a5a0c", "#efc565"), 1.1),
    "icon-text": (("#7a5a0c", "#efc565"), ("", "")),
    "connection": (("", ""), ("#39444e", "#b9c4ce"), 1.5),
    "delayed": (("", ""), ("#9a6200", "#e0a03c"), 1.5),
    "physical": (("", ""), ("#8a3f8f", "#d490d9"), 1.5, (7, 3)),
    "trigger": (("", ""), ("#5b7da6", "#7ea6d6"), 1.2),
    "use": (("", ""), ("#5b7da6", "#7ea6d6"), 1.2, (2, 3)),
    "effect": (("", ""), ("#5b7da6", "#7ea6d6"), 1.2, (5, 3)),
    "transition": (("", ""), ("#a58a4a", "#b89c5c"), 1.5),
    "cyclic": (("", ""), ("#b3261e", "#ff8a80"), 2.6),
    "cyclic-order": (("", ""), ("#b3261e", "#ff8a80"), 2.0, (3, 3)),
}
# A worker's reactors are tinted by it; beyond these the colours repeat, the words in the heading don't.
_TINTS = (
    ("#e3f0fb", "#1a2b3a"), ("#fdeedd", "#38291a"), ("#e3f4ec", "#1a3328"), ("#f7e5f1", "#361f30"),
    ("#fbf6d5", "#34301a"), ("#e6e6f7", "#26263d"), ("#f3e3df", "#38231f"), ("#e6efe0", "#25311d"),
)  # fmt: skip
WORKERS = len(_TINTS)
_ROLES |= {f"worker-{i}": (tint, ("#6b7680", "#8b97a3"), 1.1) for i, tint in enumerate(_TINTS)}
LIGHT, DARK = (
    {role: Style(fill[dark], line[dark], *rest) for role, (fill, line, *rest) in _ROLES.items()} for dark in (0, 1)
)
FONT = "Helvetica Neue, Helvetica, Arial, DejaVu Sans, sans-serif"
