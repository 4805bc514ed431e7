"""Two runs compared: regressions are named, and nothing but two sound, alike runs ever gets a verdict."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from harness.stats import judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import Judgement
from tests.harness.runs import COMMIT, MACHINE, grid, session, write

FEWER = grid(backends=("serial", "reactor-inline"))


@pytest.fixture
def base(tmp_path):
    return write(tmp_path / "base")


def refused(done):
    """The reason, where there is one line and no verdict."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("harness: cannot compare: ")
    return done.stderr


@pytest.mark.parametrize("factor", [1.0, 1.4], ids=["the same", "a slower machine"])
def test_equal_backends_show_no_regression(harness, base, tmp_path, factor):
    factors = dict.fromkeys(("serial", "reactor-inline", "ray-paper"), factor)
    done = harness("compare", base, write(tmp_path / "new", run_id="another", factors=factors))
    assert (done.returncode, done.stdout) == (0, "no regression of more than 7% in 2 ratios\n")


def test_each_regression_is_named_with_its_size_and_interval(harness, base, tmp_path):
    done = harness("compare", base, write(tmp_path / "new", factors={"reactor-inline": 1.25}))
    assert done.returncode == 1
    serial, ray = done.stdout.splitlines()
    assert serial.startswith("regression: gym_sampling/actors=2,rounds=50: reactor-inline is 25 % slower [")
    assert "its speed is 0.800x that of serial, was 1.00x" in serial
    assert "64.0x that of ray-paper, was 80.0x" in ray


def test_what_is_smaller_than_the_minimum_effect_is_none(harness, base, tmp_path):
    new = write(tmp_path / "new", factors={"reactor-inline": 1.06})
    assert harness("compare", base, new).returncode == 0
    assert harness("compare", base, new, "--min-effect", "0.05").returncode == 1


def test_an_improvement_is_told(harness, base, tmp_path):
    done = harness("compare", base, write(tmp_path / "new", factors={"reactor-inline": 0.5}), "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["regressions"]) == (0, 0)
    assert {one["judgement"] for one in told["changes"]} == {"improvement"}
    assert told["changes"][0]["factor"]["value"] == pytest.approx(0.5)
    assert told["base"]["commit"] == COMMIT


def test_a_measured_limit_is_a_baseline(harness, tmp_path):
    chosen = grid(
        backends=("serial", "reactor-inline", "limit"),
        points=[("broadcast_gather", {"actors": 2, "object_bytes": 1000, "work_seconds": 0.0, "rounds": 5})],
    )
    base, new = (write(tmp_path / name, chosen=chosen) for name in ("base", "new"))
    told = json.loads(harness("compare", base, new, "--json").stdout)
    assert [(one["baseline"], one["metric"]) for one in told["changes"]] == [
        ("serial", "overhead"), ("ceiling", "overhead"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("difference", "word"),
    [
        ({"described": {**MACHINE, "cores_allowed": 8}}, "other conditions: cores_allowed 4 there, 8 here"),
        ({"sessions": [session(variables={"OMP_NUM_THREADS": "4"})]}, "variables"),
        ({"chosen": grid(seed=1)}, "another grid: seed 0 there, 1 here"),
        ({"chosen": grid(trials=4)}, "such as 4 trials of gym_sampling/actors=2,rounds=50"),
        ({"chosen": FEWER}, "another grid: backends"),
        ({"chosen": grid(points=[("gym_sampling", {"actors": 3, "rounds": 50})])}, "another grid"),
        ({"sessions": [session(), session(commit="f" * 40)]}, "its sessions differ in commit"),
        ({"change": lambda row: None if row.trial == 4 else row}, "are missing"),
        ({"change": lambda row: None if row.metric == "peak_rss" else row}, "are missing"),
        ({"change": lambda row: replace(row, trial=9) if row.trial == 2 else row}, "a trial of another grid"),
    ],
)
def test_runs_that_are_not_alike_or_not_sound_get_no_verdict(harness, base, tmp_path, difference, word):
    new = write(tmp_path / "new", **difference)
    assert word in refused(harness("compare", base, new))
    assert harness("compare", new, base).returncode == 2


def of_ray(change):
    """The change of a row, for Ray's rows."""
    return {"change": lambda row: change(row) if row.backend == "ray-paper" else row}


LOSES = of_ray(lambda row: row.failed("out of luck") if row.trial == 3 else row)
REFUSES = of_ray(lambda row: row.failed("unsupported: no"))
DIFFERS = {"change": lambda row: replace(row, digest="other")}


@pytest.mark.parametrize(
    ("difference", "status", "line", "reverse"),
    [
        (LOSES, 2, "failed: gym_sampling/actors=2,rounds=50: ray-paper: trial 3: out of luck", 125),
        (REFUSES, 2, "failed: gym_sampling/actors=2,rounds=50: ray-paper: unsupported: no; it ran before", 0),
    ],
)
def test_what_cannot_be_compared_is_named_and_the_rest_is_judged(
    harness, base, tmp_path, difference, status, line, reverse
):
    new = write(tmp_path / "new", **difference)
    done = harness("compare", base, new)
    told, conclusion = done.stdout.splitlines()
    assert (done.returncode, told.startswith(line)) == (status, True)
    assert conclusion == "no regression of more than 7% in 1 ratios"
    assert harness("compare", new, base).returncode == reverse
    slow = write(tmp_path / "slow", factors={"reactor-inline": 1.5}, **difference)
    assert harness("compare", base, slow).returncode == 1


def test_a_backend_that_never_runs_here_changes_nothing(harness, tmp_path):
    base, new = (write(tmp_path / name, **REFUSES) for name in ("base", "new"))
    done = harness("compare", base, new)
    assert (done.returncode, done.stdout) == (0, "no regression of more than 7% in 1 ratios\n")


def test_nothing_to_compare_but_failures_is_a_failure(harness, base, tmp_path):
    done = harness("compare", base, write(tmp_path / "new", change=lambda row: row.failed("out of luck")), "--json")
    told = json.loads(done.stdout)
    assert (done.returncode, told["changes"], len(told["unjudged"])) == (2, [], 3)


def test_other_packages_of_any_interpreter_are_compared_and_named(harness, tmp_path):
    def run(name, ray, numpy):
        others = {"no GIL": {"packages": {"numpy": numpy}}}
        return write(tmp_path / name, described={**MACHINE, "packages": {"ray": ray}, "interpreters": others})

    base, new = run("base", "2.60", "2.4"), run("new", "2.61", "2.5")
    (_, note) = harness("compare", base, new).stdout.splitlines()
    assert note.startswith("note: ")
    assert "ray 2.60 before, 2.61 after" in note
    told = json.loads(harness("compare", base, new, "--json").stdout)["packages"]
    assert told == {"numpy (no GIL)": ["2.4", "2.5"], "ray": ["2.60", "2.61"]}


def test_too_few_trials_or_nothing_to_compare_give_no_verdict(harness, tmp_path):
    few = [write(tmp_path / name, chosen=grid(trials=2)) for name in ("a", "b")]
    assert "a point has 2 trials" in refused(harness("compare", *few))
    alone = [write(tmp_path / name, chosen=grid(backends=("serial", "ray-paper"))) for name in ("c", "d")]
    assert "no ratio of a reactor backend" in refused(harness("compare", *alone))


@pytest.mark.parametrize("name", ["measurements.csv", "machine.json", "grid.json"])
def test_truncated_and_foreign_files_get_no_verdict(harness, base, tmp_path, name):
    whole = (base / name).read_bytes()
    cuts = [0, 1, len(whole) // 3, len(whole) // 2, len(whole) - 2]
    foreign = [b"\n", b"a,b\n1,2\n", b"[]", b"{}", b'"text"', b"\xff\xfe\x00", b"null", b'{"run_id": 1, "points": 3}']
    for number, content in enumerate([whole[:cut] for cut in cuts] + foreign):
        new = tmp_path / f"new{number}"
        shutil.copytree(base, new)
        (new / name).write_bytes(content)
        refused(harness("compare", base, new))
    lost = tmp_path / "lost"
    shutil.copytree(base, lost)
    (lost / name).unlink()
    refused(harness("compare", lost, base))
    assert "no such directory" in refused(harness("compare", base, tmp_path / "nowhere"))


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (1.15, 1.05, 1.25, Judgement.REGRESSION),
        (1.15, 0.99, 1.30, Judgement.UNDECIDED),
        (1.09, 1.08, 1.099, Judgement.UNCHANGED),
        (1.0, 0.95, 1.05, Judgement.UNCHANGED),
        (0.8, 0.7, 0.9, Judgement.IMPROVEMENT),
        (0.8, 0.7, 1.01, Judgement.UNCHANGED),
    ],
)
def test_judging_a_factor(value, low, high, expected):
    assert judgement.judge(Estimate(value, low, high, 5), 0.1) is expected


def test_a_factor_in_words():
    assert judgement.describe(Estimate(1.15, 1.12, 1.18, 5)) == "15 % slower [12 %, 18 %]"
    assert judgement.describe(Estimate(0.8, 0.75, 1.02, 5)) == "25 % faster [-2.0 %, 33 %]"


def noisy(seed, spread):
    """The change of a row by noise of this spread."""
    random = np.random.default_rng(seed)
    return lambda row: replace(row, value=row.value * random.lognormal(0, spread))


@pytest.mark.parametrize(("slowdown", "status"), [(1.2, 1), (1.0, 0)])
def test_a_fifth_more_is_found_at_every_point_and_nothing_where_there_is_nothing(harness, tmp_path, slowdown, status):
    points = tuple(("gym_sampling", {"actors": actors, "rounds": 50}) for actors in (1, 2, 3, 4, 5))
    chosen = grid(points=points)
    base = write(tmp_path / "base", chosen=chosen, change=noisy(1, 0.02))
    new = write(tmp_path / "new", chosen=chosen, change=noisy(2, 0.02), factors={"reactor-inline": slowdown})
    done = harness("compare", base, new, "--json")
    assert done.returncode == status
    changes = json.loads(done.stdout)["changes"]
    assert len(changes) == 2 * len(points)
    wanted = "regression" if status else "unchanged"
    assert {one["judgement"] for one in changes} == {wanted}


def test_what_is_undecided_or_of_another_digest_may_be_allowed(harness, base, tmp_path):
    new = write(tmp_path / "new", change=noisy(3, 0.2))
    assert harness("compare", base, new).returncode == 125
    assert harness("compare", base, new, "--allow", "digests").returncode == 125
    assert harness("compare", base, new, "--allow", "digests,undecided").returncode == 0
    other = write(tmp_path / "other", **DIFFERS)
    done = harness("compare", base, other)
    told = done.stdout.splitlines()
    assert done.returncode == harness("compare", other, base, "--allow", "undecided").returncode == 125
    assert len(told) == 3
    assert all(line.startswith("other digest: gym_sampling/actors=2,rounds=50: ") for line in told)
    assert harness("compare", base, other, "--allow", "digests").returncode == 0
    refused_word = harness("compare", base, new, "--allow", "all")
    assert (refused_word.returncode, refused_word.stdout) == (2, "")
    assert "expected some of undecided, digests" in refused_word.stderr
