"""The sampling workloads: observations per second by environment, and their rows for other figures."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from plots import dots, notes, published, rows
from plots.errors import FigureError

_NAMES = {"gym_sampling": "Gymnasium", "atari_sampling": "Atari"}


def selections(measurements: pd.DataFrame, varied: Sequence[str]) -> dict[str, rows.Selection]:
    """The throughput of the sampling workloads that have rows, by display name. Raises FigureError."""
    found, faults = {}, []
    for workload, name in _NAMES.items():
        try:
            found[name] = rows.select(measurements, workload, "throughput", varied)
        except FigureError as fault:
            faults.append(fault)
    if not found:
        raise faults[0]
    return found


def step_times(names: Mapping[float, str]) -> str:
    """In words, what a step of each environment takes, by its time in ns."""
    return "; ".join(f"{names[step_ns]} {quantity.duration(step_ns)}" for step_ns in sorted(names)) + "."


def throughput(measurements: pd.DataFrame, workload: str) -> Figure:
    """Observations per second on each backend, a panel for each environment of the workload. Raises FigureError."""
    selection = rows.select(measurements, workload, "throughput", ["env"])
    cells = selection.cells("scenario", "backend")
    panels = [
        dots.Panel(
            scenario,
            {backend: value for (where, backend), value in cells.items() if where == scenario},
            _published(workload, scenario),
        )
        for scenario in selection.distinct("scenario")
    ]
    condition = "15 actors, 1 step per message" if any(one.published for one in panels) else None
    return dots.draw(
        panels,
        f"{_NAMES[workload]}: observations per second",
        notes.fixed(selection),
        notes.below(selection, published=condition),
        "observations/s",
    )


def _published(workload: str, scenario: str) -> list[dots.Reference]:
    name = scenario.partition("-")[0]  # the paper leaves an environment's version out
    return [(series, value) for series in published.series(workload, name) for value in series.points.values()]
