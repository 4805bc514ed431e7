"""The report of synthetic rows names the winner first, with intervals and doubts."""

import dataclasses
import json
import shlex
from statistics import fmean

import pytest

from harness.report import export, markdown, page, report_tables, terminal
from harness.report.summary import summarise
from harness.stats import doubts, intervals
from harness.store import machine
from harness.store.measurement_table import MEASUREMENTS
from harness.store.recorded_turns import TURNS, RecordedTurn
from harness.store.run_directory import GRID_NAME
from harness.store.trial_records import TrialRecord
from tests.harness import runs
from tests.harness.report.made_up import MACHINE, STEADY, THEIRS, claimed, times


def ratio_of(summary, backend, baseline="serial"):
    """A backend's ratio at the only point."""
    (point,) = summary.points
    return point.cell(backend).speedups[baseline]


FIRST = json.dumps({"actors": 2, "env": "CartPole-v1", "rounds": 10})  # the parameters of the first point


def record(**changes):
    """The first trial of the loop at the first point."""
    given = {"started_at": "now", "duration_s": 1.0, "outside_cores": 0.0} | changes
    return TrialRecord("gym_sampling", FIRST, "serial", 0, **given)


@pytest.mark.parametrize(("ours", "beats"), [(times(7), True), (times(6), False), ([4, 8, 7, 5, 9], False)])
def test_who_beats_the_limit_is_doubted(results, ours, beats):
    summary = results({"serial": times(2), "reactor-processes": ours, "limit": times(6)})
    (doubted,) = (cell.doubts for cell in summary.points[0].cells if cell.backend == "reactor-processes")
    assert (doubts.PASSES_CEILING in doubted) == beats


def test_a_backend_that_was_wrong_in_one_trial_has_no_result(results, tmp_path, row):
    results({"serial": times(80), "reactor-processes": times(100)}, setting=THEIRS, digest="aa")
    parameters = json.dumps({"actors": 15, "env": "CartPole-v1", "rounds": 10})
    for trial, digest in enumerate(("aa", "aa", "bb", "aa", "aa")):
        changes = {"backend": "ray-paper", "trial": trial, "digest": digest, "value": 5.0 + trial / 100}
        runs.add_rows(tmp_path, row(parameters=parameters, **changes))
    summary = summarise(tmp_path)
    (point,) = summary.points
    assert (point.cell("ray-paper").main, point.cell("ray-paper").metrics) == (None, {})
    assert not any("ray-paper" in cell.speedups for cell in point.cells)
    assert not claimed(summary)
    (line,) = report_tables.headlines(summary)["Failed"]
    assert line.endswith("trial 2: digest differs: bb, serial has aa")


@pytest.mark.parametrize("limit", ["limit", "lockstep"])
def test_what_is_measured_as_the_limit_is_the_ceiling_and_no_rival(results, limit):
    summary = results({"serial": times(2), "reactor-inline": times(3), limit: times(4), "envpool": times(2)})
    assert ratio_of(summary, "reactor-inline", "ceiling").value == pytest.approx(0.75)
    (table,) = report_tables.tables(summary)
    assert table.columns[3:5] == ("x serial", "x ceiling")
    assert [table.rows[number][1] for number in table.best] == ["reactor-inline"]
    assert limit in [row[1] for row in table.rows]


def test_a_shorter_time_is_a_speedup_and_the_page_shows_it(results):
    summary = results({"serial": times(100), "reactor-inline": times(50)}, metric="round_time", unit="ns")
    assert ratio_of(summary, "reactor-inline").value == pytest.approx(2)
    assert "<td>2.00x [2.00, 2.00]</td>" in page.render(summary, {})


def test_only_trials_that_both_have_are_paired_and_an_overhead_of_nothing_has_no_ratio(results):
    found = ratio_of(results({"serial": [100.0, 200.0], "reactor-inline": [300.0]}), "reactor-inline")
    assert (found.value, found.count) == (pytest.approx(3.0), 1)
    summary = results({"serial": [-5.0], "reactor-inline": [100.0]}, metric="overhead", unit="ns")
    assert not any(cell.speedups for cell in summary.points[0].cells)


def test_points_that_differ_in_nothing_else_are_named_by_how_long_they_ran(tmp_path):
    lengths = [{"actors": 2, "rounds": 50}, {"actors": 2, "rounds": 70}, {"actors": 3, "rounds": 70}]
    chosen = runs.grid(trials=1, points=[("gym_sampling", values) for values in lengths])
    summary = summarise(runs.write(tmp_path / "run", chosen=chosen))
    assert [point.label for point in summary.points] == [
        "CartPole-v1, 2 actors, rounds 50",
        "CartPole-v1, 2 actors, rounds 70",
        "CartPole-v1, 3 actors",
    ]


@pytest.mark.parametrize(("least_ns", "freedom"), [(500, 2), (-500, 0)], ids=["all beyond", "one not beyond"])
def test_a_ratio_of_overheads_is_of_what_all_turns_took_beyond_the_work(tmp_path, row, least_ns, freedom):
    # One block and simulated work of 1 ms. A round takes 2 us to `least_ns` more, of Ray ten times that.
    parameters = json.dumps({"actors": 2, "work_seconds": 0.001})
    beyond = {"reactor-processes": [2_000, 1_000, least_ns], "ray-pooled-compiled": [20_000, 10_000, 10 * least_ns]}
    point = {"workload": "broadcast_gather", "parameters": parameters, "unit": "ns"}
    for backend, turns_ns in beyond.items():
        metrics = {"overhead": fmean(turns_ns), "round_time": fmean(turns_ns) + 1_000_000}
        rows = [row(backend=backend, metric=name, value=value, **point) for name, value in metrics.items()]
        runs.add_rows(tmp_path, *rows)
    taken = [
        RecordedTurn("broadcast_gather", parameters, backend, 0, 0, sweep, 0, 10, 10 * (1_000_000 + ns), 10)
        for backend, turns_ns in beyond.items()
        for sweep, ns in enumerate(turns_ns)
    ]
    TURNS.write(tmp_path, taken)
    ratio = ratio_of(summarise(tmp_path), "reactor-processes", "ray-pooled-compiled")
    assert (ratio.value, ratio.freedom, ratio.decides) == (pytest.approx(10), freedom, False)


def test_what_the_limit_is_taken_from_is_as_fast_as_itself(results):
    blocks = {
        "lockstep": times(100),
        "reactor-inline": [90.0, 95.0, 92.0],
        "ray-paper": times(5),
        "ray-pooled-compiled": [7.0],
    }
    cells = {cell.backend: cell for cell in results({"serial": [150.0], **blocks}).points[0].cells}
    assert cells["serial"].speedups["ceiling"] == intervals.Estimate(1.0, 1.0, 1.0, 1)


def test_of_an_interrupted_run_is_shown_what_there_is(harness, tmp_path):
    path = runs.write(tmp_path / "run", chosen=runs.grid(trials=4))
    heading = "Doubts about the whole run"
    assert heading not in report_tables.headlines(summarise(path))
    MEASUREMENTS.write(path, MEASUREMENTS.read(path)[:-5])
    assert report_tables.headlines(summarise(path))[heading] == [
        "1 of 12 trials is missing: complete the run with --resume"
    ]
    for name in (GRID_NAME, machine.FILE_NAME):
        (path / name).unlink()
    summary = summarise(path)
    assert heading not in report_tables.headlines(summary)
    assert "unknown CPU" in markdown.to_markdown(summary)
    assert harness("report", path, "--full").returncode == 0
    assert (path / "figures" / "gym_sampling.svg").exists()
    assert not (path / "figures" / "hardware_limit.svg").exists()
    assert (path / "report.html").exists()


def test_a_metric_that_the_first_point_of_a_workload_lacks_is_shown_of_the_others(tmp_path):
    chosen = runs.grid(points=[("gym_sampling", {"actors": actors, "rounds": 50}) for actors in (2, 4)])
    few, _ = chosen.points

    def change(row):
        return None if row.metric == "startup_time" and row.parameters == few.parameters else row

    grid, *_ = report_tables.tables(summarise(runs.write(tmp_path / "run", chosen=chosen, change=change)))
    column = [name.startswith("startup") for name in grid.columns].index(True)
    assert {row[column] == "-" for row in grid.rows} == {True, False}


@pytest.mark.parametrize(
    ("status", "heading", "told", "cells"),
    [
        ("time limit: no result", "Failed", "trial 0: time limit: no result", ("failed", "-", "1 failed")),
        ("unsupported: no such thing", "Not run", "no such thing", ("not run", "-", "")),
    ],
)
def test_why_a_backend_has_no_value_is_said(results, tmp_path, row, status, heading, told, cells):
    results({"serial": STEADY, "reactor-inline": STEADY})
    runs.add_rows(tmp_path, row(backend="ray-paper", parameters=FIRST).failed(status))
    summary = summarise(tmp_path)
    sections = report_tables.headlines(summary)
    assert sections.keys() & {"Failed", "Not run"} == {heading}
    assert sections[heading] == [f"gym_sampling/actors=2,rounds=10, ray-paper: {told}"]
    assert summary.failures == ({"ray-paper"} if heading == "Failed" else set())
    (table,) = report_tables.tables(summary)
    assert table.rows[-1] == ("", "ray-paper", *cells)


def test_doubts_stand_beside_the_numbers(results):
    loaded = record(outside_cores=2.5, steady=False)
    torn = dataclasses.replace(loaded, backend="reactor-inline")
    described = MACHINE | {"cpu": {"model": "Abacus", "cores": 64}}  # of which 4 are allowed
    values = {"serial": [1.0, 2.0], "reactor-inline": STEADY}
    summary = results(values, details=[loaded, torn], described=described)
    (point,) = summary.points
    assert point.cells[0].doubts == ("2 trials", "spread 47%", "loaded 2.5/4 cores", "unsteady")
    for text in (markdown.to_markdown(summary), page.render(summary, {})):
        assert "2 trials, spread 47%, loaded 2.5/4 cores, unsteady" in text


def test_startup_memory_and_cpu_time_stand_beside_the_throughput_with_their_intervals(tmp_path):
    summary = summarise(runs.write(tmp_path / "run"))
    (table,) = report_tables.tables(summary)
    found = [column for column in table.columns if column.partition(" ")[0] in ("startup", "memory", "CPU")]
    assert found == ["startup", "memory", "CPU per observation"]
    first = dict(zip(table.columns, table.rows[0], strict=True))
    assert first["startup"] == "100 [100, 100] ms"
    assert first["memory"] == "256 [256, 256] MiB"
    assert first["CPU per observation"].endswith(" us")
    assert "[" in first["CPU per observation"]
    for text in (markdown.to_markdown(summary), page.render(summary, {})):
        assert first["CPU per observation"] in text
        assert first["memory"] in text
    told = json.loads(json.dumps(export.to_json(summary)))["points"][0]["backends"]["serial"]
    assert told["metrics"]["peak_rss"]["low"] == told["metrics"]["peak_rss"]["value"] == 2**28


@pytest.mark.parametrize(
    ("sessions", "words"),
    [
        ([{"commit": "a"}, {"commit": "b"}], "the rows come from 2 commits of the code"),
        ([{"commit": "a", "dirty": True}], "the code had uncommitted changes"),
        ([{"variables": {}}, {"variables": {"OMP_NUM_THREADS": "4"}}], "different environment variables"),
    ],
)
def test_doubts_about_the_whole_run(results, sessions, words):
    summary = results({"serial": STEADY}, described=MACHINE | {"sessions": sessions})
    assert words in report_tables.headlines(summary)["Doubts about the whole run"][0]


def test_slow_rounds_stand_beside_the_usual_ones_where_they_are_known(results):
    known = record(p50_ns=1e6, p95_ns=2e6, p99_ns=4e6)
    details = [dataclasses.replace(known, trial=trial) for trial in range(5)]
    details[1] = dataclasses.replace(known, trial=1, p50_ns=4e6, p99_ns=None)
    inline = [dataclasses.replace(known, backend="reactor-inline", trial=trial) for trial in range(5)]
    summary = results({"serial": STEADY, "reactor-inline": STEADY, "ray-paper": STEADY}, details=[*details, *inline])
    _, tails = report_tables.tables(summary)
    assert tails.title == "gym_sampling: round times"
    assert tails.columns == report_tables.TAIL_COLUMNS
    assert tails.rows == (
        ("CartPole-v1, 2 actors", "serial", "1.32 ms", "2.00 ms", "-", "-"),
        ("", "reactor-inline", "1.00 ms", "2.00 ms", "4.00 ms", "4.00x"),
    )


def test_a_command_for_the_reader_can_be_pasted(tmp_path):
    words = ("report", tmp_path / "the user's run")
    assert shlex.split(terminal.command(*words))[1:] == ["-m", "harness", *map(str, words)]
