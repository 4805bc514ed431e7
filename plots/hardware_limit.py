"""How near each backend comes to what the machine could do, for workloads whose workers need no one else."""

import pandas as pd
from matplotlib.figure import Figure

from plots import dots, intervals, notes, rows, sampling
from plots.errors import FigureError

_BASE = "serial"


def fraction(measurements: pd.DataFrame, cores: int) -> Figure:
    """Throughput in percent of the limit of a machine with `cores` cores. Raises FigureError.

    The limit: the serial loop's throughput x actors / ceil(actors / cores), which is as many environments at
    a time as there are cores, and nothing spent on communication.
    """
    selections = sampling.selections(measurements, ["env"])
    panels = [one for name, selection in selections.items() for one in _panels(selection, name, cores)]
    if not panels:
        raise FigureError(f"no sampling rows of {_BASE}, which the limit is computed from, and of another backend")
    number = "1 core" if cores == 1 else f"{cores} cores"
    return dots.draw(
        panels,
        f"Share of what {number} could do",
        notes.fixed(*selections.values()),
        [
            (
                f"100 %: the serial loop's pace on {number} at once, whole environments on each, and no time "
                "for communication. Paired by trial."
            ),
            *notes.below(*selections.values()),
        ],
        "% of the limit",
        limit=100.0,
    )


def _panels(selection: rows.Selection, name: str, cores: int) -> list[dots.Panel]:
    actors = selection.setting.get("actors")
    if not actors:
        raise FigureError("the rows don't say their actors; expected a column or parameter of that name")
    gain = actors / -(-actors // cores)
    trials = selection.trials("scenario", "backend")
    panels = []
    for scenario in selection.distinct("scenario"):
        base = trials.get((scenario, _BASE), {})
        measured = {
            backend: intervals.ratio(values, base).scaled(100 / gain)
            for (where, backend), values in trials.items()
            if where == scenario and base.keys() & values.keys()
        }
        if len(measured) > 1:
            panels.append(dots.Panel(f"{name}: {scenario}", measured))
    return panels
