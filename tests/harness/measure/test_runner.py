"""Which subjects a block has, how they live beside each other, and which of their logs stay."""

import sys

import pytest

from harness.measure import runner
from harness.measure.block import Measured
from harness.measure.kept import Kept
from harness.measure.runner import Budget
from harness.plan.grid import Trial
from harness.store.run_directory import RunDirectory
from tests.harness import runs


@pytest.mark.parametrize(
    ("object_bytes", "backend", "pinned"),
    [
        (10 * 2**20, "serial", True),
        (10 * 2**20, "reactor-processes", True),
        (10 * 2**20, "ray-pooled", False),
        (500 * 10**6, "serial", False),
        (500 * 10**6, "ray-pooled", False),
    ],
)
def test_backends_whose_arrays_take_much_memory_need_not_live_together(object_bytes, backend, pinned, monkeypatch):
    monkeypatch.setattr(runner.memory, "total", lambda: 24 * 2**30)
    values = {"actors": 16, "object_bytes": object_bytes}
    (point,) = runs.grid(trials=1, points=[("broadcast_gather", values)]).points
    assert runner.subject_of(Trial(point, backend, 0)).pinned == pinned


@pytest.mark.parametrize(
    ("workload", "backend", "again", "kept"),
    [
        ("gym_sampling", "ray-pooled", False, True),
        ("gym_sampling", "ray-pooled", True, False),
        ("gym_sampling", "ray-pooled-nodes", False, False),
        ("gym_sampling", "ray-pooled-compiled-nodes", False, False),
        ("gym_sampling", "reactor-processes", False, False),
        ("broadcast_gather", "ray-pooled", False, False),
    ],
)
def test_ray_s_drivers_are_kept_unless_their_arrays_fill_a_store(workload, backend, again, kept):
    (point,) = runs.grid(trials=1, points=[(workload, {"actors": 4})]).points
    assert runner.subject_of(Trial(point, backend, 0), again).kept == kept


def test_the_log_of_a_failure_stays_when_the_next_point_succeeds(tmp_path, monkeypatch):
    points = [("gym_sampling", {"actors": actors}) for actors in (2, 3)]
    chosen = runs.grid(backends=("ray-pooled",), trials=1, points=points)
    results, failures = RunDirectory(tmp_path, "a-run", chosen, {}, {"": sys.executable}), ["no memory", ""]

    def run(subjects, _effort, _seed, logs, *_):
        failure = failures.pop(0)
        for subject in subjects:
            logs(subject).write_text(failure or "well")
        return {subject.name: Measured(subject, failure) for subject in subjects}

    monkeypatch.setattr(runner.engine, "run", run)
    for block in chosen.blocks():
        runner._measured(results, block, runner.engine.EFFORT, None, Kept())
    assert [path.read_text() for path in results.logs.iterdir()] == ["no memory"] * 2  # the first point has a copy
    assert all(path.name.startswith("gym_sampling-") for path in results.logs.iterdir())


def test_a_trial_fails_with_the_copy_by_which_a_run_measures_its_noise(tmp_path, monkeypatch):
    chosen = runs.grid(backends=("ray-pooled",), trials=1)
    results = RunDirectory(tmp_path, "a-run", chosen, {}, {"": sys.executable})
    monkeypatch.setattr(runner.engine, "run", runs.engine(lambda _: 1_000, "ray-pooled again"))
    runner._run_block(results, next(iter(chosen.blocks())), runner.engine.EFFORT, Silent(), Kept())
    (record,) = results.trials
    assert record.status == "its copy, which measures the noise, failed: no memory"
    assert not list(results.turns)


class Silent:
    """A display of nothing."""

    def trial_begins(self, trial): ...
    def trial_ends(self, trial, record): ...


def test_a_budget_has_every_first_block_and_later_ones_that_end_in_time():
    chosen = runs.grid(trials=2, points=[("gym_sampling", {"actors": actors}) for actors in (2, 3)])
    first, other, *later = chosen.blocks()
    budget = Budget(100.0, taken_s={first[0].point: 10.0, other[0].point: 85.0})
    assert [budget.allows(block, 20.0) for block in (first, other, *later)] == [True, True, True, False]
    budget.taken_s.pop(first[0].point)  # its blocks are taken to be as long as the longest
    assert [budget.allows(later[0], spent_s) for spent_s in (15.0, 16.0)] == [True, False]
    assert Budget().allows(later[0], 1e9)
