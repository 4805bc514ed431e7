"""Predicts the speed-up of each backend of a run over the plain loop, before the run measures anything.

The calculation is that of the static graph (see `harness.prediction`), with the cost of a message and of a byte on each
backend. Two short blocks of turns measure these costs: a round of small replies, and one of large ones. The cost of a
message is that with which the calculation explains the first round, the cost of a byte that which explains the second.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

from harness import quantity
from harness.measure import block
from harness.measure.kept import Kept
from harness.measure.measured_processes import SubjectError, call
from harness.measure.runner import subject_of
from harness.plan import needs
from harness.plan.grid import Grid, Point, Trial, backends_of
from harness.plan.presets import ByCores
from harness.stats.reference_ceiling import is_limit
from harness.store.digests import REFERENCE_BACKEND as LOOP
from harness.store.prediction_table import PREDICTIONS, PredictionRow
from harness.store.status import OK, UNSUPPORTED
from reactorlib.cpus import available_cpus, usable_cpus
from workloads.catalogue import BACKENDS

# The environments whose rounds show the costs: the second one's observations are large.
_ENVIRONMENTS = ("busy:20us:4", "busy:20us:100000")
_WORKLOAD, _LENGTH, _FEWEST = "gym_sampling", "rounds=40,warmup_rounds=5", 8
_NO_COST = (0.0, 0.0)
_TRACING = "harness.studies.scaling.tracing"

# The costs of a message and of a byte in ns, or why they are not known.
Costs = tuple[float, float] | str


def predict(path: Path, run_id: str, grid: Grid, limit_s: float, tell: Callable[[str], None]) -> None:
    """Write the predictions for the cores of this process into the run's directory. Existing rows stay."""
    if (path / PREDICTIONS.file_name).exists():
        return
    known, rows = _costs(grid, limit_s), list[PredictionRow]()
    for name, costs in known.items():
        if not isinstance(costs, str) and costs != _NO_COST:
            message, byte = quantity.show(costs[0], "ns"), quantity.show(1e6 * costs[1], "ns")
            tell(f"{name}: a message costs {message}, and {byte} for each MB")
    for point in grid.points:
        own = [name for name in backends_of(point.workload, grid.backends) if name != LOOP]
        speed_ups = _speed_ups(point, {name: known[name] for name in own}, limit_s)
        for name in own:
            rows.append(_row(run_id, point, name, known[name], speed_ups[name]))
        told = ", ".join(f"{row.backend} {_told(row)}" for row in rows[len(rows) - len(own) :])
        tell(f"predicted for {quantity.counted(available_cpus(), 'core')}: {point.name}: {told}")
    PREDICTIONS.write(path, rows)


def _told(row: PredictionRow) -> str:
    return row.status if row.speedup is None else quantity.times(row.speedup)


def _row(run_id: str, point: Point, backend: str, costs: Costs, speed_up: float | str) -> PredictionRow:
    message_ns, byte_ns = (None, None) if isinstance(costs, str) else costs
    value, status = (None, speed_up) if isinstance(speed_up, str) else (speed_up, OK)
    return PredictionRow(
        run_id, point.workload, point.parameters, backend, available_cpus(), message_ns, byte_ns, value, status
    )


def _calibration_points() -> list[Point]:
    actors = ByCores(_FEWEST, 2).here()[0]
    names = (f"{_WORKLOAD}/actors={actors},env={env},{_LENGTH}" for env in _ENVIRONMENTS)
    return [Point.named(name, 1) for name in names]


def _costs(grid: Grid, limit_s: float) -> dict[str, Costs]:
    """The costs of each backend but the loop. Reference ceilings and backends of one thread send nothing."""
    points, known = _calibration_points(), dict[str, Costs]()
    for name in (name for name in grid.backends if name != LOOP):
        if is_limit(name) or BACKENDS[name].options.get("executor") == "inline":
            known[name] = _NO_COST
        elif BACKENDS[name].interpreter or not backends_of(_WORKLOAD, [name]):
            known[name] = f"{UNSUPPORTED}its messages are not measured"
        elif reason := needs.why_not(points[0], name):
            known[name] = f"{UNSUPPORTED}{reason}"
    measured = [name for name in grid.backends if name not in known and name != LOOP]
    effort = replace(block.EFFORT, sweeps=3, fewest=2, longest_s=6.0, warmup_s=(0.2, 1.0), limit_s=limit_s)
    with Kept() as kept:
        blocks = [_measured(point, [LOOP, *measured], effort, kept) for point in points if measured]
    speed_ups = dict[str, list[float]]()
    for name in measured:
        told = [one[name] for one in blocks]
        failures = [one for one in told if isinstance(one, str)]
        if failures:
            known[name] = failures[0]
        else:
            speed_ups[name] = [one for one in told if not isinstance(one, str)]
    workers = {name: needs.workers(points[0], name) for name in speed_ups}
    arguments = [_WORKLOAD, [point.values for point in points], speed_ups, workers, usable_cpus()]
    try:
        fitted = call(f"{_TRACING}:costs", arguments, limit_s) if speed_ups else {}
    except SubjectError as error:
        fitted = dict.fromkeys(speed_ups, str(error))
    return known | {name: one if isinstance(one, str) else tuple(one) for name, one in fitted.items()}


def _measured(point: Point, names: Sequence[str], effort: block.Effort, kept: Kept) -> dict[str, float | str]:
    """The speed-ups over the loop in a block, or why there is none."""
    subjects = [subject_of(Trial(point, name, 0)) for name in names]
    sides = block.run(subjects, effort, point.parameters, lambda _: None, lambda _: None, kept)
    loop, found = sides[LOOP], dict[str, float | str]()
    for name, side in sides.items():
        failure = side.failure or loop.failure
        found[name] = failure or math.exp(fmean(block.log_ratios(loop, side)))
    return found


def _speed_ups(point: Point, known: dict[str, Costs], limit_s: float) -> dict[str, float | str]:
    """The prediction for each backend, or why there is none."""
    told: dict[str, Any] = {name: costs for name, costs in known.items() if isinstance(costs, str)}
    asked = {name: (needs.workers(point, name), *costs) for name, costs in known.items() if not isinstance(costs, str)}
    try:
        told |= call(f"{_TRACING}:speed_ups", [point.workload, point.values, asked, usable_cpus()], limit_s)
    except SubjectError as error:
        told |= dict.fromkeys(asked, str(error))
    return told
