"""`harness breakdown`: a file beside a run's measurements, a row for each phase of each trial."""

from pathlib import Path

import pytest

from harness.store.measurement_table import MEASUREMENTS
from harness.store.phase_table import BREAKDOWN, LANE_UNITS
from harness.studies.breakdown.round_parts import NAMES

OUT = Path("out")
BACKENDS = ("--backend", "serial", "--backend", "reactor-inline")
TWO = ("--workload", "fake", *BACKENDS, "--trials", "1")
OTHER_REASONS = pytest.mark.slow(reason="a run for each reason; one is always tried")
REAL = ("--workload", "overhead", *BACKENDS, "--set", "actors=2", "--set", "messages_per_round=2")


def test_the_points_of_a_run_are_taken_apart(harness, finished):
    assert finished(*REAL, "--set", "rounds=20", "--trials", "1").returncode == 0
    done = harness("breakdown", "out", "--trials", "2", "--rounds", "5")
    assert done.returncode == 0, done.stderr
    assert "reactor-inline" in done.stdout
    found = BREAKDOWN.read(OUT)
    assert [(row.trial, row.phase) for row in found] == [(trial, name) for trial in (0, 1) for name in NAMES]
    assert {(row.status, row.rounds, row.backend) for row in found} == {("ok", 5, "reactor-inline")}
    assert {row.unit for row in found if row.phase not in LANE_UNITS} == {"ns"}
    assert {row.phase: row.unit for row in found if row.phase in LANE_UNITS} == LANE_UNITS
    assert all(row.value >= (row.phase == "compute") for row in found)
    measured = MEASUREMENTS.read(OUT)[0]
    assert {(row.run_id, row.point) for row in found} == {(measured.run_id, measured.point)}
    again = harness("breakdown", "out")
    assert (again.returncode, again.stderr) == (2, "harness: out/breakdown.csv exists; remove it to measure anew\n")


@pytest.mark.parametrize(
    ("behaviour", "status", "reason"),
    [
        pytest.param("raises", 1, "RuntimeError: told to raise", marks=OTHER_REASONS),
        pytest.param("refuses", 0, "unsupported: told to refuse", marks=OTHER_REASONS),
        ("good", 0, "unsupported: workloads.fake.on_reactors calls no run_reactors, which could be traced"),
    ],
)
def test_what_goes_wrong_is_in_the_file_and_in_the_exit_status(harness, finished, behaviour, status, reason):
    finished(*TWO, *(() if behaviour == "good" else ("--set", f"behaviour={behaviour}")))
    done = harness("breakdown", "out", "--trials", "1")
    assert done.returncode == status, done.stderr
    assert {(row.status, row.value) for row in BREAKDOWN.read(OUT)} == {(reason, None)}
    assert reason in done.stderr


@pytest.mark.parametrize(
    ("backends", "arguments", "message"),
    [
        (BACKENDS, ("--backend", "serial"), "the rounds of serial can't be taken apart"),
        (BACKENDS, ("--workload", "overhead"), "the run has no points of overhead"),
        (BACKENDS[:2], (), "none of serial can be taken apart; name others with --backend"),
    ],
)
def test_what_cannot_be_taken_apart_is_refused(harness, finished, backends, arguments, message):
    finished("--workload", "fake", *backends, "--trials", "1")
    done = harness("breakdown", "out", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
