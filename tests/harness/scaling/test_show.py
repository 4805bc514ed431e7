"""Prediction and measurement as text, and the file that they are read from."""

import dataclasses
import json

import pytest

from harness.errors import UsageError
from harness.scaling import show
from harness.scaling.table import MEASURED, PREDICTED, SCALING, Row


def row(kind, workers, speedup, actors=2, workload="gym_sampling", status="ok"):
    return Row(
        run_id="a-run",
        workload=workload,
        scenario="CartPole-v1",
        backend="reactor-inline" if kind == PREDICTED else "reactor-processes",
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


def test_a_line_says_how_far_the_two_are_apart_on_the_most_workers():
    line, explained = show.lines(ROWS)
    assert line == (
        "gym_sampling on 2 workers: predicted 2.00x [1.80, 2.20], measured 1.00x [0.900, 1.10] to 1.80x [1.62, 1.98], "
        "which is 45 % to 99 % of it"
    )
    assert explained == show.EXPLAINED
    assert list(show.lines([])) == []


def test_of_one_point_the_interval_is_told_and_of_one_trial_the_value():
    rows = [row(PREDICTED, 2, 1.8), row(MEASURED, 2, 1.82)]
    start = "gym_sampling on 2 workers: predicted 1.80x"
    told = f"{start} [1.62, 1.98], measured 1.82x [1.64, 2.00], which is 91 % to 111 % of it"
    assert next(show.lines(rows)) == told
    single = [dataclasses.replace(one, trials=1, low=one.speedup, high=one.speedup) for one in rows]
    assert next(show.lines(single)) == f"{start}, measured 1.82x, which is 101 % of it"


def test_the_table_has_what_was_measured_and_the_largest_prediction():
    assert list(show.cells(ROWS))[:3] == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x [0.900, 1.10]", "0.500x [0.450, 0.550]", "50 %"),
        ("", "2", "2.00x [1.80, 2.20]", "1.00x [0.900, 1.10]", "50 %"),
        ("", "64", "4.00x [3.60, 4.40]", "-", "-"),
    ]


def test_what_failed_is_told():
    rows = [row(PREDICTED, 1, 1.0), row(MEASURED, 1, None, status="killed by SIGKILL")]
    assert next(show.lines(rows)) == "gym_sampling: not compared (killed by SIGKILL)"
    assert list(show.cells(rows)) == [
        ("gym_sampling CartPole-v1, 2 actors", "1", "1.00x [0.900, 1.10]", "killed by SIGKILL", "-")
    ]


def test_what_is_written_is_read_again(tmp_path):
    assert SCALING.read(tmp_path) == []
    rows = [*ROWS, row(MEASURED, 4, None, status="unsupported: no")]
    SCALING.write(tmp_path, rows)
    assert SCALING.read(tmp_path) == rows


@pytest.mark.parametrize(
    ("old", "new"), [("speedup", "speed"), (",1.8,", ",x,"), (",1.8,", ",-1.8,"), ("measured", "guessed"), ("{", "[")]
)
def test_a_broken_file_is_refused_in_one_line(tmp_path, old, new):
    SCALING.write(tmp_path, ROWS)
    path = tmp_path / SCALING.file_name
    path.write_text(path.read_text().replace(old, new))
    with pytest.raises(UsageError, match=r"line \d+: not .* of this version; remove the file") as refusal:
        SCALING.read(tmp_path)
    assert "\n" not in str(refusal.value)
