"""Entries for the trackers of other projects have the fields and types that their schemas demand."""

import dataclasses
import json
import math

import pytest

from harness.cli.commands import main
from harness.errors import UsageError
from harness.report.export import EXPORTS
from harness.report.summary import summarise
from tests.harness import runs

NUMBER = (int, float)


@pytest.fixture
def run(tmp_path):
    return runs.write(tmp_path / "run", factors={"reactor-inline": 0.5})


def exported(run, capsys, name):
    assert main(["report", str(run), "--export", name]) == 0
    return json.loads(capsys.readouterr().out)


def test_github_action_benchmark_gets_an_array_of_entries_all_less_is_better(run, capsys):
    found = exported(run, capsys, "github-action-benchmark")
    assert found
    for entry in found:
        assert entry.keys() <= {"name", "unit", "value", "range", "extra"}
        assert type(entry["value"]) in NUMBER
        assert all(isinstance(entry[name], str) for name in entry.keys() - {"value"})
        assert entry["unit"].startswith("ns")
    assert len({entry["name"] for entry in found}) == len(found)


def test_bencher_gets_measures_with_bounds_by_benchmark(run, capsys):
    found = exported(run, capsys, "bencher")
    assert found
    for name, measures in found.items():
        assert 0 < len(name) <= 1024
        assert measures
        for slug, measure in measures.items():
            assert slug == slug.lower().replace("_", "-").replace(" ", "-")
            assert measure.keys() <= {"value", "lower_value", "upper_value"}
            assert all(type(number) in NUMBER and math.isfinite(number) for number in measure.values())
            assert measure["lower_value"] <= measure["value"] <= measure["upper_value"]


def test_the_numbers_are_those_of_the_report(run):
    summary = summarise(run)
    (point, *_) = summary.points
    cell = next(cell for cell in point.cells if cell.backend == "reactor-inline")
    name = f"{point.name}, {cell.backend}"
    measures = EXPORTS["bencher"](summary)[name]
    assert measures[point.metric.replace("_", "-")]["value"] == cell.main.value
    assert measures["speedup-over-serial"]["value"] == cell.speedups["serial"].value
    (entry,) = (one for one in EXPORTS["github-action-benchmark"](summary) if one["name"] == name)
    expected = 1e9 / cell.main.value if point.metric == "throughput" else cell.main.value
    assert entry["value"] == pytest.approx(expected)


def test_of_two_starts_no_interval_is_exported(tmp_path):
    summary = summarise(runs.write(tmp_path / "few", chosen=runs.grid(trials=2)))
    assert all(entry.keys() == {"name", "unit", "value"} for entry in EXPORTS["github-action-benchmark"](summary))
    measures = [one for measured in EXPORTS["bencher"](summary).values() for one in measured.values()]
    assert all(one.keys() == {"value"} for one in measures)


def test_a_backend_that_failed_is_left_out_and_nothing_at_all_is_refused(run):
    summary = summarise(run)
    (point,) = summary.points
    failed = tuple(dataclasses.replace(cell, failures=("trial 0: broken",)) for cell in point.cells)
    one = dataclasses.replace(summary, points=(dataclasses.replace(point, cells=(failed[0], *point.cells[1:])),))
    none = dataclasses.replace(summary, points=(dataclasses.replace(point, cells=failed),))
    for export in EXPORTS.values():
        assert len(export(one)) == len(export(summary)) - 1
        with pytest.raises(UsageError, match="no backend has a value"):
            export(none)
