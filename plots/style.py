"""The one look of all figures: colours, markers and names of backends, and how a figure becomes a file.

A family has one hue: Ray is orange, reactors are green, all others are grey. Markers repeat the distinction for print
without colour. The background is opaque. An SVG is light, and dark on a dark page whose viewer supports that.
"""

import colorsys
import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

WIDTH = 5.4  # inches: text stays readable on a phone, where the page shows the figure 360 pixels wide
_SETTINGS = mpl.rc_params_from_file(Path(__file__).with_name("plots.mplstyle"), use_default_template=False)
INK: str = _SETTINGS["text.color"]
FAINT: str = _SETTINGS["xtick.color"]
SHADE = "#f3f3f3"
# On a dark page: the lightness of paper and ink, that of a colour at least, and its saturation at most.
_DARK_PAPER, _DARK_INK, _DARK_LEAST, _DARK_MOST = 0.09, 0.93, 0.62, 0.75
_GREY = 0.02  # the saturation of greys at most


@dataclass(frozen=True)
class Look:
    """How one series appears in every figure. `hollow`: no result of this suite."""

    label: str
    color: str
    marker: str
    hollow: bool = False


# Of the backends, in order, and of series that are none: predictions, and what the paper published.
with Path(__file__).with_name("looks.csv").open(encoding="utf-8", newline="") as _file:
    LOOKS = {
        row["series"]: Look(row["label"], row["color"], row["marker"], bool(row["hollow"]))
        for row in csv.DictReader(_file)
    }
_LEAST_CONTRAST = 0.45  # the lightness that text has at most


def look(series: str) -> Look:
    """The look of a series; one without an entry is grey and keeps its own name."""
    base, without_gil, _ = series.partition("-nogil")
    if without_gil:
        return replace(look(base), label=f"{look(base).label}, no GIL", marker="$N$")
    return LOOKS.get(series) or Look(series, "#999999", "x")


def readable(color: str) -> str:
    """A colour in which text can be read on white."""
    hue, lightness, saturation = colorsys.rgb_to_hls(*to_rgb(color))
    return to_hex(colorsys.hls_to_rgb(hue, min(lightness, _LEAST_CONTRAST), saturation))


def ordered(series: Iterable[str]) -> list[str]:
    """Each series once, in the order in which they are drawn; unknown ones last, by name."""
    rank = {name: position for position, name in enumerate(LOOKS)}
    return sorted(set(series), key=lambda name: (rank.get(name, len(rank)), name))


@contextmanager
def applied() -> Iterator[None]:
    """Matplotlib's settings for everything drawn and saved inside."""
    # From the defaults, not from a user's matplotlibrc: it changes neither look nor bytes.
    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    settings: Any = {**defaults, **_SETTINGS}
    with mpl.rc_context(settings):
        yield


def save(figure: Figure, path: Path) -> Path:
    """Write an SVG file, whose bytes depend on the figure only. Raises OSError."""
    with applied():
        _settle(figure)
        figure.savefig(path, metadata={"Date": None})
    path.write_text(for_both_schemes(path.read_text(encoding="utf-8")), encoding="utf-8")
    return path


def for_both_schemes(svg: str) -> str:
    """An SVG of matplotlib's with rules that give each of its colours another one on a dark page."""
    found = sorted(set(re.findall(r"(fill|stroke): (#[0-9a-f]{6})", svg)))
    rules = [f'[style*="{what}: {color}"] {{ {what}: {dark(color)} !important }}' for what, color in found]
    rules += [f'[fill="{color}"] {{ fill: {dark(color)} }}' for color in sorted(set(re.findall(r'fill="(#\w+)"', svg)))]
    # Elements without a colour of their own are black.
    scheme = f"@media (prefers-color-scheme: dark) {{ svg {{ fill: {dark('#000000')} }} {' '.join(rules)} }}"
    return svg.replace("</style>", f"{scheme}</style>", 1)


def dark(color: str) -> str:
    """The colour that stands for one on a dark page: greys change ends, other colours become light enough.

    >>> dark("#ffffff"), dark("#000000"), dark("#882255"), dark("#56b4e9")
    ('#171717', '#ededed', '#d8649e', '#58b3e7')
    """
    hue, lightness, saturation = colorsys.rgb_to_hls(*to_rgb(color))
    if saturation < _GREY:
        lightness, saturation = _DARK_INK + (_DARK_PAPER - _DARK_INK) * lightness, 0.0
    else:
        lightness, saturation = max(lightness, _DARK_LEAST), min(saturation, _DARK_MOST)
    return to_hex(colorsys.hls_to_rgb(hue, lightness, saturation))


def _settle(figure: Figure) -> None:
    """Lay the panels out once and for all, on a grid: the solver's last digits differ from call to call."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))
