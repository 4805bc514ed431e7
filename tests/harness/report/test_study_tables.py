"""The scaling of a run with workers as a table."""

import dataclasses
import json

from harness.prediction import MessageCost
from harness.report import study_tables
from harness.store.scaling_table import HERE, MEASURED, PAID, PREDICTED, PREDICTIONS, CostRow, ScalingRow


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


def test_why_there_is_no_value_is_told():
    rows = [row(PREDICTED, 1, 1.0), row(MEASURED, 1, None, status="killed by SIGKILL")]
    assert study_tables.scaling_table(rows).rows[0][2:] == ("1.00x [0.900, 1.10]", "-", "-", "killed by SIGKILL", "-")
