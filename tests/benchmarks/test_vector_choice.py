"""The comparison of the chosen executor with both: a row for each cell, and a summary."""

import pytest

from benchmarks import vector_choice


def test_each_cell_has_a_row(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in {"STEPS": ("busy:2us", "busy:200us"), "COUNTS": (2,), "TURN_S": 0.001, "TURNS": 2}.items():
        monkeypatch.setattr(vector_choice, name, value)
    vector_choice.main(1)
    _, *rows, summary = capsys.readouterr().out.splitlines()
    assert [row.split()[:2] for row in rows] == [["busy:2us", "2"], ["busy:200us", "2"]]
    assert {row.split()[2] for row in rows} <= {"inline", "processes"}
    assert all(float(row.split()[-1]) > 0 for row in rows)
    assert summary.startswith("median ")
