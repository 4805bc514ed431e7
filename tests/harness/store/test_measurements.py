"""The file of rows: what is written comes back, and damage is found, named, and mended only where it is torn."""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.store import measurements
from harness.store.measurements import COLUMNS, Journal
from harness.store.status import one_line

HEADER = (
    "run_id,started_at,workload,scenario,backend,actors,object_bytes,steps_per_message,minibatch,workers,"
    "parameters,trial,metric,value,unit,digest,status"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / measurements.FILE_NAME


@pytest.fixture
def journal(path):
    opened = Journal.create(path)
    yield opened
    opened.close()


def test_the_columns_are_those_documented(path, journal):
    assert path.read_text() == HEADER + "\n"


def test_rows_come_back_as_they_were_written(path, journal, row):
    rows = [row(), row(metric="round_time", value=1.5, unit="ns"), row(trial=1, value=1e300)]
    journal.append(rows)
    journal.append([row(backend="ray-paper").failed("RuntimeError: no\nluck")])
    assert measurements.read(path)[:3] == rows
    assert measurements.read(path)[3].status == "RuntimeError: no luck"
    assert measurements.read(path)[3].value is None


def test_a_row_is_a_line_whatever_its_text(path, journal, row):
    journal.append([row(scenario='a "quoted", name', status="x, \r\n y").failed("a,\n\tb")])
    assert path.read_bytes().count(b"\n") == 2
    assert measurements.read(path)[0].scenario == 'a "quoted", name'


def test_whole_numbers_are_written_without_a_point(path, journal, row):
    journal.append([row(value=1234567.0), row(trial=1, value=0.5)])
    assert [line.split(",")[-4] for line in path.read_text().splitlines()[1:]] == ["1234567", "0.5"]


@given(value=st.floats(allow_nan=False, allow_infinity=False), scenario=st.text(st.characters(codec="ascii")))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
def test_any_number_survives(path, row, value, scenario):
    path.unlink(missing_ok=True)
    journal = Journal.create(path)
    scenario = " ".join(scenario.split())
    journal.append([row(value=value, scenario=scenario)])
    journal.close()
    assert measurements.read(path) == [row(value=value, scenario=scenario)]


def test_a_file_is_not_created_twice(path, journal):
    with pytest.raises(FileExistsError):
        Journal.create(path)


def test_a_short_write_is_an_error(path, journal, row, monkeypatch):
    monkeypatch.setattr(os, "write", lambda descriptor, data: len(data) - 1)
    with pytest.raises(OSError, match="could be written"):
        journal.append([row()])


def test_rows_can_be_replaced_and_then_appended_to(path, journal, row):
    journal.append([row(), row(trial=1)])
    journal.rewrite([row().failed("digest differs")])
    journal.append([row(trial=2)])
    assert [(found.trial, found.status) for found in measurements.read(path)] == [(0, "digest differs"), (2, "ok")]
    assert [child.name for child in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("kept", [1, 10, 60])
def test_a_torn_last_line_is_left_out_and_cut_off(path, journal, row, kept):
    journal.append([row(), row(trial=1)])
    whole = path.read_bytes()
    torn = whole + measurements.encode([row(trial=2)])[:kept]
    path.write_bytes(torn)
    assert [found.trial for found in measurements.read(path)] == [0, 1]
    assert measurements.repair(path) == kept
    assert path.read_bytes() == whole
    assert measurements.repair(path) == 0


def test_a_torn_header_is_replaced(path):
    path.write_text("run_id,started")
    assert measurements.read(path) == []
    measurements.repair(path)
    assert path.read_text() == HEADER + "\n"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda line: line[:30], "expected 17 columns, got 3"),
        (lambda line: line[: line.index("}")], "unexpected end of data"),
        (lambda line: line + ",more", "expected 17 columns, got 18"),
        (lambda line: "", "expected 17 columns, got 0"),
        (lambda line: line.replace(",100,", ",fast,"), "could not convert"),
        (lambda line: line.replace(",100,", ",,"), "does not go with status"),
        (lambda line: line.replace(",100,", ",inf,"), "not finite"),
        (lambda line: line.replace("throughput", "thruput"), "unknown metric 'thruput'"),
        (lambda line: line.replace('""actors"": 2', "oops"), "Expecting property name"),
        (lambda line: line.replace(",0,throughput", ",first,throughput"), "invalid literal"),
        (lambda line: line.replace("serial", ""), "backend is empty"),
        (lambda line: line + '"', "broken"),
    ],
)
def test_a_broken_line_is_named(path, journal, row, change, reason):
    journal.append([row(), row(trial=1)])
    lines = path.read_text().splitlines()
    lines[1] = change(lines[1])
    path.write_text("\n".join(lines) + "\n")
    before = path.read_bytes()
    with pytest.raises(UsageError, match=r"measurements.csv, line 2: .*" + reason) as error:
        measurements.read(path)
    assert "\n" not in str(error.value)
    assert path.read_bytes() == before


def test_other_columns_are_refused(path):
    path.write_text("run_id,when\n")
    with pytest.raises(UsageError, match="line 1: expected the columns run_id,started_at"):
        measurements.read(path)


def test_a_repeated_row_is_refused(path, journal, row):
    journal.append([row(), row(value=3.0)])
    with pytest.raises(UsageError, match="line 3: repeats line 2"):
        measurements.read(path)


def test_a_missing_file_is_refused(path):
    with pytest.raises(UsageError, match="no such file"):
        measurements.read(path)


@pytest.mark.parametrize(
    ("text", "status"), [("a\n  b", "a b"), ("", "failed: "), ("ok", "failed: ok"), ("x" * 999, "x" * 237 + "...")]
)
def test_a_reason_fits_into_a_cell(text, status):
    assert one_line(text) == status


def test_a_file_that_cannot_be_replaced_is_named_not_its_temporary_one(tmp_path):
    (tmp_path / "taken").mkdir()
    for path in (tmp_path / "taken", tmp_path / "nowhere" / "file"):
        with pytest.raises(OSError, match=r"directory: '") as error:
            measurements.write_atomically(path, b"")
        assert error.value.filename == str(path)
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_columns_are_the_fields():
    assert HEADER.split(",") == list(COLUMNS)
