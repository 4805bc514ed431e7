"""Vector environments: how many times as fast as a plain loop each is, by how long the environment takes."""

from operator import itemgetter

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from harness.stats.moderated import moderated, nested
from plots import lines, notes, sampling, style
from plots.errors import FigureError

_LOOP = "serial"
_OURS = "reactor-vector"
_RIVALS = (
    "gymnasium-sync", "gymnasium-async", "sb3-subproc", "torchrl-parallel", "tianshou-shmem", "envpool", "ale-vector",
)  # fmt: skip


def speed_up(measurements: pd.DataFrame) -> Figure:
    """Throughput as a ratio to the plain loop's, all environments of the sampling workloads. Raises FigureError."""
    selections = sampling.selections(measurements, ["env"])
    found: dict[tuple[str, float], intervals.Estimate] = {}
    names: dict[float, str] = {}
    for selection in selections.values():
        trials = selection.trials("env", "scenario", "backend")
        for (env, scenario, backend), values in trials.items():
            loop = trials.get((env, scenario, _LOOP), {})
            if backend in (_OURS, *_RIVALS) and loop.keys() & values.keys():
                step_ns = 1e9 / intervals.mean(list(loop.values())).value
                names[step_ns] = scenario
                found[backend, step_ns] = intervals.ratio(values, loop)
    curves = nested(moderated(found, itemgetter(1)))
    if len(names) < 2 or _OURS not in curves or len(curves) < 2:
        raise FigureError(f"fewer than two environments with the backends {_LOOP}, {_OURS} and another vector")
    figure = lines.single(
        "Vector environments, by how long the environment takes",
        notes.fixed(*selections.values()),
        [
            "Environment steps per second of all environments together, as a ratio to those of a plain loop.",
            sampling.step_times(names),
            *notes.below(*selections.values()),
        ],
        lines.Panel(curves),
        "time per step in a plain loop",
        quantity.duration,
        "speed-up over the loop (×)",
    )
    figure.axes[0].axhline(1.0, color=style.FAINT, linewidth=1.0, zorder=1)
    return figure
