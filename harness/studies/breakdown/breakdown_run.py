"""Takes apart the rounds of a run's points, each trial in a fresh process under its own supervisor."""

import random
from collections.abc import Sequence
from typing import Any

from harness.errors import UsageError
from harness.measure.measured_processes import SubjectError, call
from harness.plan.grid import Grid, Point, backends_of
from harness.store import machine
from harness.store.phase_table import BREAKDOWN, LANE_UNITS, PhaseRow
from harness.store.status import OK
from harness.studies.breakdown.round_parts import MOST_MESSAGES, NAMES, RAY, can
from harness.studies.study import Study
from harness.studies.traced_rounds import shortened


def backends(grid: Grid, asked: Sequence[str]) -> list[str]:
    """Those of the grid's backends, or of the ones asked for, whose rounds can be taken apart; raises UsageError."""
    for name in asked:
        if not can(name):
            raise UsageError(f"the rounds of {name} can't be taken apart, only those of reactors, {' and '.join(RAY)}")
    if found := [name for name in asked or grid.backends if can(name)]:
        return found
    raise UsageError(f"none of {', '.join(grid.backends)} can be taken apart; name others with --backend")


def run(study: Study, names: Sequence[str]) -> list[PhaseRow]:
    """Write `breakdown.csv` into the run's directory, trial by trial; returns its rows."""
    BREAKDOWN.check_absent(study.path)
    rows, todo = list[PhaseRow](), list[tuple[int, Point, str]]()
    for trial in range(study.trials):
        for point in study.points:
            shuffled = backends_of(point.workload, names)
            random.Random(f"{point.parameters} {trial}").shuffle(shuffled)
            todo += [(trial, point, name) for name in shuffled]
    for number, (trial, point, name) in enumerate(todo, start=1):
        added = _run_trial(study, point, name, trial)
        rows += added
        BREAKDOWN.write(study.path, rows)
        study.tell(f"[{number}/{len(todo)}] {point.workload} {point.scenario} {name} trial {trial}: {added[0].status}")
    return rows


def _run_trial(study: Study, point: Point, backend: str, trial: int) -> list[PhaseRow]:
    fitted = shortened(point.values, MOST_MESSAGES, study.most_rounds)
    common: dict[str, Any] = {"run_id": study.run_id, "started_at": machine.timestamp(), **point.columns}
    common |= {"backend": backend, "trial": trial, "rounds": fitted["rounds"]}
    arguments = [point.workload, backend, fitted]
    try:
        found = call("harness.studies.breakdown.round_parts:measure", arguments, study.grid.time_limit_s)
        common["status"] = OK
    except SubjectError as error:
        found, common["status"] = {}, str(error)
    return [PhaseRow(phase=name, value=found.get(name), unit=LANE_UNITS.get(name, "ns"), **common) for name in NAMES]
