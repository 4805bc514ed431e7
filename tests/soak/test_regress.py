"""How reliably `make regress` tells a slowdown from noise on this machine. Only in `make soak`; minutes."""

from pathlib import Path

import pytest

from benchmarks.regress.__main__ import MIN_EFFECT
from benchmarks.regress.findings import Effort, find, measure
from benchmarks.regress.subjects import kernel_subjects, workload_subjects
from benchmarks.regress.trees import side_by_side
from harness import change
from harness.change import Judgement
from tests.benchmarks.regress.slowdown import slowed

ROOT = Path(__file__).resolve().parents[2]
ATTEMPTS = 20
FOUND_AT_LEAST = 19
SLOWDOWN = 0.15
TRIED_COUNT = 6  # idle expressions, from whose cost the number for the wanted slowdown is computed
CALIBRATING_PAIRS = 16

pytestmark = pytest.mark.soak


def tell(line):
    print(line, flush=True)


def shown(factor):
    return "not measured again" if factor is None else change.describe(factor)


def idle_expressions(tmp_path):
    """So many that the fan-out takes 15 % longer."""
    subjects = list(kernel_subjects(["fan_out"]))
    tried = slowed(ROOT, tmp_path / "tried", TRIED_COUNT)
    with side_by_side(str(ROOT), tried) as trees:
        factor = measure(trees, subjects, CALIBRATING_PAIRS, Effort())["fan_out"]
    tell(f"{TRIED_COUNT} idle expressions: {change.describe(factor)}")
    return max(1, round(TRIED_COUNT * SLOWDOWN / (factor.value - 1)))


def test_a_slowdown_of_15_percent_is_found(tmp_path):
    count = idle_expressions(tmp_path)
    tree = slowed(ROOT, tmp_path / "slow", count)
    tell(f"{count} idle expressions per reaction")
    found = 0
    with side_by_side(str(ROOT), tree) as trees:
        for attempt in range(ATTEMPTS):
            (finding,) = find(trees, list(kernel_subjects(["fan_out"])), MIN_EFFECT, Effort())
            found += finding.judgement is Judgement.REGRESSION
            first, second = change.describe(finding.first), shown(finding.second)
            first, second = change.describe(finding.first), shown(finding.second)
            tell(f"{attempt}: {finding.judgement.value}, {first}, then {second}")
    assert found >= FOUND_AT_LEAST


@pytest.mark.parametrize("subjects", [kernel_subjects, workload_subjects])
def test_the_same_code_raises_no_alarm(subjects):
    with side_by_side(str(ROOT), ROOT) as trees:
        alarms = [one for attempt in range(ATTEMPTS) for one in alarms_of(attempt, trees, list(subjects()))]
    assert alarms == []


def alarms_of(attempt, trees, subjects):
    found = find(trees, subjects, MIN_EFFECT, Effort())
    tell(f"{attempt}: " + "; ".join(f"{one.subject} {change.describe(one.first)}" for one in found))
    suspected = [f"{one.subject} then {shown(one.second)}" for one in found if one.second is not None]
    tell(f"   suspected at first: {suspected}")
    return [one for one in found if one.judgement is Judgement.REGRESSION]
