"""The report of results that are incomplete or broken shows the rest, or prints one line and returns status 2."""

import pytest

from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS
from harness.store.scaling_table import SCALING
from tests.harness import runs


@pytest.fixture
def path(tmp_path):
    """The directory of a run."""
    return runs.write(tmp_path / "run", chosen=runs.grid(trials=1))


def test_of_an_interrupted_run_is_shown_what_there_is(harness, path):
    MEASUREMENTS.write(path, MEASUREMENTS.read(path)[:-2])
    (path / machine.FILE_NAME).unlink()
    report = harness("report", path, "--full")
    assert report.returncode == 0
    assert (path / "figures" / "gym_sampling.svg").exists()
    assert not (path / "figures" / "hardware_limit.svg").exists()
    assert (path / "report.html").exists()


def test_a_broken_file_of_a_further_command_is_refused(harness, path):
    (path / SCALING.file_name).write_text("kind,workers\npredicted,1\n")
    report = harness("report", path)
    assert report.returncode == 2
    assert "scaling.csv, line 1: expected the columns" in report.stderr
