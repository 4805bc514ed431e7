"""The studies of a run as tables."""

import dataclasses
import json

from harness.prediction import MessageCost
from harness.report import study_tables
from harness.store.phase_table import LAG, LAG_95, LANE_UNITS, LANES, STRAGGLER, PhaseRow
from harness.store.scaling_table import HERE, MEASURED, PAID, PREDICTED, PREDICTIONS, CostRow, ScalingRow
from harness.studies.breakdown.round_parts import NAMES


def row(kind, workers, speedup, actors=2, workload="gym_sampling", status="ok"):
    backend = "reactor-inline" if kind in PREDICTIONS else "reactor-processes"
    parameters = json.dumps({"actors": actors, "rounds": 10 * actors, "env": "CartPole-v1"})
    numbers = (speedup, speedup and 0.9 * speedup, speedup and 1.1 * speedup)
    point = (workload, "CartPole-v1", backend, actors, None, None, None, parameters)
    return ScalingRow("a-run", *point, kind, workers, 3, *numbers, status)


ROWS = [
    *(row(PREDICTED, count, min(count, 4.0), actors) for actors in (2, 8) for count in (1, 2, 64)),
    *(row(MEASURED, count, part * count, actors) for actors, part in ((2, 0.5), (8, 0.9)) for count in (1, 2)),
]


COST = MessageCost(4_400.0, 4_600.0, 21_000.0, 0.2)
COSTS = CostRow.of("a-run", 0, 2, COST)
# The speed-up with messages paid for is half of that without. On two cores four workers are as two.
PAID_ROWS = [
    *ROWS,
    *(row(PAID, count, min(count, 4.0) / 2, actors) for actors in (2, 8) for count in (1, 2, 4, 64)),
    *(row(HERE, count, min(count, 2.0) / 2, actors) for actors in (2, 8) for count in (1, 2, 4)),
    *(row(MEASURED, 4, value, actors) for actors, value in ((2, 1.1), (8, 0.8))),
]


def test_the_table_has_all_numbers_of_workers():
    assert list(study_tables.scaling_table(ROWS).rows)[:3] == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x [0.900, 1.10]", "-", "-", "0.500x [0.450, 0.550]", "50 %"),
        ("", "2", "2.00x [1.80, 2.20]", "-", "-", "1.00x [0.900, 1.10]", "50 %"),
        ("", "64", "4.00x [3.60, 4.40]", "-", "-", "-", "-"),
    ]


def test_what_is_measured_is_compared_with_messages_paid_on_the_cores_there_are():
    rows = [dataclasses.replace(one, trials=1) for one in PAID_ROWS]
    assert list(study_tables.scaling_table(rows).rows)[:4] == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x", "0.500x", "0.500x", "0.500x", "100 %"),
        ("", "2", "2.00x", "1.00x", "1.00x", "1.00x", "100 %"),
        ("", "4", "-", "2.00x", "1.00x", "1.10x", "110 %"),
        ("", "64", "4.00x", "2.00x", "-", "-", "-"),
    ]


def test_what_a_message_cost_is_told():
    (line,) = study_tables.message_costs(COSTS)
    assert all(part in line for part in ("4.40 us", "4.60 us", "21.0 us", "200 us"))
    assert list(study_tables.message_costs([])) == []


def phase_rows(steps_per_message):
    """A trial of a point."""
    parameters = json.dumps({"actors": 4, "rounds": 5, "steps_per_message": steps_per_message})
    point = ("gym_sampling", "CartPole-v1", "reactor-inline", 4, None, steps_per_message, None, parameters)
    for phase in NAMES:
        of_phase = (phase, 1000.0, LANE_UNITS.get(phase, "ns"), "ok")
        yield PhaseRow("a-run", "2026-05-01T10:00:00Z", *point, 0, 5, *of_phase)


def test_points_that_differ_in_any_parameter_are_told_apart():
    (table,) = study_tables.phase_tables([row for steps in (1, 10, 100) for row in phase_rows(steps)])
    assert [line[0] for line in table.rows] == [
        f"CartPole-v1, 4 actors, {steps} per message" for steps in ("1 step", "10 steps", "100 steps")
    ]


def test_why_there_is_no_value_is_told():
    rows = [row(PREDICTED, 1, 1.0), row(MEASURED, 1, None, status="killed by SIGKILL")]
    assert study_tables.scaling_table(rows).rows[0][2:] == ("1.00x [0.900, 1.10]", "-", "-", "killed by SIGKILL", "-")
    failed = [dataclasses.replace(row, value=None, status="unsupported: no") for row in phase_rows(1)]
    ((_, *cells),) = next(study_tables.phase_tables(failed)).rows
    assert cells[:2] == ["reactor-inline", "unsupported: no"]


def test_the_straggler_stands_beside_the_phases_where_it_is_known():
    lanes, parts, lags, late = (4.0, 4.0, 4.0), (0.5, 0.3, 0.4), (0.1, 0.2, 0.9), (0.3, 0.4, 1.0)
    told = []
    for trial, values in enumerate(zip(lanes, parts, lags, late, strict=True)):
        known = dict(zip((LANES, STRAGGLER, LAG, LAG_95), values, strict=True))
        told += [dataclasses.replace(row, trial=trial, value=known.get(row.phase, row.value)) for row in phase_rows(1)]
    (table,) = study_tables.phase_tables(told)
    assert table.columns[-2:] == ("straggler", "lag")
    assert table.rows[0][-2:] == ("40% of 4", "20%, 95 %: 40%")
    alone = [dataclasses.replace(row, value=1.0) if row.phase == LANES else row for row in told]
    assert next(study_tables.phase_tables(alone)).rows[0][-2:] == ("-", "-")
