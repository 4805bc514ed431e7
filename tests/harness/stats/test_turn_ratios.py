"""Ratios from stored turns: of neighbours, by the clock that fits both sides."""

import json
import math
from statistics import fmean

import pytest

from harness.plan.point_name import point_name
from harness.stats.point_ratios import PointRatios
from harness.stats.turn_ratios import by_block
from harness.store.recorded_turns import RecordedTurn, RecordedTurns

BOTH = (0, 1)  # trials
POINT = "fake", json.dumps({"actors": 2})
NAME = point_name(*POINT)
# Of a round in the sweeps 0, 1, 2: wall time and CPU time.
TIMES = {"serial": (4, 2), "reactor-inline": (12, 3), "reactor-processes": (20, 50)}


def taken(point, *left_out):
    return [
        RecordedTurn(*point, backend, trial, 0, sweep, 0, 10, 10 * wall * (sweep + 1), 10 * cpu * (sweep + 1))
        for backend, (wall, cpu) in TIMES.items()
        for trial in (0, 1)
        for sweep in range(3)
        if (backend, trial, sweep) not in left_out
    ]


@pytest.mark.parametrize(
    ("above", "parameters", "ratio"),
    [
        ("reactor-inline", {"actors": 2}, 3 / 2),  # both in one thread
        ("reactor-processes", {"actors": 2}, 20 / 4),
        ("reactor-inline", {"actors": 2, "work_seconds": 0.0}, 3 / 2),
        ("reactor-inline", {"actors": 2, "work_seconds": 0.5}, 12 / 4),  # which wait
    ],
)
def test_cpu_time_counts_where_both_compute_in_one_thread_else_wall_time(above, parameters, ratio):
    point = "fake", json.dumps(parameters)
    blocks = by_block(RecordedTurns(taken(point)), point_name(*point), (above, 0), ("serial", 0), BOTH)
    assert blocks == [pytest.approx([math.log(ratio)] * 3)] * 2


def test_only_turns_of_one_sweep_are_compared():
    turns = RecordedTurns(taken(POINT, ("serial", 0, 1), ("serial", 1, 0), ("serial", 1, 1), ("serial", 1, 2)))
    assert list(map(len, by_block(turns, NAME, ("reactor-processes", 0), ("serial", 0), BOTH))) == [2]
    assert by_block(turns, NAME, ("reactor-processes", 0), ("serial", 0), [1]) == []
    assert by_block(turns, NAME, ("reactor-processes", 1), ("serial", 0), BOTH) == []


def test_what_does_not_count_is_taken_from_every_turn_and_nothing_is_compared_where_one_has_no_more():
    point = "fake", json.dumps({"actors": 2, "work_seconds": 0.5})
    turns = RecordedTurns(taken(point))
    pairs = [math.log((20 * (sweep + 1) - 10) / (4 * (sweep + 1) - 3)) for sweep in range(3)]
    found = by_block(turns, point_name(*point), ("reactor-processes", 0), ("serial", 0), BOTH, less=(10, 3))
    assert found == [pytest.approx(pairs)] * 2
    assert by_block(turns, point_name(*point), ("reactor-processes", 0), ("serial", 0), BOTH, less=(10, 4)) == []


@pytest.mark.parametrize(("apart", "ratio"), [((), 20 / 4), ((1,), 3.0)], ids=["all side by side", "one block apart"])
def test_trials_values_are_compared_where_a_block_has_no_turns_side_by_side(row, apart, ratio):
    left_out = [("serial", trial, sweep) for trial in apart for sweep in range(3)]
    values = {"serial": 10.0, "reactor-processes": 30.0}
    rows = [
        row(workload=POINT[0], parameters=POINT[1], backend=backend, trial=trial, metric="throughput", value=value)
        for backend, value in values.items()
        for trial in BOTH
    ]
    blocks = PointRatios(rows, RecordedTurns(taken(POINT, *left_out))).blocks("serial", "reactor-processes")
    assert [math.exp(fmean(logs)) for logs in blocks] == pytest.approx([1 / ratio if apart else ratio] * 2)
