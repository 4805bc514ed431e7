"""The files beside a run's measurements: written, read, and written again as they were."""

import math
from pathlib import Path

import pytest

from harness.store.phase_table import BREAKDOWN
from harness.store.phase_table import PhaseRow as Phase
from harness.store.scaling_table import MESSAGES, SCALING, CostRow
from harness.store.scaling_table import ScalingRow as SpeedUp

RESULTS = Path(__file__).parents[3] / "results"
POINT = '{"actors":2,"env":"CartPole-v1"}'
# Of each file a row with all that it can hold, and one whose measurement failed.
ROWS = {
    BREAKDOWN: [
        Phase(
            "run", "2026-05-01T10:00:00Z", "w", "a, b", "serial", 2, 8, 1, 4, POINT, 0, 50, "hub", math.pi, "ns", "ok"
        ),
        Phase("run", "2026-05-01T10:00:00Z", "w", "s", "serial", *[None] * 4, POINT, 1, 50, "hub", None, "ns", '"why"'),
    ],
    SCALING: [
        SpeedUp("run", "w", "s", "serial", 2, 8, 1, 4, POINT, "measured", 2, 3, 1.5, 1.0, 2.0, "ok"),
        SpeedUp("run", "w", "s", "serial", *[None] * 4, POINT, "predicted", 2, 0, *[None] * 3, "it's over"),
    ],
    MESSAGES: [CostRow("run", 0, 2, "send_ns", 842.0, "ns"), CostRow("run", 1, 2, "byte_ns", 0.1, "ns/byte")],
}


def _name(table):
    return table.file_name


@pytest.mark.parametrize("table", ROWS, ids=_name)
def test_what_is_written_is_read_and_written_again_as_it_was(table, tmp_path):
    table.write(tmp_path, ROWS[table])
    written = (tmp_path / table.file_name).read_bytes()
    assert len(written.splitlines()) == 1 + len(ROWS[table])
    rows = table.read(tmp_path)
    assert rows == ROWS[table]
    table.write(tmp_path, rows)
    assert (tmp_path / table.file_name).read_bytes() == written


@pytest.mark.parametrize(
    ("table", "stored"),
    [
        pytest.param(table, stored, id=str(stored.relative_to(RESULTS)))
        for table in ROWS
        for stored in RESULTS.glob(f"*/{table.file_name}")
    ],
)
def test_what_the_repository_holds_is_read_and_written_again_as_it_is(table, stored, tmp_path):
    rows = table.read(stored.parent)
    assert rows
    table.write(tmp_path, rows)
    assert table.read(tmp_path) == rows
    if table is not MESSAGES:  # whose numbers were once written without a fraction where they had none
        assert (tmp_path / table.file_name).read_bytes() == stored.read_bytes()
