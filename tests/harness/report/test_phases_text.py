"""The breakdown as text."""

import dataclasses
import io
import json

from rich.console import Console

from harness.report import phases_text
from harness.stats.stragglers import LAG, LAG_95, LANES, STRAGGLER, UNITS
from harness.store.phase_table import PhaseRow
from harness.studies.breakdown.round_parts import NAMES


def rows(steps_per_message):
    """A trial of a point."""
    for phase in NAMES:
        yield PhaseRow(
            run_id="a-run",
            started_at="2026-05-01T10:00:00Z",
            workload="gym_sampling",
            scenario="CartPole-v1",
            backend="reactor-inline",
            actors=4,
            object_bytes=None,
            steps_per_message=steps_per_message,
            minibatch=None,
            parameters=json.dumps({"actors": 4, "rounds": 5, "steps_per_message": steps_per_message}),
            trial=0,
            rounds=5,
            phase=phase,
            value=1000.0,
            unit=UNITS.get(phase, "ns"),
            status="ok",
        )


def test_points_that_differ_in_any_parameter_are_told_apart():
    (table,) = phases_text.tables([row for steps in (1, 10, 100) for row in rows(steps)])
    output = io.StringIO()
    Console(file=output, width=200).print(table)
    told = [line.split("  ")[0] for line in output.getvalue().splitlines()[2:]]
    assert told == [f"CartPole-v1, 4 actors, {steps} per message" for steps in ("1 step", "10 steps", "100 steps")]


def test_why_there_is_no_value_is_told():
    failed = [dataclasses.replace(row, value=None, status="unsupported: no") for row in rows(1)]
    (table,) = phases_text.tables(failed)
    assert [next(iter(column.cells)) for column in table.columns[1:3]] == ["reactor-inline", "unsupported: no"]


def test_the_straggler_stands_beside_the_phases_where_it_is_known():
    values = {LANES: 4.0, STRAGGLER: 0.5, LAG: 0.12, LAG_95: 0.3}
    told = [dataclasses.replace(row, value=values.get(row.phase, row.value)) for row in rows(1)]
    (table,) = phases_text.tables(told)
    last = {column.header: list(column.cells) for column in table.columns}
    assert (last["straggler"], last["lag"]) == (["50% of 4"], ["12%, 95 %: 30%"])
    (older,) = phases_text.tables([row for row in told if row.phase not in UNITS])
    assert [list(column.cells) for column in older.columns[-2:]] == [[""], [""]]
