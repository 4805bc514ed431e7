"""Files of rows: a written row comes back, and damage is named by file, line and column."""

import csv
import math
import zlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.store.measurement_table import MEASUREMENTS, Measurement
from harness.store.recorded_turns import TURNS, RecordedTurn
from harness.store.scaling_table import MESSAGES, SCALING, CostRow, ScalingRow
from harness.store.status import one_line
from harness.store.trial_records import TRIALS, TrialRecord

POINT = '{"actors":2,"env":"CartPole-v1"}'
KEY = ("gym_sampling", POINT, "serial", 0)
STARTED = "2026-05-01T10:00:00Z"
# Of each file a row with all that it can hold, and one that lacks what may be absent.
ROWS = {
    SCALING: [
        ScalingRow("run", "w", "s", "serial", 2, 8, 1, 4, POINT, "measured", 2, 3, math.pi, 1.0, 4.0, "ok"),
        ScalingRow("run", "w", "s", "serial", *[None] * 4, POINT, "predicted", 2, 0, *[None] * 3, "it's over"),
    ],
    MESSAGES: [CostRow("run", 0, 2, "send_ns", 842.0, "ns"), CostRow("run", 1, 2, "byte_ns", 0.1, "ns/byte")],
    TRIALS: [
        TrialRecord(*KEY, STARTED, 1.5, 0.0, 2, "aa-bb", gil_enabled=True, steady=False, p50_ns=1e6),
        TrialRecord(*KEY[:3], 1, STARTED, 1.5, 0.0, status="time limit"),
    ],
    TURNS: [RecordedTurn(*KEY, 0, sweep, 3, 10, 1_000, 0) for sweep in range(2)],
    MEASUREMENTS: [
        Measurement("run", STARTED, "w", "s", "serial", 2, 8, 1, 4, 1, POINT, 0, "overhead", 1.5, "ns", "aa", "ok"),
        Measurement("run", STARTED, "w", 'a "b", c', "limit", *[None] * 5, POINT, 1, "overhead", None, "ns", "", "no"),
    ],
}


@pytest.fixture
def broken(tmp_path):
    """The message that refuses a table's rows after a change of the first line."""

    def broken(table, change, rows):
        table.write(tmp_path, rows)
        path = tmp_path / table.file_name
        header, first, *rest = path.read_text().splitlines()
        path.write_text("\n".join([header, change(first), *rest]) + "\n")
        with pytest.raises(UsageError) as error:
            table.read(tmp_path)
        assert "\n" not in str(error.value)
        return str(error.value)

    return broken


@pytest.mark.parametrize("table", ROWS, ids=lambda table: table.file_name)
def test_rows_come_back_as_they_were_written_and_no_file_has_none(table, tmp_path):
    assert table.read(tmp_path) == []
    table.write(tmp_path, ROWS[table])
    written = (tmp_path / table.file_name).read_bytes()
    rows = table.read(tmp_path)
    assert rows == ROWS[table]
    table.write(tmp_path, rows)
    assert (tmp_path / table.file_name).read_bytes() == written
    assert [path.name for path in tmp_path.iterdir()] == [table.file_name]


def test_whole_numbers_are_written_without_a_point(tmp_path, row):
    MEASUREMENTS.write(tmp_path, [row(value=1234567.0), row(trial=1, value=0.5)])
    rows = csv.DictReader((tmp_path / MEASUREMENTS.file_name).read_text().splitlines())
    assert [one["value"] for one in rows] == ["1234567", "0.5"]


def test_the_name_of_the_point_is_the_last_column_which_a_file_may_lack(tmp_path, row):
    rows, path = [row(), row(trial=1)], tmp_path / MEASUREMENTS.file_name
    MEASUREMENTS.write(tmp_path, rows)
    *header, last = path.read_text().splitlines()[0].split(",")
    assert last == "point"
    named = list(csv.DictReader(path.read_text().splitlines()))
    assert {one["point"] for one in named} == {"gym_sampling/actors=2"}
    with path.open("w", newline="") as file:  # as earlier versions wrote it
        writer = csv.DictWriter(file, header, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(named)
    assert MEASUREMENTS.read(tmp_path) == rows
    path.write_text(path.read_text().replace("run_id", "id"))
    with pytest.raises(UsageError, match=r"line 1: expected the columns run_id,.*,status,point; "):
        MEASUREMENTS.read(tmp_path)


@given(value=st.floats(-1e299, 1e299), scenario=st.text(st.characters(codec="utf-8")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_number_and_any_line_of_text_survives(tmp_path, row, value, scenario):
    rows = [row(metric="overhead", value=value, scenario=" ".join(scenario.split()))]
    MEASUREMENTS.write(tmp_path, rows)
    assert MEASUREMENTS.read(tmp_path) == rows


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line[:30], "expected 18 columns, got 3"),
        (lambda line: line.replace(",100,", ",fast,"), "column value: expected float | null, got 'fast'"),
        (lambda line: line.replace(",100,", ",,"), "expected a value where the status is ok, and only there"),
        (lambda line: line.replace(",100,", ",inf,"), "column value: expected float < 1e+300, got 'inf'"),
        (lambda line: line.replace(",100,", ",-5,"), "column value: expected a throughput of more than 0, got -5"),
        (lambda line: line.replace(",100,", ",0,"), "column value: expected a throughput of more than 0, got 0"),
        (
            lambda line: line.replace("throughput,100,", "cpu_time,-1,"),
            "column value: expected a cpu_time of 0 or more",
        ),
        (lambda line: line.replace(",2,,1,,1,", ",0,,1,,1,"), "column actors: expected int >= 1, got '0'"),
        (lambda line: line.replace("throughput", "thruput"), "column metric: expected str matching regex"),
        (lambda line: line.replace('""actors"": 2', "oops"), "parameters: expected named values as JSON"),
        (lambda line: line.replace(",0,throughput", ",first,throughput"), "column trial: expected int, got 'first'"),
        (lambda line: line.replace("serial", ""), "column backend: expected str of length >= 1, got ''"),
    ],
)
def test_a_broken_cell_is_named_with_what_would_be_right(broken, row, change, reason):
    message = broken(MEASUREMENTS, change, [row(), row(trial=1)])
    assert f"{MEASUREMENTS.file_name}, line 2: {reason}" in message
    assert message.endswith("; remove the line or restore it")


@pytest.mark.parametrize(("old", "new"), [(",send_ns,", ",post_ns,"), (",842,", ",0,")])
def test_a_cost_that_is_none_is_refused(broken, old, new):
    assert "line 2: column " in broken(MESSAGES, lambda line: line.replace(old, new), ROWS[MESSAGES])


def test_what_is_no_csv_or_not_compressed_is_refused(broken, tmp_path):
    assert "not readable" in broken(MEASUREMENTS, lambda line: line.replace('""', '"', 1), ROWS[MEASUREMENTS])
    TURNS.write(tmp_path, ROWS[TURNS])
    path = tmp_path / TURNS.file_name
    whole = path.read_bytes()
    for content in (b"workload,parameters", b"", whole[:-9], whole[:30] + zlib.compress(b"x") + whole[30:]):
        path.write_bytes(content)
        with pytest.raises(UsageError, match=r"turns.csv.gz"):
            TURNS.read(tmp_path)


def test_other_columns_and_repeated_rows_are_refused(tmp_path, row):
    (tmp_path / MEASUREMENTS.file_name).write_text("run_id,when\n")
    with pytest.raises(UsageError, match="line 1: expected the columns run_id,started_at"):
        MEASUREMENTS.read(tmp_path)
    MEASUREMENTS.write(tmp_path, [row(), row(value=3.0)])
    with pytest.raises(UsageError, match="line 3: repeats line 2"):
        MEASUREMENTS.read(tmp_path)
    TURNS.write(tmp_path, [*ROWS[TURNS], ROWS[TURNS][0]])
    with pytest.raises(UsageError, match="line 4: repeats line 2"):
        TURNS.read(tmp_path)


@pytest.mark.parametrize(
    ("text", "status"), [("a\n  b", "a b"), ("", "failed: "), ("ok", "failed: ok"), ("x" * 999, "x" * 237 + "...")]
)
def test_a_reason_fits_into_a_cell(text, status):
    assert one_line(text) == status
