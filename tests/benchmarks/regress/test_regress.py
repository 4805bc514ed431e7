"""Two trees measured in turns. A large slowdown is found, and a subject that cannot be compared gets no verdict."""

import dataclasses
import math
import shutil
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.paths import HOT
from benchmarks.regress import findings
from benchmarks.regress.__main__ import main
from benchmarks.regress.findings import find
from benchmarks.regress.subjects import kernel_subjects, workload_subjects
from benchmarks.regress.trees import MEASURED, Trees, default_base, side_by_side
from harness.errors import UsageError
from harness.measure.block import Measured
from harness.stats import judgement
from harness.stats.intervals import Estimate
from harness.stats.judgement import MIN_EFFECT, Judgement
from harness.store import machine
from tests.benchmarks.regress.slowdown import CALL, COMPILER, changed, slowed
from tests.pages import ROOT

NOT_CODE = shutil.ignore_patterns("__pycache__")
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
    assert told.out.startswith("regression    fan_out: ")
    assert "are slower than" in told.out
    assert "suspected: fan_out: " in told.err


WIDE, CLEAR, SMALL = (
    Estimate(value, low, high, 5, math.log(high / low) / 2 / 2.78, 4)  # Student's t of five starts
    for value, low, high in [(1.10, 0.98, 1.24), (1.15, 1.10, 1.20), (1.05, 1.02, 1.08)]
)


@pytest.mark.parametrize("looks", [(WIDE, CLEAR, "regression"), (CLEAR, WIDE, "undecided"), (SMALL, None, "undecided")])
def test_the_second_look_decides_whatever_looked_slower(looks, monkeypatch):
    first, second, word = looks
    measured = [({"fan_out": first}, {}), ({"fan_out": second} if second else {}, {})]
    monkeypatch.setattr(findings, "measure", lambda *_: measured.pop(0))
    (finding,) = find(None, list(kernel_subjects(["fan_out"])), MIN_EFFECT)
    assert (finding.judgement.value, finding.again) == (word, second is not None)


@pytest.mark.slow(reason="two trees are measured; `make test` finds the one that is slower")
def test_twice_as_fast_is_no_regression(slow, short, capsys):
    assert main(["--base", str(slow), "--new", str(ROOT), *QUICK, "--markdown"]) == 0
    assert "| improvement | fan_out |" in capsys.readouterr().out


@pytest.mark.slow(reason="every hot path and workload, on both sides; `make test` measures two trees of one")
def test_every_subject_can_be_measured_on_both_sides(short):
    subjects = [*kernel_subjects(), *workload_subjects(["gym_sampling"], ["serial", "reactor-processes"])]
    assert [one.on_one_cpu for one in subjects] == [True] * (len(HOT) + 1) + [False]
    with side_by_side(str(ROOT), ROOT) as trees:
        factors, lost = findings.measure(trees, subjects, 1)
    assert lost == {}
    assert all(0 < factor.low <= factor.value <= factor.high for factor in factors.values())
    assert set(factors) == {one.name for one in subjects}


def test_a_tree_is_not_asked_for_parameters_at_their_defaults_that_it_may_not_have():
    (subject,) = workload_subjects(["gym_sampling"], ["serial"])
    assert subject.order["parameters"] == {"actors": 2, "rounds": 200, "warmup_rounds": 5}


def test_a_subject_that_computes_something_else_has_no_verdict_and_the_others_have(tmp_path, short, capsys):
    other = changed(
        ROOT, tmp_path / "other", "workloads/sampling.py", "seed=task.seed + index", "seed=task.seed + index + 1"
    )
    asked = ["--base", str(ROOT), "--new", str(other), "--kernel", "fan_out", "--workload", "gym_sampling"]
    asked += ["--backend", "serial", "--trials", "3", "--min-effect", "1"]
    assert main(asked) == 125
    fan_out, sampling, conclusion = capsys.readouterr().out.splitlines()
    assert fan_out.split()[0] != "failed"
    assert sampling.startswith(
        "other digest  gym_sampling/actors=2,rounds=200,warmup_rounds=5 serial: it computes something else than in base"
    )
    assert "; 1 other digest" in conclusion


def test_a_tree_that_does_not_run_fails(tmp_path, short, capsys):
    broken = changed(ROOT, tmp_path / "broken", COMPILER, CALL, "        raise RuntimeError('out of order')\n")
    assert main(["--base", str(ROOT), "--new", str(broken), *QUICK]) == 2
    failed, conclusion = capsys.readouterr().out.splitlines()
    assert failed.startswith("failed        fan_out: ")
    assert conclusion == "1 failed"
    assert main(["--base", str(broken), "--new", str(ROOT), *QUICK, "--allow", "undecided"]) == 0
    assert capsys.readouterr().out.startswith("undecided     fan_out: it fails in base: ")


REFUSED = "unsupported: no torch"


@pytest.mark.parametrize(
    ("base", "new", "word", "status"),
    [
        (REFUSED, REFUSED, "not measured", 2),
        (REFUSED, "", "not measured", 2),
        ("", REFUSED, "failed", 2),
        ("no memory", REFUSED, "failed", 2),
        ("no memory", "", "undecided", 125),
        ("no memory", "no memory", "failed", 2),
    ],
)
def test_what_works_in_the_base_has_to_work_on(base, new, word, status, monkeypatch):
    def run(subjects, *_):
        return {one.name: Measured(one, failure) for one, failure in zip(subjects, (base, new), strict=True)}

    monkeypatch.setattr(findings.block, "run", run)
    found = find(Trees(ROOT, ROOT), list(kernel_subjects(["fan_out"])), MIN_EFFECT)
    assert [one.judgement.value for one in found] == [word]
    judgements = [one.judgement for one in found]
    assert judgement.exit_status(judgements) == status
    # Beside a subject with an answer, a subject that never ran changes nothing.
    beside = {"not measured": 0}.get(word, status)
    assert judgement.exit_status([*judgements, Judgement.UNCHANGED]) == beside
    assert judgement.exit_status([*judgements, Judgement.REGRESSION]) == 1


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


@pytest.mark.slow(reason="git measures two commits of four; `make test` measures one tree")
def test_git_finds_the_commit_that_made_it_slower(repository, tmp_path):
    for name in MEASURED:
        shutil.rmtree(repository / name)
    slower = slowed(ROOT, tmp_path / "slow", 150)
    for number, tree in enumerate((ROOT, ROOT, slower, slower, slower)):
        for name in MEASURED:
            shutil.copytree(tree / name, repository / name, ignore=NOT_CODE, dirs_exist_ok=True)
        (repository / "reactorlib" / "number.txt").write_text(str(number))
        git(repository, "add", ".")
        git(repository, "commit", "--quiet", "-m", f"number {number}")
    good = machine.git(repository, "rev-parse", "HEAD~4")
    git(repository, "bisect", "start", "HEAD", good)
    # Equal code may look slower in a busy moment, and would be skipped. It does not look slower by half.
    command = (sys.executable, "-m", "benchmarks.regress", "--base", good, "--new", str(repository), *QUICK)
    command += ("--min-effect", "0.5")
    done = subprocess.run(
        ["git", "bisect", "run", "env", "-C", str(ROOT), *command],
        cwd=repository, check=False, capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "is the first bad commit" in done.stdout
    assert "number 2" in done.stdout.partition("is the first bad commit")[2]


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
