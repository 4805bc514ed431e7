"""How near each backend comes to what the machine could do at all.

The limit is the same as in the report's tables: measured where a backend stands for it (the copies of a broadcast and
gather, alone; else plain loops on all cores in lockstep), and without rows of it the serial loop's pace on all cores at
once, whole parts of a round on each, and nothing spent on communication.
"""

from collections.abc import Iterator
from statistics import fmean

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from harness.stats.moderated import moderated
from plots import dots, notes, rows
from plots.errors import FigureError

_BASE = "serial"
_COPIES, _LOCKSTEP = "limit", "lockstep"
# By workload what is compared, its name, and the parameters that the figure may vary from panel to panel. Where it is
# the throughput, rounds are of equal parts.
_WORKLOADS = {
    "gym_sampling": ("throughput", "Gymnasium", ("env",)),
    "atari_sampling": ("throughput", "Atari", ("env",)),
    "q_learning": ("throughput", "Q-learning", ()),
    "multi_agent": ("throughput", "Traffic Junction", ()),
    "ppo": ("throughput", "PPO", ("env",)),
    "broadcast_gather": ("overhead", "Broadcast and gather", ()),
}
_SIZES = ("actors", "agents")


def fraction(measurements: pd.DataFrame, cores: int) -> Figure:
    """Speed in percent of the limit of a machine with `cores` cores, by workload. Raises FigureError."""
    found: list[tuple[rows.Selection, list[dots.Panel]]] = []
    faults: list[FigureError] = []
    for workload, (metric, name, varied) in _WORKLOADS.items():
        try:
            selection = rows.select(measurements, workload, metric, varied)
        except FigureError as fault:
            faults.append(fault)
        else:
            panels = _of_copies(selection, name) if metric == "overhead" else _of_loops(selection, name, cores)
            found.append((selection, list(panels)))
    shown = [(selection, panels) for selection, panels in found if panels]
    if not shown:
        if not found:
            raise faults[0]
        raise FigureError(
            f"no workload has successful rows of {_LOCKSTEP} or {_BASE} (of {_COPIES}, for broadcast_gather), which "
            "the limit is of, and of another backend"
        )
    number = "1 core" if cores == 1 else f"{cores} cores"
    return dots.draw(
        [panel for _, panels in shown for panel in panels],
        f"Share of what {number} could do",
        "",
        [
            (
                f"100 %: plain loops in lockstep on {number}, measured, or else the serial loop's pace on {number} at "
                "once, whole environments, workers or agents on each, and no time for communication; for broadcast "
                "and gather the copies alone. Paired by trial. Not shown: overhead, which has no work to share."
            ),
            *notes.below(*(selection for selection, _ in shown)),
        ],
        "% of the limit",
        limit=100.0,
    )


def _of_loops(selection: rows.Selection, name: str, cores: int) -> Iterator[dots.Panel]:
    """One panel for each scenario that has rows of loops in lockstep, or else of the serial loop."""
    parts = next((selection.setting[size] for size in _SIZES if selection.setting.get(size)), None)
    if parts is None:
        raise FigureError("the rows don't say their actors; expected a column or parameter of that name")
    gain = parts / -(-parts // cores)
    trials = selection.trials("scenario", "backend")
    for scenario in selection.distinct("scenario"):
        alone, measured = (trials.get((scenario, name), {}) for name in (_BASE, _LOCKSTEP))
        # Loops that wait for each other are slower than one where rounds are short.
        base = max(filter(None, (alone, measured)), key=lambda values: fmean(values.values()), default={})
        shares = {
            backend: intervals.ratio(values, base).scaled(100 / (1 if measured else gain))
            for (where, backend), values in trials.items()
            if where == scenario and backend != _LOCKSTEP and base.keys() & values.keys()
        }
        if shares.keys() - {_BASE}:
            itself = {backend: shares.pop(backend) for backend in (*shares,) if trials[scenario, backend] is base}
            yield dots.Panel(_title(name, scenario, selection), itself | moderated(shares))


def _of_copies(selection: rows.Selection, name: str) -> Iterator[dots.Panel]:
    """One panel for each scenario that has rows of the limit; a difference of times may be none, which has no ratio."""
    trials = selection.trials("scenario", "backend")
    for scenario in selection.distinct("scenario"):
        base = trials.get((scenario, _COPIES), {})
        shares = {
            backend: intervals.ratio(base, values).scaled(100)
            for (where, backend), values in trials.items()
            if where == scenario and backend != _COPIES  # which is the line at 100 %
            if base.keys() & values.keys() and min([*base.values(), *values.values()]) > 0
        }
        if shares:
            yield dots.Panel(_title(name, scenario, selection), moderated(shares))


def _title(name: str, scenario: str, selection: rows.Selection) -> str:
    size = {key: selection.setting[key] for key in _SIZES if key in selection.setting}
    words = f"{name}: {scenario}" if scenario not in name.replace(" ", "") else name
    return f"{words}\n{quantity.sentence(size)}"
