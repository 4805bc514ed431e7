"""How reliably `make regress` tells a slowdown from noise on this machine. Only in `make soak`; an hour or more.

SOAK_ATTEMPTS (20): how often each is tried.
"""

import os
from pathlib import Path

import pytest

from benchmarks.regress.findings import find, measure
from benchmarks.regress.subjects import kernel_subjects, workload_subjects
from benchmarks.regress.trees import side_by_side
from harness.stats import judgement
from harness.stats.judgement import MIN_EFFECT, Judgement
from tests.benchmarks.regress.slowdown import REACTION, TRANSPORT, WORKLOAD, slowed

ROOT = Path(__file__).resolve().parents[2]
ATTEMPTS = int(os.environ.get("SOAK_ATTEMPTS", "20"))
FOUND_AT_LEAST = 0.9  # of the attempts
ALARMS_AT_MOST = 0.05
SLOWDOWN = 0.15
CALIBRATING_BLOCKS = 32


def sampling(backend):
    return list(workload_subjects(["gym_sampling"], [backend]))


# The place, the subjects, and a first amount of idling, from whose cost the amount for the slowdown is computed.
PLACES = {
    "reaction": (REACTION, lambda: list(kernel_subjects(["fan_out"])), 6),
    "workload": (WORKLOAD, lambda: sampling("reactor-inline"), 300),
    "transport": (TRANSPORT, lambda: sampling("reactor-processes"), 150),
}

pytestmark = pytest.mark.soak


def tell(line):
    print(line, flush=True)


@pytest.mark.parametrize("name", PLACES)
def test_a_slowdown_of_15_percent_is_found(name, tmp_path):
    place, subjects, tried = PLACES[name]
    with side_by_side(str(ROOT), slowed(ROOT, tmp_path / "tried", tried, place)) as trees:
        (factor,) = measure(trees, subjects(), CALIBRATING_BLOCKS)[0].values()
    count = max(1, round(tried * SLOWDOWN / (factor.value - 1)))
    tell(f"{name}: {tried} idle {judgement.describe(factor)}; {count} are tried")
    found = 0
    with side_by_side(str(ROOT), slowed(ROOT, tmp_path / "slow", count, place)) as trees:
        for attempt in range(ATTEMPTS):
            (finding,) = find(trees, subjects(), MIN_EFFECT)
            found += finding.judgement is Judgement.REGRESSION
            tell(f"{attempt}: {finding.judgement.value}, {finding.words}{' at the second look' * finding.again}")
    assert found >= FOUND_AT_LEAST * ATTEMPTS


@pytest.mark.parametrize("subjects", [kernel_subjects, workload_subjects])
def test_the_same_code_raises_no_alarm(subjects):
    with side_by_side(str(ROOT), ROOT) as trees:
        alarming = sum(bool(alarms_of(attempt, trees, list(subjects()))) for attempt in range(ATTEMPTS))
    assert alarming <= ALARMS_AT_MOST * ATTEMPTS


def alarms_of(attempt, trees, subjects):
    found = find(trees, subjects, MIN_EFFECT)
    tell(f"{attempt}: " + "; ".join(f"{one.subject} {one.words}" for one in found))
    tell(f"   suspected at first: {[one.subject for one in found if one.again]}")
    return [one for one in found if one.judgement is Judgement.REGRESSION]
