"""The content of a figure. The harness computes it, and `plots.page` draws it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from harness import quantity
from harness.stats.intervals import Estimate

Points = Mapping[float, Estimate]

# The parts of a bar: work, and the rest on top of it.
WORK, REST = "work", "rest"


@dataclass(frozen=True)
class Scale:
    """An axis. `log`: None for a logarithmic one where values span much. `most`: values beyond are cut and named."""

    label: str
    text: Callable[[float], str] = quantity.tick
    log: bool | None = None
    most: float = math.inf


@dataclass(frozen=True)
class Bar:
    """A bar with the text at its end. `parts`: lengths by kind, where it is not of one piece."""

    series: str
    estimate: Estimate
    text: str
    parts: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class BarPanel:
    """Bars over one axis, the first on top. `line`: a value that is marked."""

    title: str
    scale: Scale
    bars: tuple[Bar, ...]
    line: float | None = None


@dataclass(frozen=True)
class LinePanel:
    """Curves by series. `levels`: values that are marked. `measured_until`: shaded beyond. `unjoined`:
    series whose points are not one code, and `predicted` ones, which are dashed.
    """

    title: str
    x: Scale
    y: Scale
    curves: Mapping[str, Points]
    levels: tuple[float, ...] = ()
    measured_until: float | None = None
    unjoined: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Chart:
    """A figure: the finding as its title, the fixed parameters, panels from top to bottom, notes below."""

    title: str
    subtitle: str
    panels: tuple[BarPanel | LinePanel, ...]
    notes: tuple[str, ...] = ()
