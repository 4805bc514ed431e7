"""The one look of all figures: colours, markers and names of backends, and how a figure becomes a file.

The colours are Okabe and Ito's (2008), told apart with every common colour blindness, completed from Paul
Tol's muted scheme; a family has one hue: reactors are green, Ray is orange, the loop and the ceiling black and grey.
Markers repeat the distinction for print without colour. The background is opaque. An SVG is light, and dark on a dark
page whose viewer supports that.
"""

import colorsys
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

WIDTH = 8.0  # inches: 10-point text stays readable where a README shows the figure 800 pixels wide
INK = "#222222"
ON_COLOR = "#111111"  # what is written on a light colour: as dark on a dark page
FAINT = "#6b6b6b"
GRID = "#dddddd"
SHADE = "#f3f3f3"
_PNG_DPI = 200
# On a dark page: the lightness of paper and ink, that of a colour at least, and its saturation at most.
_DARK_PAPER, _DARK_INK, _DARK_LEAST, _DARK_MOST = 0.09, 0.93, 0.62, 0.75
_GREY = 0.02  # the saturation of greys at most

_SETTINGS: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same glyphs, hence the same bytes, everywhere
    "font.size": 9.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "figure.facecolor": "white",
    "grid.color": GRID,
    "grid.linewidth": 0.7,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "savefig.facecolor": "white",
    "svg.fonttype": "path",  # no viewer has to own the font
    "svg.hashsalt": "plots",  # element ids depend on the drawing alone
    "text.color": INK,
    "text.parse_math": False,  # names are shown letter by letter, dollar signs too
    "xtick.color": FAINT,
    "xtick.labelcolor": INK,
    # Minor ticks are what the second line of labels names, and else as the others.
    "xtick.minor.size": 3.5,
    "xtick.minor.width": 0.8,
    "xtick.minor.pad": 15.0,
    "ytick.color": FAINT,
    "ytick.labelcolor": INK,
}


@dataclass(frozen=True)
class Look:
    """How one backend appears in every figure."""

    label: str
    color: str
    marker: str


_LOOKS = {
    "serial": Look("serial loop", "#000000", "s"),
    "reactor-inline": Look("reactors, inline", "#66C2A5", "o"),
    "reactor-threads": Look("reactors, threads", "#117733", "P"),
    "reactor-processes": Look("reactors, processes", "#009E73", "D"),
    "reactor-mpi": Look("reactors, MPI", "#661100", "*"),
    "ray-paper": Look("Ray, as in the paper", "#D55E00", "v"),
    "ray-tuned": Look("Ray, tuned", "#E69F00", "^"),
    "ray-pooled": Look("Ray, an actor per core", "#F28E2B", "8"),
    "ray-compiled": Look("Ray, compiled graph", "#A34700", "<"),
    "reactor-nodes": Look("reactors, two nodes", "#2E8B57", "+"),
    "ray-paper-nodes": Look("Ray, as in the paper, two nodes", "#B5651D", "."),
    "ray-pooled-nodes": Look("Ray, an actor per core, two nodes", "#E08E45", "$2$"),
    "gymnasium-sync": Look("Gymnasium, sync", "#999933", "h"),
    "gymnasium-async": Look("Gymnasium, async", "#CC79A7", "X"),
    "reactor-vector": Look("reactors, vector", "#44803F", "1"),
    "sb3-subproc": Look("Stable-Baselines3, subproc", "#6699CC", "4"),
    "torchrl-parallel": Look("TorchRL, parallel", "#EE8866", "3"),
    "tianshou-shmem": Look("Tianshou, shared memory", "#BBBB00", "2"),
    "envpool": Look("EnvPool", "#AA4499", "p"),
    "ale-vector": Look("ALE vector", "#332288", ">"),
    "reactor-lf": Look("Lingua Franca source, processes", "#88CCEE", "H"),
    "xronos": Look("xronos", "#44AA99", "d"),
    "lockstep": Look("ceiling: loops in lockstep", "#7A7A7A", "_"),
    "limit": Look("ceiling: copies alone", "#555555", "|"),
}
_UNKNOWN = "#999999", "x"
_PUBLISHED = {"ray": Look("", "#D55E00", "v"), "lf": Look("", "#117733", "o")}


def look(backend: str) -> Look:
    """The look of a backend; one without an entry is grey and keeps its own name."""
    return _LOOKS.get(backend) or Look(backend, *_UNKNOWN)


def known() -> list[str]:
    """The backends that have a look of their own, in order."""
    return list(_LOOKS)


def published_look(system: str) -> Look:
    """Colour and marker of a published series, which is drawn hollow."""
    return _PUBLISHED[system]


def ordered(backends: Iterable[str]) -> list[str]:
    """Each backend once, in the order all figures list them; unknown ones last, by name."""
    rank = {name: position for position, name in enumerate(_LOOKS)}
    return sorted(set(backends), key=lambda name: (rank.get(name, len(rank)), name))


@contextmanager
def applied() -> Iterator[None]:
    """Matplotlib's settings for everything drawn and saved inside."""
    # From the defaults, not from a user's matplotlibrc: it changes neither look nor bytes.
    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if name != "backend"}
    settings: Any = {**defaults, **_SETTINGS}
    with mpl.rc_context(settings):
        yield


def save(figure: Figure, directory: Path, name: str) -> list[Path]:
    """Write `name`.svg and `name`.png; the bytes depend on the figure only. Raises OSError."""
    svg, png = directory / f"{name}.svg", directory / f"{name}.png"
    with applied():
        _settle(figure)
        figure.savefig(svg, metadata={"Date": None})
        figure.savefig(png, dpi=_PNG_DPI, metadata={"Software": None})
    svg.write_text(for_both_schemes(svg.read_text(encoding="utf-8")), encoding="utf-8")
    return [svg, png]


def for_both_schemes(svg: str) -> str:
    """An SVG of matplotlib's with rules that give each of its colours another one on a dark page."""
    found = sorted(set(re.findall(r"(fill|stroke): (#[0-9a-f]{6})", svg)))
    rules = [
        f'[style*="{what}: {color}"] {{ {what}: {dark(color)} !important }}'
        for what, color in found
        if color != ON_COLOR
    ]
    rules += [f'[fill="{color}"] {{ fill: {dark(color)} }}' for color in sorted(set(re.findall(r'fill="(#\w+)"', svg)))]
    # What has no colour of its own is black.
    scheme = f"@media (prefers-color-scheme: dark) {{ svg {{ fill: {dark('#000000')} }} {' '.join(rules)} }}"
    return svg.replace("</style>", f"{scheme}</style>", 1)


def dark(color: str) -> str:
    """The colour that stands for one on a dark page: greys change ends, other colours become light enough.

    >>> dark("#ffffff"), dark("#000000"), dark("#882255"), dark("#56b4e9")
    ('#171717', '#ededed', '#d8649e', '#58b3e7')
    """
    red, green, blue = (int(color[at : at + 2], 16) / 255 for at in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    if saturation < _GREY:
        lightness, saturation = _DARK_INK + (_DARK_PAPER - _DARK_INK) * lightness, 0.0
    else:
        lightness, saturation = max(lightness, _DARK_LEAST), min(saturation, _DARK_MOST)
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))


def _settle(figure: Figure) -> None:
    """Lay the panels out once and for all, on a grid: the solver's last digits differ from call to call."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = axes.get_position().bounds
        axes.set_position((round(left, 4), round(bottom, 4), round(width, 4), round(height, 4)))
