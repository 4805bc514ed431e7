"""Two trees measured in turns. A large slowdown is found, and an impossible comparison gets no verdict."""

import dataclasses
import math
import shutil
import subprocess

import numpy as np
import pytest

from benchmarks.paths import HOT
from benchmarks.regress import findings
from benchmarks.regress.__main__ import main
from benchmarks.regress.findings import find
from benchmarks.regress.subjects import kernel_subjects, workload_subjects
from benchmarks.regress.trees import MEASURED, Trees, default_base, side_by_side
from harness.errors import UsageError
from harness.stats.intervals import Estimate
from harness.stats.judgement import MIN_EFFECT, Judgement
from harness.store import machine
from tests.benchmarks.regress.slowdown import CALL, COMPILER, changed, slowed
from tests.pages import ROOT

QUICK = ("--workload", "none", "--kernel", "fan_out", "--trials", "3")


@pytest.fixture
def short(monkeypatch):
    """Blocks of few turns."""
    monkeypatch.setattr(findings, "EFFORT", dataclasses.replace(findings.EFFORT, sweeps=4))


@pytest.fixture
def slow(tmp_path):
    """A tree whose fan-out takes several times as long."""
    return slowed(ROOT, tmp_path / "slow", 150)


def test_twice_as_slow_is_found_named_and_confirmed(slow, short, capsys):
    assert main(["--base", str(ROOT), "--new", str(slow), *QUICK]) == 1
    told = capsys.readouterr()
    assert told.out.startswith("regression   fan_out: ")
    assert "are slower than" in told.out
    assert "suspected: fan_out: " in told.err


WIDE, CLEAR, SMALL = (
    Estimate(value, low, high, 5, math.log(high / low) / 2 / 2.78, 4)  # Student's t of five starts
    for value, low, high in [(1.10, 0.98, 1.24), (1.15, 1.10, 1.20), (1.05, 1.02, 1.08)]
)


@pytest.mark.parametrize("looks", [(WIDE, CLEAR, "regression"), (CLEAR, WIDE, "uncertain"), (SMALL, None, "uncertain")])
def test_the_second_look_decides_whatever_looked_slower(looks, monkeypatch):
    first, second, judgement = looks
    measured = [{"fan_out": first}, {"fan_out": second} if second else {}]
    monkeypatch.setattr(findings, "measure", lambda *_: measured.pop(0))
    (finding,) = find(None, list(kernel_subjects(["fan_out"])), MIN_EFFECT)
    assert (finding.judgement.value, finding.second is None) == (judgement, second is None)


@pytest.mark.slow(reason="two trees are measured; `make test` finds the one that is slower")
def test_twice_as_fast_is_no_regression(slow, short, capsys):
    assert main(["--base", str(slow), "--new", str(ROOT), *QUICK, "--markdown"]) == 0
    assert "| improvement | fan_out |" in capsys.readouterr().out


@pytest.mark.slow(reason="every hot path and workload, on both sides; `make test` measures two trees of one")
def test_every_subject_can_be_measured_on_both_sides(short):
    subjects = [*kernel_subjects(), *workload_subjects(["gym_sampling"], ["serial", "reactor-processes"])]
    assert [one.on_one_cpu for one in subjects] == [True] * (len(HOT) + 1) + [False]
    with side_by_side(str(ROOT), ROOT) as trees:
        factors = findings.measure(trees, subjects, 1)
    assert all(0 < factor.low <= factor.value <= factor.high for factor in factors.values())
    assert set(factors) == {one.name for one in subjects}


def test_a_tree_is_not_asked_for_parameters_at_their_defaults_that_it_may_not_have():
    (subject,) = workload_subjects(["gym_sampling"], ["serial"])
    assert subject.order["parameters"] == {"actors": 2, "rounds": 200, "warmup_rounds": 5}


def test_a_tree_that_computes_something_else_gets_no_verdict(tmp_path, short):
    other = changed(
        ROOT, tmp_path / "other", "workloads/sampling.py", "seed=task.seed + index", "seed=task.seed + index + 1"
    )
    subjects = list(workload_subjects(["gym_sampling"], ["serial"]))
    with (
        side_by_side(str(ROOT), other) as trees,
        pytest.raises(UsageError, match="serial computes something else than in base"),
    ):
        find(trees, subjects, MIN_EFFECT, 3)


def test_a_tree_that_does_not_run_gets_no_verdict(tmp_path, short, capsys):
    broken = changed(ROOT, tmp_path / "broken", COMPILER, CALL, "        raise RuntimeError('out of order')\n")
    assert main(["--base", str(ROOT), "--new", str(broken), *QUICK]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith("cannot compare: new: ")


def git(directory, *arguments):
    identity = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    subprocess.run(["git", *identity, *arguments], cwd=directory, check=True, capture_output=True, timeout=60)


@pytest.fixture
def repository(tmp_path):
    """Two commits of the measured folders."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    path = tmp_path / "repository"
    for name in MEASURED:
        (path / name).mkdir(parents=True)
        (path / name / "__init__.py").write_text("first = 1\n")
    git(path, "init", "--quiet", "--initial-branch=main")
    git(path, "add", ".")
    git(path, "commit", "--quiet", "-m", "first")
    (path / "reactorlib" / "__init__.py").write_text("second = 2\n")
    git(path, "commit", "--quiet", "--all", "-m", "second")
    return path


def test_a_commit_and_the_working_tree_stand_side_by_side(repository):
    (repository / "reactorlib" / "__init__.py").write_text("third = 3\n")
    with side_by_side("HEAD~1", repository) as trees:
        texts = [(tree / "reactorlib" / "__init__.py").read_text() for tree in (trees.base, trees.new)]
        assert len(str(trees.base)) == len(str(trees.new))
    assert texts == ["first = 1\n", "third = 3\n"]
    assert not trees.base.exists()


def test_the_base_is_where_the_branch_began(repository, tmp_path):
    assert default_base(repository) == machine.git(repository, "rev-parse", "HEAD~1")
    (repository / "reactorlib" / "__init__.py").write_text("third = 3\n")
    assert default_base(repository) == machine.git(repository, "rev-parse", "HEAD")
    git(repository, "commit", "--quiet", "--all", "-m", "third")
    git(repository, "update-ref", "refs/remotes/origin/main", "HEAD~2")
    assert default_base(repository) == machine.git(repository, "rev-parse", "HEAD~2")
    with pytest.raises(UsageError, match="no earlier commit"):
        default_base(tmp_path)


def test_a_tree_of_which_git_cannot_tell_may_be_changed(repository, monkeypatch):
    answered = machine.git
    monkeypatch.setattr(
        machine, "git", lambda root, *words, **limit: None if "status" in words else answered(root, *words, **limit)
    )
    assert default_base(repository) == machine.git(repository, "rev-parse", "HEAD")


@pytest.mark.parametrize("base", ["no-such-commit", "/"])
def test_a_base_that_is_none_and_nothing_to_measure_get_no_verdict(repository, base, capsys):
    assert main(["--base", base, "--new", str(repository), *QUICK]) == 2
    assert capsys.readouterr().err.startswith("cannot compare: ")
    assert main(["--base", base, "--workload", "none", "--kernel", "none"]) == 2
    assert "nothing is left to measure" in capsys.readouterr().err


TURN_NOISE = 0.1  # of a turn's ratio, as seen on two cores with a load of fourteen
BLOCK_NOISE = 0.015
ATTEMPTS = 300


@pytest.mark.parametrize(("slowdown", "least", "most"), [(1.15, 19 / 20, 1.0), (1.0, 0.0, 1 / ATTEMPTS)])
def test_15_percent_are_found_and_nothing_raises_an_alarm_in_known_noise(monkeypatch, slowdown, least, most):
    # Turns have heavy tails, and blocks a noise of their own.
    random = np.random.default_rng(4)

    def block(trees, one, index):
        turns = TURN_NOISE / 3**0.5 * random.standard_t(3, findings.EFFORT.sweeps)
        return (turns + random.normal(np.log(slowdown), BLOCK_NOISE)).tolist()

    monkeypatch.setattr(findings, "_block", block)
    subjects = list(kernel_subjects(["fan_out"]))
    trees = Trees(ROOT, ROOT)
    found = [find(trees, subjects, MIN_EFFECT)[0].judgement for _ in range(ATTEMPTS)]
    assert least <= found.count(Judgement.REGRESSION) / ATTEMPTS <= most
