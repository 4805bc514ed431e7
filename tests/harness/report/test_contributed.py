"""The preset `contribute`: predicted before it is measured, one file at its end, and the page of all files."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.measure import block
from harness.measure.measured_processes import SubjectError
from harness.plan import presets
from harness.report import contributed, readme
from harness.report.figures import contributed_figures
from harness.stats.point_ratios import PointRatios
from harness.store import contribution, machine
from harness.store.prediction_table import PREDICTIONS
from harness.store.recorded_turns import RecordedTurns
from harness.store.trial_records import TRIALS
from harness.studies import prediction_run
from plots.chart import BarPanel

COST = [3000.0, 0.2]
CONTRIBUTE = ("run", "--preset", "contribute", "--trials", "1", "--output", "out")
CURVE = (*CONTRIBUTE[:3], "--workload", "gym_sampling", *CONTRIBUTE[3:])
POINTS = 4
BACKENDS = ("reactor-inline", "reactor-processes", "ray-pooled", "ray-pooled-compiled", "lockstep")
EFFICIENCY = 0.9  # of the predictions that are made up


def predicted(function, arguments, _limit_s):
    """Answers for a process that would fit costs, or trace a point."""
    if function.endswith("tracing:costs"):
        return dict.fromkeys(arguments[2], COST)
    return {name: EFFICIENCY * workers for name, (workers, *_) in arguments[2].items()}


@pytest.fixture
def cores(monkeypatch, made_up):
    """Fakes a number of cores; predictions and blocks are made up."""

    def fake(count, there=None):
        monkeypatch.setenv("PYTHON_CPU_COUNT", str(count))
        monkeypatch.setattr(presets.memory, "total", lambda: 512 * 2**30)
        monkeypatch.setattr(machine, "usable_cpus", lambda: there or count)
        monkeypatch.setattr(prediction_run, "call", predicted)

    return fake


@pytest.fixture
def contribute(cores, harness):
    """Runs the preset on a faked number of cores; the file."""

    def run(count, output, there=None):
        cores(count, there)
        done = harness(*CONTRIBUTE[:-1], output)
        assert done.returncode == 0, done.stderr
        (path,) = Path(output).glob("*-contribute.json")
        assert f"to contribute: {path}" in done.stderr
        return path

    return run


def collected(*paths):
    """A directory of these files, each with a name of its own."""
    Path("all").mkdir()
    return [path.rename(Path("all", f"{number}-{path.name}")) for number, path in enumerate(paths)]


@pytest.mark.parametrize("count", [4, 16, 64])
def test_a_run_writes_a_valid_file_with_predictions_for_its_cores(contribute, count):
    path = contribute(count, "out", there=2)
    found = contribution.read(path)
    assert (found.cores, found.oversubscribed) == (count, True)
    ahead = {(row.backend, row.cores, row.message_ns, row.speedup) for row in found.predictions}
    assert ahead == {
        *((name, count, COST[0], EFFICIENCY * count) for name in BACKENDS[1:4]),
        ("reactor-inline", count, 0.0, EFFICIENCY),
        ("lockstep", count, 0.0, EFFICIENCY * count),
    }
    assert {row.metric for row in found.measurements} == {"throughput"}
    assert {row.digest for row in found.measurements} == {"aa-bb"}
    assert {row.actors for row in found.measurements} == {max(8, 2 * count), count}
    assert len(found.predictions) == POINTS * len(BACKENDS)
    # All backends were made up to be as fast as the loop.
    off = {row[-1] for row in contributed.prediction_table([found]).rows if row[1] == "ray-pooled"}
    assert off == {f"{1 / (EFFICIENCY * count):.2f}"}
    assert path.stat().st_size < 50_000
    text = path.read_text()
    assert str(Path.cwd()) not in text
    assert "command" not in json.loads(text)["machine"]
    # A machine with fewer cores than its run was given is marked, and not drawn.
    points = contributed.points([found])
    assert {row[-1] for row in contributed.table(points).rows} == {"has 2 cores"}
    assert contributed_figures.draw(points, Path("out")) is None


def test_predictions_are_written_before_anything_is_measured_and_kept_on_resume(cores, harness, monkeypatch):
    cores(4)
    measured, seen = block.run, []

    def run(*arguments, **options):
        seen.append(len(PREDICTIONS.read(Path("out"))))
        if len(seen) == 4:
            raise KeyboardInterrupt
        return measured(*arguments, **options)

    monkeypatch.setattr(block, "run", run)
    assert harness(*CONTRIBUTE).returncode == 130
    # What was measured before the interruption can be contributed.
    (path,) = Path("out").glob("*-contribute.json")
    assert len({row.point for row in contribution.read(path).measurements}) == 1
    before = Path("out", PREDICTIONS.file_name).read_bytes()
    monkeypatch.setattr(prediction_run, "call", None)  # nothing is predicted again
    assert harness("run", "--output", "out", "--resume").returncode == 0
    assert Path("out", PREDICTIONS.file_name).read_bytes() == before
    # Two blocks show the costs of messages.
    assert seen[:2] == [0, 0]
    assert set(seen[2:]) == {POINTS * len(BACKENDS)}
    assert list(Path("out").glob("*-contribute.json")) == [path]
    assert len({row.point for row in contribution.read(path).measurements}) == POINTS


def test_a_prediction_that_fails_is_a_row_and_the_run_goes_on(cores, harness, monkeypatch):
    cores(4)

    def fails(function, *_):
        raise SubjectError(f"no {function.rpartition(':')[2]} today")

    monkeypatch.setattr(prediction_run, "call", fails)
    done = harness(*CONTRIBUTE)
    assert done.returncode == 0, done.stderr
    (path,) = Path("out").glob("*-contribute.json")
    found = contribution.read(path)
    assert {(row.speedup, row.status) for row in found.predictions} == {
        (None, "no costs today"),
        (None, "no speed_ups today"),
    }
    assert {one for row in contributed.prediction_table([found]).rows for one in (row[4], row[6])} == {"-"}


def test_a_trial_that_fails_stays_in_the_file_as_such(cores, harness, monkeypatch):
    cores(4)
    measured = block.run

    def run(*arguments, **options):
        found = measured(*arguments, **options)
        if "ray-pooled" in found and arguments[1] == block.EFFORT:
            found["ray-pooled"].failure = "no room"
        return found

    monkeypatch.setattr(block, "run", run)
    assert harness(*CONTRIBUTE).returncode == 1
    (path,) = Path("out").glob("*-contribute.json")
    found = contribution.read(path)
    assert {row.status for row in found.measurements if row.backend == "ray-pooled"} == {"no room"}
    assert {row[-1] for row in contributed.table(contributed.points([found])).rows} == {"1 trial failed"}


def test_the_same_points_on_several_numbers_of_cores_in_one_command(made_up, harness, monkeypatch):
    monkeypatch.setattr(prediction_run, "call", predicted)
    monkeypatch.setattr(presets.memory, "total", lambda: 512 * 2**30)
    curve = (*CURVE, "--cores", "2,1,64")
    before = os.sched_getaffinity(0)
    done = harness(*curve)
    assert done.returncode == 0, done.stderr
    assert os.sched_getaffinity(0) == before
    assert "PYTHON_CPU_COUNT" not in os.environ
    found = list(contributed.read_all(Path("out")).values())
    assert [one.cores for one in found] == [1, 2, 64]
    assert len({frozenset(row.point for row in one.measurements) for one in found}) == 1
    assert {row.actors for one in found for row in one.measurements} == {128}
    # On one core nothing runs in parallel. More workers than cores are no machine of that size.
    told = {row.status.partition(":")[0] for row in found[0].measurements if row.backend == "reactor-processes"}
    assert told == {"unsupported"}
    assert [one.oversubscribed for one in found][2]
    assert "speed-up by cores" in done.stdout
    assert Path("out/speed_up.svg").exists()
    again = harness(*curve)
    assert (again.returncode, "complete it with --resume" in again.stderr) == (2, True)
    assert harness(*curve, "--resume").returncode == 0


def test_a_stopped_run_on_several_numbers_of_cores_is_planned_and_completed_by_what_each_lacks(
    made_up, harness, monkeypatch
):
    monkeypatch.setattr(prediction_run, "call", predicted)
    assert harness(*CURVE, "--cores", "1,2").returncode == 0
    whole = TRIALS.read(Path("out/cores-2"))
    TRIALS.write(Path("out/cores-2"), whole[:-1])
    before = {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()}
    block = len(whole) // len({trial.parameters for trial in whole})
    expected = {"1": 0, "2": block, "4": len(whole)}
    for asked in ((*CURVE, "--cores", "1,2,4"), ("run", "--output", "out", "--cores", "1,2,4")):
        plan = harness(*asked, "--resume", "--dry-run")
        told = re.findall(r"^on (\d) cores?: (\d+) trials$", plan.stdout, re.MULTILINE)
        assert {cores: int(trials) for cores, trials in told} == expected, plan.stderr
        assert plan.stdout.splitlines()[-1].startswith(f"{sum(expected.values())} trials, ")
        assert {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()} == before
    assert harness(*asked, "--resume").returncode == 0
    found = list(contributed.read_all(Path("out")).values())
    assert [one.cores for one in found] == [1, 2, 4]
    assert len({frozenset(row.point for row in one.measurements) for one in found}) == 1


@pytest.mark.parametrize("more", [("--dry-run",), ()], ids=str)
def test_no_run_on_several_numbers_of_cores_is_resumed_where_none_has_begun(made_up, harness, more):
    done = harness(*CURVE, "--cores", "1,2", "--resume", *more)
    assert (done.returncode, done.stdout) == (2, "")
    assert "out: holds no run that could be resumed; leave out --resume to begin one there" in done.stderr
    assert not Path("out").exists()


def test_a_run_that_was_measured_without_a_prediction_has_nothing_to_contribute(contribute, harness):
    path = contribute(4, "out")
    Path("out", PREDICTIONS.file_name).unlink()
    path.unlink()
    done = harness("run", "--output", "out", "--resume")
    assert "nothing to contribute: out: predictions: expected one of" in done.stderr
    assert not list(Path("out").glob("*-contribute.json"))


def test_the_page_has_speed_up_by_cores_of_all_files(contribute, harness):
    paths = collected(*(contribute(count, f"of-{count}") for count in (64, 4, 16)))
    begin, end = readme.marks(contributed.PART)
    page = Path("page.md")
    page.write_text(f"before {begin}{end} after")
    done = harness("contributed", "all", "--readme", page)
    assert done.returncode == 0, done.stderr
    text = page.read_text()
    assert f"]({Path('all/speed_up.svg')})" in text
    shown = [line.split(" | ")[0].strip("| ") for line in text.splitlines() if "_sampling " in line]
    assert shown == [str(count) for count in (4, 16, 64) for _ in range(POINTS - 1)]
    assert all(f"({path})" in text for path in paths)
    chart = contributed_figures.speed_up(contributed.points(contributed.read_all(Path("all")).values()))
    assert chart.title.startswith("On 4 to 64 cores, reactors run at ")
    assert len(chart.panels) == POINTS
    for panel in chart.panels:
        assert panel.curves.keys() == {
            "reactor-processes", "best-ray", "best-ray-compiled", "lockstep", "predicted_first",
        }  # fmt: skip
        assert all(list(curve) == [4.0, 16.0, 64.0] for curve in panel.curves.values())
        assert panel.curves["predicted_first"][16.0].value == EFFICIENCY * 16


@pytest.mark.parametrize(("outside", "doubt"), [(None, ""), (0.3, ""), (1.2, "loaded 1.2/4 cores")])
def test_machines_with_one_number_of_cores_are_bars_and_loaded_ones_are_marked(contribute, outside, doubt):
    found = replace(contribution.read(contribute(4, "out")), outside_cores=outside)
    points = contributed.points([found])
    assert {row[-1] for row in contributed.table(points).rows} == {doubt}
    chart = contributed_figures.speed_up(points)
    assert any(note.startswith("Loaded") for note in chart.notes) == bool(doubt)
    assert len(chart.panels) == POINTS
    assert all(isinstance(panel, BarPanel) and len(panel.bars) == 5 for panel in chart.panels)


def test_the_interval_of_the_best_ray_counts_that_it_was_chosen(contribute):
    found = contribution.read(contribute(4, "out"))
    rows = [
        replace(one, trial=trial, value=one.value * (0.9 + 0.1 * trial * one.backend.startswith("ray-")))
        for one in found.measurements
        for trial in range(3)
    ]
    rows += [replace(one, backend="ray-peer") for one in rows if one.backend == "ray-pooled"]
    ahead = [
        *found.predictions,
        *(replace(one, backend="ray-peer") for one in found.predictions if one.backend == "ray-pooled"),
    ]
    best, name = contributed.points([replace(found, measurements=rows, predictions=ahead)])[0].ray
    lead = PointRatios([one for one in rows if one.point == rows[0].point], RecordedTurns(())).of(name, "serial")
    assert best.low < lead.low < best.value < lead.high < best.high


def row(**changes):
    """Changes the first row."""
    return lambda content: content["measurements"][0].update(changes)


def without(backend, part="measurements"):
    return lambda content: content.update({part: [one for one in content[part] if one["backend"] != backend]})


# A change to a file's content, and the text that refuses it.
FAULTS = {
    "value": (row(value="fast"), "measurements[0].value: expected float | null, got str"),
    "run": (row(run_id="another"), "a row of run another in the file of run"),
    "digest": (lambda of: of["measurements"][1].update(digest="other"), "trial 0: digest differs"),
    "twice": (lambda of: of["measurements"].append(of["measurements"][0]), "serial trial 0 is there twice"),
    "backend": (without("reactor-processes"), " lacks reactor-processes"),
    "prediction": (without("reactor-processes", "predictions"), "predictions: expected one of gym_sampling"),
    "prediction of another": (lambda of: of["predictions"].pop(), "predictions: expected one of "),
    "cores of one": (lambda of: of["predictions"][0].update(cores=5), "predictions: expected one of gym_sampling"),
    "predicted twice": (lambda of: of["predictions"].append(of["predictions"][0]), "predictions: one is there twice"),
    "cores": (lambda of: of["machine"].pop("cores_allowed"), "machine: object missing required field cores_allowed"),
    "format": (lambda of: of.update(format=3), "format: expected int <= 2"),
    "rows": (lambda of: of.update(measurements=[]), "measurements: expected at least one row"),
}


def test_a_broken_file_ends_in_one_line_with_its_name_and_fault_and_without_one_the_page_says_so(contribute, harness):
    (path,) = collected(contribute(4, "out"))
    good = path.read_text()
    for case, (change, fault) in FAULTS.items():
        content = json.loads(good)
        change(content)
        path.write_text(json.dumps(content))
        done = harness("contributed", "all")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), case
        assert done.stderr.startswith(f"harness: {path}: "), case
        assert fault in done.stderr
    path.write_text(good[:100])
    assert "broken (" in harness("contributed", "all").stderr
    path.unlink()
    begin, end = readme.marks(contributed.PART)
    Path("page.md").write_text(f"{begin}{end}")
    assert harness("contributed", "all", "--readme", "page.md").returncode == 0
    assert Path("page.md").read_text() == f"{begin}\nNo file yet.\n{end}"
