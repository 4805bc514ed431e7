"""Claims of README: their names and ranges, and the verdict of a measurement of one."""

from types import SimpleNamespace

import pytest

from harness.cli.commands import main
from harness.measure.measured_processes import Subject
from harness.studies import claim_run
from tests.harness.runs import measured

CLAIMS, _ = claim_run.known()
CLAIM = next(claim for claim in CLAIMS if not claim.point.parameters.get("work_seconds"))


@pytest.fixture
def engine(monkeypatch):
    """Blocks that are not run: the baseline takes `ratio` times as long as the backend, by `spread` more each time."""
    given = SimpleNamespace(
        ratio=CLAIM.published.value, spread=1.0, digest="d", failure="", free=2**40, blocks=0, outside_cores=0.0
    )

    def run(subjects, *_):
        own, other = subjects
        ratio = given.ratio * given.spread ** (given.blocks - 1)
        given.blocks += 1
        outcome = {"digest": given.digest, "outside_cores": given.outside_cores}
        return {
            own.name: measured(own, 1_000, given.failure, **outcome),
            other.name: measured(other, int(1_000 * ratio), digest="d"),
        }

    monkeypatch.setattr(claim_run.block, "run", run)
    monkeypatch.setattr(claim_run.memory, "free", lambda: given.free)
    return given


def test_every_claim_has_a_name_of_its_own_and_a_range_around_what_was_published():
    assert len({claim.name for claim in CLAIMS}) == len(CLAIMS)
    for claim in CLAIMS:
        low, high = claim.expected
        assert 0 < low < claim.published.low <= claim.published.value <= claim.published.high < high
        assert claim.published.count >= 5
        assert claim.seconds > 0
        assert claim.peak_bytes > 0


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "PASS"),
        ({"ratio": 1.01 * CLAIM.expected[1]}, "FAIL"),
        ({"ratio": 0.99 * CLAIM.expected[0]}, "FAIL"),
        ({"failure": "time limit: no result after 1 s"}, "FAIL"),
        ({"digest": "another"}, "FAIL"),
    ],
    ids=["published", "too high", "too low", "failure", "other values"],
)
def test_a_claim_passes_where_its_ratio_is_in_the_range_and_nothing_failed(engine, capsys, given, verdict):
    vars(engine).update(given)
    assert main(["claim", CLAIM.name, "--starts", "3"]) == (verdict == "FAIL")
    told = capsys.readouterr().out
    assert told.startswith(f"{CLAIM.name}: {verdict}")
    assert given.get("failure", "") in told
    assert engine.blocks == (1 if {"failure", "digest"} & given.keys() else 3)


@pytest.mark.parametrize(("spread", "reaches", "outside_cores"), [(1.0, False, 64.0), (9.0, True, 0.0)])
def test_a_failure_says_if_the_interval_reaches_the_range_or_others_run(engine, capsys, spread, reaches, outside_cores):
    engine.ratio, engine.spread, engine.outside_cores = 1.1 * CLAIM.expected[1], spread, outside_cores
    assert main(["claim", CLAIM.name, "--starts", "3"]) == 1
    told = capsys.readouterr().out
    assert ("the interval reaches the range" in told) == reaches
    assert ("other processes kept 64.0 of" in told) == (outside_cores > 0)


@pytest.mark.parametrize("free", [2**40, 2**20])
def test_all_are_measured_for_which_there_is_memory_and_without_a_name_listed(engine, capsys, free):
    engine.free = free
    assert main(["claim"]) == engine.blocks == 0
    listed = capsys.readouterr().out
    assert all(f"{claim.name} " in listed for claim in CLAIMS)
    main(["claim", "all", "--starts", "3"])
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in told] == [one.name for one in CLAIMS]
    assert all(": FAIL, needs " in line for line in told) == (engine.blocks == 0) == (free == 2**20)


def test_simulated_work_is_no_part_of_a_ratio(engine, monkeypatch):
    sides = {name: measured(Subject(name, {}), 10**9 + own_ns) for name, own_ns in (("own", 1_000), ("other", 3_000))}
    monkeypatch.setattr(claim_run.block, "run", lambda *_: sides)
    monkeypatch.setattr(claim_run, "simulated_ns", lambda *_: 1e9)
    estimate, outside_cores = claim_run._measured(CLAIM, 3, lambda _: None)
    assert (estimate.value, outside_cores) == (pytest.approx(3), 0.0)


def test_an_unknown_name_is_refused(engine, capsys):
    assert main(["claim", "no-such-claim"]) == 2
    assert "no-such-claim" in capsys.readouterr().err
    assert not engine.blocks
