"""The files beside a run's measurements, of the run that the repository holds."""

from pathlib import Path

import pytest

from harness.breakdown.table import BREAKDOWN
from harness.noise.table import NOISE
from harness.scaling.table import SCALING

REFERENCE = Path(__file__).parents[2] / "results" / "reference"


@pytest.mark.parametrize("table", [BREAKDOWN, NOISE, SCALING], ids=lambda table: table.command)
def test_what_is_stored_is_read_and_written_back_as_it_was(table, tmp_path):
    rows = table.read(REFERENCE)
    assert rows
    table.write(tmp_path, rows)
    assert (tmp_path / table.file_name).read_bytes() == (REFERENCE / table.file_name).read_bytes()
