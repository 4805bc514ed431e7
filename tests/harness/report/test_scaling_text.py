"""Prediction and measurement as text, and the file that they are read from."""

import dataclasses
import json

import pytest

from harness.errors import UsageError
from harness.prediction.simulation import MessageCost
from harness.report import scaling_text
from harness.store.scaling_table import (
    HERE,
    MEASURED,
    MESSAGES,
    PAID,
    PREDICTED,
    PREDICTIONS,
    SCALING,
    ScalingRow,
    cost_rows,
)


def row(kind, workers, speedup, actors=2, workload="gym_sampling", status="ok"):
    return ScalingRow(
        run_id="a-run",
        workload=workload,
        scenario="CartPole-v1",
        backend="reactor-inline" if kind in PREDICTIONS else "reactor-processes",
        actors=actors,
        object_bytes=None,
        steps_per_message=None,
        minibatch=None,
        parameters=json.dumps({"actors": actors, "rounds": 10 * actors, "env": "CartPole-v1"}),
        kind=kind,
        workers=workers,
        trials=3,
        speedup=speedup,
        low=speedup and 0.9 * speedup,
        high=speedup and 1.1 * speedup,
        status=status,
    )


ROWS = [
    *(row(PREDICTED, count, min(count, 4.0), actors) for actors in (2, 8) for count in (1, 2, 64)),
    *(row(MEASURED, count, part * count, actors) for actors, part in ((2, 0.5), (8, 0.9)) for count in (1, 2)),
]


COST = MessageCost(4_400.0, 4_600.0, 21_000.0, 0.2)
COSTS = cost_rows("a-run", 0, 2, COST)
# What is predicted with messages paid for is half of what is predicted without; on two cores four workers are as two.
PAID_ROWS = [
    *ROWS,
    *(row(PAID, count, min(count, 4.0) / 2, actors) for actors in (2, 8) for count in (1, 2, 4, 64)),
    *(row(HERE, count, min(count, 2.0) / 2, actors) for actors in (2, 8) for count in (1, 2, 4)),
    *(row(MEASURED, 4, value, actors) for actors, value in ((2, 1.1), (8, 0.8))),
]


def test_a_line_says_how_far_the_two_are_apart_on_the_most_workers():
    line, explained = scaling_text.lines(ROWS)
    assert line == (
        "gym_sampling on 2 workers: predicted 2.00x [1.80, 2.20], measured 1.00x [0.900, 1.10] to 1.80x [1.62, 1.98], "
        "which is 45 % to 99 % of it"
    )
    assert explained == scaling_text.EXPLAINED
    assert list(scaling_text.lines([])) == []


def test_of_one_point_the_interval_is_told_and_of_one_trial_the_value():
    rows = [row(PREDICTED, 2, 1.8), row(MEASURED, 2, 1.82)]
    start = "gym_sampling on 2 workers: predicted 1.80x"
    told = f"{start} [1.62, 1.98], measured 1.82x [1.64, 2.00], which is 91 % to 111 % of it"
    assert next(scaling_text.lines(rows)) == told
    single = [dataclasses.replace(one, trials=1, low=one.speedup, high=one.speedup) for one in rows]
    assert next(scaling_text.lines(single)) == f"{start}, measured 1.82x, which is 101 % of it"


def test_the_table_has_all_numbers_of_workers():
    assert list(scaling_text.cells(ROWS))[:3] == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x [0.900, 1.10]", "-", "-", "0.500x [0.450, 0.550]", "50 %"),
        ("", "2", "2.00x [1.80, 2.20]", "-", "-", "1.00x [0.900, 1.10]", "50 %"),
        ("", "64", "4.00x [3.60, 4.40]", "-", "-", "-", "-"),
    ]


def test_what_is_measured_is_compared_with_messages_paid_on_the_cores_there_are():
    rows = [dataclasses.replace(one, trials=1) for one in PAID_ROWS]
    assert list(scaling_text.cells(rows))[:4] == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x", "0.500x", "0.500x", "0.500x", "100 %"),
        ("", "2", "2.00x", "1.00x", "1.00x", "1.00x", "100 %"),
        ("", "4", "-", "2.00x", "1.00x", "1.10x", "110 %"),
        ("", "64", "4.00x", "2.00x", "-", "-", "-"),
    ]


def test_lines_are_of_as_many_workers_as_cores_and_of_the_most_and_say_what_a_message_cost():
    rows = [dataclasses.replace(one, trials=1, low=one.speedup, high=one.speedup) for one in PAID_ROWS]
    assert list(scaling_text.lines(rows, COSTS)) == [
        "gym_sampling on 2 workers: predicted 1.00x, measured 1.00x to 1.80x, which is 100 % to 180 % of it",
        "gym_sampling on 4 workers: predicted 1.00x, measured 0.800x to 1.10x, which is 80 % to 110 % of it",
        (
            "A message between two workers cost, measured between two on this machine: 4.40 us of its sender, 4.60 us "
            "of its receiver, 21.0 us between the two, and 200 us for each MB"
        ),
        scaling_text.EXPLAINED,
    ]


def test_what_failed_is_told():
    rows = [row(PREDICTED, 1, 1.0), row(MEASURED, 1, None, status="killed by SIGKILL")]
    assert next(scaling_text.lines(rows)) == "gym_sampling: not compared (killed by SIGKILL)"
    assert list(scaling_text.cells(rows)) == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x [0.900, 1.10]", "-", "-", "killed by SIGKILL", "-")
    ]


def test_what_is_written_is_read_again(tmp_path):
    assert SCALING.read(tmp_path) == []
    rows = [*PAID_ROWS, row(MEASURED, 4, None, status="unsupported: no")]
    SCALING.write(tmp_path, rows)
    assert SCALING.read(tmp_path) == rows
    MESSAGES.write(tmp_path, COSTS)
    assert MESSAGES.read(tmp_path) == COSTS


@pytest.mark.parametrize(("old", "new"), [("send_ns", "post_ns"), (",0.2,", ",0,"), (",0.2,", ",inf,")])
def test_a_cost_that_is_none_is_refused(tmp_path, old, new):
    MESSAGES.write(tmp_path, COSTS)
    path = tmp_path / MESSAGES.file_name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=r"messages\.csv, line \d: column .*expected .*; remove the file"):
        MESSAGES.read(tmp_path)


@pytest.mark.parametrize(
    ("old", "new"), [("speedup", "speed"), (",1.8,", ",x,"), (",1.8,", ",-1.8,"), ("measured", "guessed"), ("{", "[")]
)
def test_a_broken_file_is_refused_in_one_line(tmp_path, old, new):
    SCALING.write(tmp_path, ROWS)
    path = tmp_path / SCALING.file_name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=r"line \d+: .*expected .*; remove the file") as refusal:
        SCALING.read(tmp_path)
    assert "\n" not in str(refusal.value)
