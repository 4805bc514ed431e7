"""Reading measurements.csv and choosing from it."""

import json

import pandas as pd
import pytest

from plots import rows
from plots.errors import FigureError


def test_failed_rows_do_not_count(full_rows):
    frame = full_rows.copy()
    frame.loc[frame["backend"] == "ray-paper", ["status", "value"]] = ["out of memory", ""]
    selection = rows.select(frame, "q_learning", "throughput", ["minibatch"])
    assert "ray-paper" not in selection.distinct("backend")
    assert "serial" in selection.distinct("backend")


@pytest.mark.parametrize("column", ["workload", "scenario", "backend", "metric", "value"])
def test_a_missing_column_is_named(full_rows, column):
    with pytest.raises(FigureError, match=f"column '{column}' is missing"):
        rows.select(full_rows.drop(columns=column), "q_learning", "throughput", ["minibatch"])


@pytest.mark.parametrize(
    ("column", "text"), [("value", "fast"), ("trial", "first"), ("parameters", "[1]"), ("parameters", "{")]
)
def test_a_cell_that_makes_no_sense_is_quoted(full_rows, column, text):
    frame = full_rows.copy()
    frame.loc[frame["workload"] == "q_learning", column] = text
    with pytest.raises(FigureError, match=f"column '{column}' holds '"):
        rows.select(frame, "q_learning", "throughput", ["minibatch"])


def test_parameters_may_come_from_columns_alone(full_rows):
    frame = full_rows.drop(columns="parameters")
    selection = rows.select(frame, "q_learning", "throughput", ["minibatch"])
    assert selection.distinct("minibatch") == [250, 500, 1000, 2000]


def test_a_parameter_that_rows_lack_is_named(full_rows):
    with pytest.raises(FigureError, match="rows of q_learning don't say their agents"):
        rows.select(full_rows, "q_learning", "throughput", ["agents"])


def test_the_setting_with_most_points_is_shown_and_the_others_counted(full_rows):
    selection = rows.select(full_rows, "broadcast_gather", "overhead", ["actors"])
    assert selection.setting == {"object_bytes": 10 * 2**20, "work_seconds": 0.0}
    assert selection.distinct("actors") == [2, 4, 8, 16]
    assert selection.omitted == 3


def test_among_equal_settings_one_step_per_message_is_shown(full_rows):
    selection = rows.select(full_rows, "gym_sampling", "throughput", ["env"])
    assert selection.setting == {"actors": 15, "steps_per_message": 1}


def test_other_parameters_can_be_demanded(full_rows):
    selection = rows.select(full_rows, "overhead", "throughput", ["actors"], {"shape": "fan_out"})
    assert selection.distinct("actors") == [2, 16, 64]
    with pytest.raises(FigureError, match="no successful rows of overhead with shape=star"):
        rows.select(full_rows, "overhead", "throughput", ["actors"], {"shape": "star"})


def test_of_a_parallel_backend_the_most_workers_are_shown(full_rows):
    one = full_rows[full_rows["workload"] == "multi_agent"].assign(workers="1")
    two = one[one["backend"] == "reactor-processes"].assign(workers="2", value="77.0")
    import pandas as pd

    selection = rows.select(pd.concat([one, two]), "multi_agent", "throughput", ["agents"])
    cells = selection.cells("backend", "agents")
    assert cells["reactor-processes", 4].value == pytest.approx(77.0)
    assert cells["serial", 4].value != 77.0


def test_rounds_and_seed_are_no_settings(full_rows):
    frame = full_rows.copy()
    odd = frame["trial"] == "1"
    frame.loc[odd, "parameters"] = [
        json.dumps(json.loads(text) | {"rounds": 99, "seed": 7}) for text in frame.loc[odd, "parameters"]
    ]
    selection = rows.select(frame, "multi_agent", "throughput", ["agents"])
    assert selection.omitted == 0
    assert selection.cells("backend", "agents")["serial", 4].count == 5


def test_points_that_differ_in_their_seed_alone_are_not_one(full_rows):
    again = full_rows.assign(
        value="1.0", parameters=[json.dumps(json.loads(text) | {"seed": 7}) for text in full_rows["parameters"]]
    )
    import pandas as pd

    selection = rows.select(pd.concat([full_rows, again]), "multi_agent", "throughput", ["agents"])
    assert selection.omitted == 1
    assert selection.cells("backend", "agents")["serial", 4].count == 5
    assert selection.setting["seed"] in (0, 7)


def test_of_a_parallel_backend_each_point_shows_the_most_workers_that_it_was_measured_with():
    frame = pd.DataFrame(
        {
            "workload": "broadcast_gather", "scenario": "8B", "backend": "reactor-threads", "metric": "overhead",
            "trial": "0", "value": ["1", "2", "3"], "workers": ["4", "16", "2"],
            "parameters": [json.dumps({"actors": actors}) for actors in (4, 16, 16)],
        }
    )  # fmt: skip
    shown = rows.select(frame, "broadcast_gather", "overhead", ["actors"]).frame
    assert sorted(zip(shown["actors"], shown["value"], strict=True)) == [(4, 1.0), (16, 2.0)]


def test_a_tie_is_decided_for_arrays_and_for_environments_at_their_own_pace():
    settings = [
        {"agents": 4, "representation": "tensors", "step_busy_us": 0.0},
        {"agents": 4, "representation": "arrays", "step_busy_us": 200.0},
        {"agents": 4, "representation": "arrays", "step_busy_us": 0.0},
    ]
    frame = pd.DataFrame(
        {
            "workload": "multi_agent", "scenario": "TrafficJunction", "backend": "serial", "metric": "throughput",
            "value": ["1", "2", "3"], "parameters": [json.dumps(setting) for setting in settings],
        }
    )  # fmt: skip
    assert rows.select(frame, "multi_agent", "throughput", ["agents"]).frame["value"].tolist() == [3.0]
