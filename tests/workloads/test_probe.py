"""The probe, on a clock that counts: measured rounds, warm-up, and wrong reports."""

import gc
import itertools

import pytest

from workloads.digest import NoDigest
from workloads.probe import Probe, ProbeError


def clock(*times_ns):
    return iter(times_ns).__next__


def counted(rounds, warmup_rounds, verify=False):
    """A probe on a clock that advances by one at each look, after all its rounds."""
    probe = Probe(rounds, warmup_rounds, verify, clock=itertools.count().__next__)
    probe.ready()
    for _ in range(rounds + warmup_rounds):
        probe.round()
    return probe


def test_rounds_are_timed_from_the_last_warmup_round():
    probe = Probe(2, 1, False, clock=clock(100, 150, 150, 1_150, 1_160, 1_190))
    probe.ready()
    for _ in range(3):
        probe.round()
    outcome = probe.outcome()
    assert outcome.startup_ns == 50
    assert outcome.round_ns.tolist() == [10, 30]
    assert outcome.elapsed_ns == 40
    assert outcome.rounds == 2


def test_without_warmup_the_first_round_begins_at_ready():
    probe = Probe(2, 0, False, clock=clock(0, 5, 5, 15, 18))
    probe.ready()
    probe.round()
    probe.round()
    assert probe.outcome().round_ns.tolist() == [10, 3]


def test_a_round_looks_at_the_clock_once():
    looks = itertools.count()
    probe = Probe(5, 3, True, clock=looks.__next__)
    probe.ready()
    for _ in range(8):
        probe.round()
    assert next(looks) == 1 + 2 + 8


def test_what_is_charged_is_added_to_the_startup_or_taken_from_it():
    probe = Probe(1, 0, False, clock=clock(0, 5, 5, 6))
    probe.charge_startup(1_000)
    probe.charge_startup(-300)
    probe.ready()
    probe.round()
    assert probe.outcome().startup_ns == 705


def test_ready_freezes_what_there_is_and_does_not_count_it_as_startup():
    probe = Probe(1, 0, False, clock=clock(0, 5, 300, 310))
    made = ["before the first round"]
    assert any(one is made for one in gc.get_objects())
    probe.ready()
    assert not any(one is made for one in gc.get_objects())
    probe.round()
    assert (probe.outcome().startup_ns, probe.outcome().elapsed_ns) == (5, 10)


@pytest.mark.parametrize("reported", [0, 4, 6])
def test_a_wrong_number_of_rounds_gives_no_outcome(reported):
    probe = Probe(3, 2, False, clock=itertools.count().__next__)
    probe.ready()
    for _ in range(reported):
        probe.round()
    with pytest.raises(ProbeError, match=rf"^expected 5 rounds \(warm-up included\), got {reported}$"):
        probe.outcome()


def test_ready_is_reported_exactly_once():
    probe = Probe(1, 0, False, clock=itertools.count().__next__)
    with pytest.raises(ProbeError, match="never"):
        probe.outcome()
    probe.ready()
    with pytest.raises(ProbeError, match="twice"):
        probe.ready()


def test_only_a_verifying_probe_hashes_the_streams():
    timed = counted(1, 0)
    assert not timed.verifying
    assert isinstance(timed.digest, NoDigest)
    timed.digest.add(0, object())
    assert timed.outcome().digest == ""
    verified = counted(1, 0, verify=True)
    assert verified.verifying
    verified.digest.add(0, 1)
    assert len(verified.outcome().digest) == 32


def test_the_final_state_is_hashed_in_both_modes_and_is_part_of_the_digest():
    outcomes = {}
    for verify, state in itertools.product((False, True), (1, 2)):
        probe = counted(1, 0, verify)
        probe.state(state)
        outcomes[verify, state] = probe.outcome()
    assert outcomes[False, 1].state_digest == outcomes[True, 1].state_digest
    assert outcomes[False, 1].state_digest != outcomes[False, 2].state_digest
    assert outcomes[True, 1].digest != outcomes[True, 2].digest


def test_an_outcome_may_be_asked_for_twice():
    probe = counted(2, 0, verify=True)
    probe.state(1)
    assert probe.outcome() == probe.outcome()
