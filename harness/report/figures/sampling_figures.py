"""Figures of sampling: what a step costs, observations per second, and vector environments."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from harness import quantity
from harness.report.figures import figure_points as shared
from harness.report.figures.figure_points import Value
from harness.report.summary import LOOP, RAY_PAPER, PointSummary, Summary, least_over_ray
from harness.stats import reference_ceiling
from plots.chart import Chart, LinePanel, Scale

_SAMPLING = ("gym_sampling", "atari_sampling")
_OURS = "reactor-vector"
_RIVALS = ("gymnasium-sync", "gymnasium-async", "sb3-subproc", "torchrl-parallel", "tianshou-shmem")
# These run other code than the environments' Python.
_OTHER_CODE = ("envpool", "ale-vector")


def _by_step(summary: Summary) -> tuple[str, dict[float, PointSummary]]:
    """The parameters that the sampling workloads share, and their points by a step's time in a plain loop, in ns."""
    found = [shared.sweep(summary, name, "throughput", ["env"]) for name in _SAMPLING]
    points = {}
    for point in (point for one in found for point in one.points):
        loop = point.cell(LOOP)
        # Of environments made up with observations of a size, the time of a step says too little.
        if loop is not None and loop.main is not None and str(point.parameters["env"]).count(":") < 2:
            points[shared.NS / loop.main.value] = point
    return "; ".join(dict.fromkeys(filter(None, (one.subtitle for one in found)))), dict(sorted(points.items()))


def _named(points: dict[float, PointSummary], step_ns: float) -> str:
    """A tick of the axis: an environment and what its step takes."""
    env = str(points[step_ns].parameters["env"]).removesuffix("-v1")
    return f"{env if len(env) <= 10 else env[:9] + '.'}\n{quantity.duration_tick(float(f'{step_ns:.2g}'))}"


def _panel(points: dict[float, PointSummary], y: Scale, chosen: Iterable[str], value: Value, **more: Any) -> LinePanel:
    """Curves over environments, in the order of what a step takes."""
    curves = shared.curves((step_ns, shared.values_at(point, chosen, value)) for step_ns, point in points.items())
    return LinePanel("", Scale("environment, and its step in a plain loop", partial(_named, points)), y, curves, **more)


def step_panel(summary: Summary, chosen: Iterable[str]) -> LinePanel | None:
    """Time per environment step of these backends by the plain loop's; None where there are too few points."""
    _, points = _by_step(summary)
    scale = Scale("time per step", quantity.duration_tick)
    return _panel(points, scale, chosen, shared.time_of(1)) if len(points) > 1 else None


def step_time(summary: Summary, *, everything: bool) -> Chart | None:
    """Time per environment step by the plain loop's, all environments of the sampling workloads."""
    setting, points = _by_step(summary)
    chosen = shared.backends(summary, list(points.values()), everything=everything, also=[RAY_PAPER])
    panel = step_panel(summary, chosen)
    if panel is None:
        return None
    return shared.chart(_gains(summary, points), setting, [panel], "Below the serial loop: more than one core is used.")


def _gains(summary: Summary, points: dict[float, PointSummary]) -> str:
    """Up to which step time no Ray gains on the loop, and where one does, by whole intervals."""
    reached, gained = None, None
    for step_ns, point in points.items():
        of_loop = {cell.backend: cell.speedups[LOOP].inverse() for cell in point.cells if LOOP in cell.speedups}
        found = least_over_ray(of_loop)
        if found and found[0].decides and gained is None:
            if found[0].low > 1:
                reached = step_ns
            elif found[0].high < 1:
                gained = step_ns
    where = shared.on_cores(summary)
    if reached is None:
        return f"{where}: what a step of an environment costs, by how long the environment takes"
    most = f"; it does at {quantity.duration(gained)}" if gained else ""
    messages = sorted({int(point.parameters.get("steps_per_message", 1)) for point in points.values()})
    condition = " or ".join(quantity.counted(steps, "step") for steps in messages)
    return (
        f"{where}, with {condition} per message, Ray gains nothing over a plain loop up to "
        f"{quantity.duration(reached)} per step{most}"
    )


def throughput(summary: Summary, *, everything: bool, workload: str) -> Chart | None:
    """Observations per second on each backend, a panel for each environment of the workload."""
    found = shared.sweep(summary, workload, "throughput", ["env"])
    return shared.bar_chart(
        summary, found, shared.NAMES[workload], Scale("observations/s"), lambda point: str(point.parameters["env"]),
        everything=everything, text=quantity.compact, most_first=True,
        # The paper leaves an environment's version out.
        beside=lambda point: shared.published_at(workload, str(point.parameters["env"]).partition("-")[0]),
        published_for="15 actors, 1 step per message",
    )  # fmt: skip


def vectors(summary: Summary, **_: bool) -> Chart | None:
    """Vector environments in times the plain loop's speed, by what a step takes."""
    setting, points = _by_step(summary)
    present = {cell.backend for point in points.values() for cell in point.cells}
    ceilings = set(filter(reference_ceiling.is_limit, present))
    chosen = {_OURS, *_RIVALS, *_OTHER_CODE, *ceilings} & present
    if len(points) < 2 or _OURS not in chosen or not chosen - {_OURS, *ceilings}:
        return None
    y = Scale("speed, in times a plain loop", log=False, most=float(summary.cores or 2) + 0.2)
    panel = _panel(
        points, y, chosen, lambda cell: cell.speedups.get(LOOP), levels=(1.0,), unjoined=frozenset(_OTHER_CODE)
    )
    note = "EnvPool and ALE run other code than the environments' Python."
    return shared.chart(_fastest(points), setting, [panel], note)


def _fastest(points: dict[float, PointSummary]) -> str:
    """At how many step times our vector environment has the highest mean of those that run Python code."""
    compared = ahead = 0
    for point in points.values():
        rates = {cell.backend: cell.main.value for cell in point.cells if cell.main}
        rivals = [rates[name] for name in _RIVALS if name in rates]
        if _OURS in rates and rivals:
            compared += 1
            ahead += rates[_OURS] > max(rivals)
    number = quantity.counted(compared, "environment")
    return f"{_OURS} has the highest mean speed for Python code at {ahead} of {number}"
