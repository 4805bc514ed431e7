"""Files of a run that contradict each other: each is refused in one line, which names the file and the line."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.store.measurement_table import MEASUREMENTS
from harness.store.recorded_turns import TURNS
from harness.store.run_directory import recorded
from harness.store.trial_records import TRIALS

STORED = Path(__file__).parents[3] / "results" / "nodes"


@pytest.fixture
def run(tmp_path):
    """A copy of a stored run without its pages."""
    return shutil.copytree(STORED, tmp_path / "run", ignore=lambda *_: {"figures", "report.md"})


def change(table, run, changed):
    """Have the rows of a table be others."""
    table.write(run, changed(table.read(run)))


def refused(run):
    with pytest.raises(UsageError) as error:
        recorded(run)
    message = str(error.value).removeprefix(f"{run}/")
    assert "\n" not in message
    return message


def nameless(rows):
    """These rows, and one whose point has no parameters."""
    return [*rows, replace(rows[0], parameters="{}")]


@pytest.mark.parametrize("table", [MEASUREMENTS, TRIALS])
def test_a_row_of_another_grid_is_refused(run, table):
    last = len(table.read(run)) + 2
    change(table, run, nameless)
    assert refused(run).startswith(
        f"{table.file_name}, line {last}: a trial of another grid (gym_sampling serial trial 0)"
    )


@pytest.mark.parametrize("factor", [0.1, 1.000001])
def test_a_value_that_is_not_that_of_the_turns_is_refused(run, factor):
    change(MEASUREMENTS, run, lambda rows: [rows[0], replace(rows[1], value=rows[1].value * factor), *rows[2:]])
    message = refused(run)
    assert message.startswith(f"{MEASUREMENTS.file_name}, line 3: the round_time ")
    assert "--resume" in message


def test_a_trial_without_its_turns_is_refused(run):
    change(TURNS, run, lambda turns: [one for one in turns if one.trial_key != turns[0].trial_key])
    assert " a trial without turns in turns.csv.gz" in refused(run)


def test_rows_that_were_not_written_yet_follow_from_the_turns(run):
    _, whole, _, _ = recorded(run)
    change(MEASUREMENTS, run, lambda rows: [replace(row, unit="apples") for row in rows[:-7]])
    assert recorded(run)[1] == whole
