"""What a step of an environment costs on Ray, on reactors and in a plain loop, by how long the environment takes."""

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure

from harness import quantity
from harness.stats import intervals
from plots import lines, notes, sampling
from plots.errors import FigureError

_LOOP = "serial"
_SHOWN = (_LOOP, "reactor-processes", "ray-paper", "ray-tuned", "ray-pooled", "ray-compiled")


def cost(measurements: pd.DataFrame) -> Figure:
    """Time per environment step by the plain loop's, all environments of the sampling workloads. Raises FigureError."""
    selections = sampling.selections(measurements, ["env"])
    curves: dict[str, dict[float, intervals.Estimate]] = {}
    names: dict[float, str] = {}
    for selection in selections.values():
        cells = selection.cells("env", "scenario", "backend")
        for (env, scenario, backend), steps_per_second in cells.items():
            loop = cells.get((env, scenario, _LOOP))
            if loop is not None and backend in _SHOWN:
                step_ns = 1e9 / loop.value
                names[step_ns] = scenario
                curves.setdefault(backend, {})[step_ns] = steps_per_second.inverse().scaled(1e9)
    if len(names) < 2:
        raise FigureError(f"fewer than two environments with the backend {_LOOP}, whose step is the axis")
    return lines.single(
        _finding(curves),
        notes.fixed(*selections.values()),
        [
            (
                "Both axes: time by number of environment steps taken, of all environments. On the line of the serial "
                "loop nothing is lost or won; below it more than one core is used."
            ),
            sampling.step_times(names),
            *notes.below(*selections.values()),
        ],
        lines.Panel(curves),
        "time per step in a plain loop",
        quantity.duration,
        "time per step",
        quantity.duration_tick,
        height=3.4,
    )


def _finding(curves: Mapping[str, Mapping[float, intervals.Estimate]]) -> str:
    """The title: up to which step time no Ray is faster than the loop, by its whole interval."""
    rays = [points for name, points in curves.items() if name.startswith("ray-")]
    reached = None
    for step_ns, loop in sorted(curves[_LOOP].items()):
        own = [points[step_ns] for points in rays if step_ns in points]
        if not own or min(one.low for one in own) <= loop.value:
            break
        reached = step_ns
    if reached is None:
        return "What a step of an environment costs, by how long the environment takes"
    return f"Ray gains nothing over a plain loop up to {quantity.duration(reached)} a step"
