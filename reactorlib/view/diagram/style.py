"""Colours and lines by role, for a light and a dark surface. The drawing brings its own surface along."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """How shapes of one role are drawn; colours are #rrggbb, an empty one draws nothing. `dash` in px."""

    fill: str = ""
    line: str = ""
    width: float = 0.0
    dash: tuple[float, ...] = ()


LIGHT: dict[str, Style] = {
    "surface": Style("#ffffff", "#8a949e", 1.2),
    "box": Style("#f5f7f9", "#6b7680", 1.1),
    "box-odd": Style("#ffffff", "#6b7680", 1.1),
    "mode": Style("#fbf7ee", "#a58a4a", 1.1),
    "mode-initial": Style("#fbf7ee", "#a58a4a", 2.4),
    "text": Style("#1d252c"),
    "quiet": Style("#55606b"),
    "label": Style("#7a4a00"),
    "warn": Style("#b3261e"),
    "port": Style("#1d252c"),
    "crossing": Style("#a58a4a"),
    "reaction": Style("#dbe7f5", "#4a6f9c", 1.1),
    "reaction-cyclic": Style("#fbdcd9", "#b3261e", 2.0),
    "signal": Style("#ffffff", "#6b7680", 1.0),
    "time": Style("#fdf0d2", "#a97b16", 1.0),
    "icon": Style("", "#7a5a0c", 1.1),
    "icon-text": Style("#7a5a0c"),
    "connection": Style("", "#39444e", 1.5),
    "delayed": Style("", "#9a6200", 1.5),
    "physical": Style("", "#8a3f8f", 1.5, (7, 3)),
    "trigger": Style("", "#5b7da6", 1.2),
    "use": Style("", "#5b7da6", 1.2, (2, 3)),
    "effect": Style("", "#5b7da6", 1.2, (5, 3)),
    "transition": Style("", "#a58a4a", 1.5),
    "cyclic": Style("", "#b3261e", 2.6),
    "cyclic-order": Style("", "#b3261e", 2.0, (3, 3)),
}
# A worker's reactors are tinted by it; beyond these the colours repeat, the words in the heading don't.
LIGHT |= {
    f"worker-{i}": Style(fill, "#6b7680", 1.1)
    for i, fill in enumerate(("#e3f0fb", "#fdeedd", "#e3f4ec", "#f7e5f1", "#fbf6d5", "#e6e6f7", "#f3e3df", "#e6efe0"))
}

DARK: dict[str, Style] = {
    "surface": Style("#12171c", "#6f7a85", 1.2),
    "box": Style("#1b2229", "#8b97a3", 1.1),
    "box-odd": Style("#12171c", "#8b97a3", 1.1),
    "mode": Style("#221f18", "#b89c5c", 1.1),
    "mode-initial": Style("#221f18", "#b89c5c", 2.4),
    "text": Style("#e8edf2"),
    "quiet": Style("#a9b4be"),
    "label": Style("#efb04c"),
    "warn": Style("#ff8a80"),
    "port": Style("#e8edf2"),
    "crossing": Style("#b89c5c"),
    "reaction": Style("#22354a", "#7ea6d6", 1.1),
    "reaction-cyclic": Style("#4a201d", "#ff8a80", 2.0),
    "signal": Style("#12171c", "#8b97a3", 1.0),
    "time": Style("#3a2f14", "#d9a93f", 1.0),
    "icon": Style("", "#efc565", 1.1),
    "icon-text": Style("#efc565"),
    "connection": Style("", "#b9c4ce", 1.5),
    "delayed": Style("", "#e0a03c", 1.5),
    "physical": Style("", "#d490d9", 1.5, (7, 3)),
    "trigger": Style("", "#7ea6d6", 1.2),
    "use": Style("", "#7ea6d6", 1.2, (2, 3)),
    "effect": Style("", "#7ea6d6", 1.2, (5, 3)),
    "transition": Style("", "#b89c5c", 1.5),
    "cyclic": Style("", "#ff8a80", 2.6),
    "cyclic-order": Style("", "#ff8a80", 2.0, (3, 3)),
}
DARK |= {
    f"worker-{i}": Style(fill, "#8b97a3", 1.1)
    for i, fill in enumerate(("#1a2b3a", "#38291a", "#1a3328", "#361f30", "#34301a", "#26263d", "#38231f", "#25311d"))
}
WORKERS = 8
FONT = "Helvetica Neue, Helvetica, Arial, DejaVu Sans, sans-serif"
