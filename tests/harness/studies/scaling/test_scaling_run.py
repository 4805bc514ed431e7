"""`harness scaling`: a file beside a run's measurements, a row for each point, kind and number of workers."""

from itertools import product
from pathlib import Path

import pytest

from harness.measure.measured_processes import SubjectError
from harness.prediction import WORKERS, MessageCost
from harness.store.measurement_table import MEASUREMENTS
from harness.store.scaling_table import MESSAGES, PREDICTIONS, SCALING
from harness.studies.scaling import scaling_run
from harness.studies.scaling.scaling_run import worker_counts
from reactorlib.cpus import available_cpus
from tests.choice import first
from tests.harness import runs

OUT = Path("out")
SAMPLING = ("--workload", "gym_sampling", "--backend", "serial", "--trials", "1", "--set", "rounds=20")
SAMPLING += ("--set", "steps_per_message=1", "--set", "actors=2", "--set", "env=CartPole-v1")
COUNTS = worker_counts(available_cpus())


@pytest.fixture
def run(harness, finished):
    """Measures the scaling of a run that has been finished."""

    def run(*arguments):
        done = finished(*SAMPLING)
        assert done.returncode == 0, done.stderr
        return harness("scaling", "out", *arguments)

    return run


@pytest.mark.slow(reason="a whole run, measured and reported; `make test` measures one of two points")
def test_the_points_of_a_run_are_predicted_measured_and_reported(harness, run):
    done = run("--trials", "2", "--rounds", "10")
    assert done.returncode == 0, done.stderr
    assert "trial 2/2 gym_sampling/actors=2,rounds=20" in done.stderr
    found = SCALING.read(OUT)
    assert [(row.kind, row.workers) for row in found] == [
        *(("predicted", count) for count in WORKERS),
        *(("predicted_paid", count) for count in WORKERS),
        *(("predicted_here", count) for count in COUNTS),
        *(("measured", count) for count in COUNTS),
    ]
    assert {(row.status, row.trials, row.actors) for row in found} == {("ok", 2, 2)}
    assert all(0 < row.low <= row.speedup <= row.high for row in found)
    assert [row.speedup for row in found if row.kind in PREDICTIONS and row.workers == 1] == [1.0, 1.0, 1.0]
    free, paid = ({row.workers: row.speedup for row in found if row.kind == kind} for kind in PREDICTIONS[:2])
    assert all(paid[count] < free[count] for count in free if count != 1)
    costs = MESSAGES.read(OUT)
    assert [(row.trial, row.part) for row in costs] == list(product((0, 1), MessageCost._fields))
    assert {(row.run_id, row.cores) for row in costs} == {(found[0].run_id, available_cpus())}
    measured = MEASUREMENTS.read(OUT)[0]
    assert {(row.run_id, row.point) for row in found} == {(measured.run_id, measured.point)}
    assert "gym_sampling CartPole-v1, 2 actors" in done.stdout
    assert "A message between two workers on this machine cost " in done.stdout

    again = harness("scaling", "out")
    message = "harness: out/scaling.csv exists; remove it to measure anew\n"
    assert (again.returncode, again.stderr) == (2, message)

    assert harness("report", "out").returncode == 0
    for name in ("report.md", "report.html"):
        assert "A message between two workers on this machine cost" in Path("out", name).read_text()
    assert Path("out/figures/scaling.svg").exists()


@pytest.mark.parametrize(
    ("behaviour", "status"), first(1, [("raises", 1), ("refuses", 0)], "a run for each reason; one is always tried")
)
def test_what_goes_wrong_is_in_the_file_and_in_the_exit_status(harness, finished, behaviour, status):
    fake = ("--workload", "fake", "--backend", "serial", "--set", f"behaviour={behaviour}", "--trials", "1")
    finished(*fake)
    done = harness("scaling", "out", "--trials", "1")
    assert done.returncode == status, done.stderr
    reason = "RuntimeError: told to raise" if status else "unsupported: told to refuse"
    untraced = "unsupported: workloads.fake.on_reactors calls no run_reactors, which could be traced"
    assert {(row.kind, row.status, row.speedup) for row in SCALING.read(OUT)} == {
        *((kind, untraced, None) for kind in PREDICTIONS),
        ("measured", reason, None),
    }
    assert reason in done.stdout
    report = harness("report", "out", "--full")
    assert report.returncode == 0


@pytest.mark.parametrize(
    ("cores", "counts"),
    [(1, [1, 2]), (2, [1, 2, 4]), (3, [1, 2, 3, 6]), (6, [1, 2, 4, 6, 12]), (64, [1, 2, 4, 8, 16, 32, 64, 128])],
)
def test_as_many_workers_as_there_are_cores_are_measured_and_twice_as_many(cores, counts):
    assert worker_counts(cores) == counts


def test_the_loop_lives_through_a_block_and_memory_decides_how_many_numbers_of_workers_do_at_once():
    found = scaling_run._Point(runs.grid().points[0])
    assert [found._subject(name, name).pinned for name in ("serial", "reactor-processes")] == [True, False]


def test_without_the_cost_of_a_message_nothing_is_predicted_and_the_rest_is_measured(monkeypatch, run):
    asked = scaling_run.call

    def call(function, *arguments):
        if function.endswith("messages:measured"):
            raise SubjectError("no second worker")
        return asked(function, *arguments)

    monkeypatch.setattr(scaling_run, "call", call)
    assert run("--trials", "1", "--rounds", "10").returncode == 1
    told = {(row.kind, row.status) for row in SCALING.read(OUT)}
    assert told == {*((kind, "no second worker") for kind in PREDICTIONS), ("measured", "ok")}
    assert not Path("out/messages.csv").exists()
