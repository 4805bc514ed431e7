"""Blocks of subjects that are fakes: order, warm-up, waves and failures."""

import itertools
import math
import tempfile
from pathlib import Path
from typing import ClassVar

import psutil
import pytest

from harness.measure import block
from harness.measure.block import Effort
from harness.measure.kept import Kept
from harness.measure.measured_processes import Subject, SubjectError
from harness.measure.turn import Turn

TOTAL = psutil.virtual_memory().total
EFFORT = Effort(sweeps=6, fewest=2, longest_s=1e9, turn_ns=1_000, warmup_s=(0.0, 1e9))


class FakeRunning:
    """Takes turns of scripted length: endlessly the last of them."""

    alive: ClassVar[set[str]] = set()
    most = 0
    log: ClassVar[list[str]] = []
    leads: ClassVar[dict[str, list[int]]] = {}

    def __init__(self, subject, log, limit_s):
        self.subject, self.told, self.log = subject, {}, log
        self.parked, self.spins = 0, subject.order.get("spins", False)
        self.idle_share, self.has_ended = 0.0, False
        self.lengths = itertools.chain(subject.order.get("lengths", ()), itertools.repeat(1_000))

    def __enter__(self):
        FakeRunning.alive.add(self.subject.name)
        FakeRunning.most = max(FakeRunning.most, len(FakeRunning.alive))
        return self

    def __exit__(self, *exception):
        FakeRunning.alive.discard(self.subject.name)

    def settle(self):
        return {"startup_ns": 5, "digest": "d", "gil_enabled": True}

    def turn(self, turn_ns, lead_ns):
        FakeRunning.log.append(self.subject.name)
        FakeRunning.leads.setdefault(self.subject.name, []).append(lead_ns)
        length = next(self.lengths)
        if length is None:
            raise SubjectError("scripted")
        return Turn(10, length * 10, length * 5)

    def park(self):
        FakeRunning.log.append("park")

    def held_bytes(self):
        return self.subject.order.get("bytes", 1)

    def cpu_ns(self):
        return {}

    def look(self):
        pass

    def confine(self, cpu):
        pass

    def end_program(self):
        if self.subject.order.get("stubborn"):
            raise SubjectError("it goes on")

    def run_another(self, subject):
        FakeRunning.log.append("another")
        self.subject = subject

    rest = forget_idling = look


@pytest.fixture(autouse=True)
def fake(monkeypatch):
    monkeypatch.setattr(block, "Running", FakeRunning)
    FakeRunning.alive, FakeRunning.most, FakeRunning.log = set(), 0, []
    FakeRunning.leads = {}


def run(*subjects, effort=EFFORT, seed="1"):
    return list(block.run(subjects, effort, seed, lambda subject: Path(f"/nowhere/{subject.name}")).values())


def subject(name, *lengths, **options):
    fields = {field: options.pop(field) for field in ("pinned", "on_one_cpu", "kept") if field in options}
    return Subject(name, {"lengths": lengths, **options}, **fields)


def test_all_take_one_turn_in_every_sweep_in_an_order_that_is_drawn_anew_and_repeats_with_the_seed():
    names = ["a", "b", "c", "d"]
    first, again, other = [run(*map(subject, names), seed=seed) for seed in ("1", "1", "2")]
    orders = [
        [[one.subject.name for position in range(4) for one in found if (sweep, position) in one.turns]
         for sweep in range(6)]
        for found in (first, again, other)
    ]  # fmt: skip
    assert all(sorted(order) == names for order in orders[0])
    assert orders[0] == orders[1] != orders[2]
    assert len({tuple(order) for order in orders[0]}) > 1
    assert FakeRunning.alive == set()


def test_the_warm_up_ends_when_the_turns_no_longer_drift():
    drifting = [int(10_000 * 0.9**index) for index in range(20)]
    noise = [1_000 + 200 * (index % 2) for index in range(60)]  # which is no drift
    slowly = subject("slow", *drifting, *[drifting[-1]] * 100)
    quick, slow, noisy = run(subject("quick"), slowly, subject("noisy", *noise))
    assert (quick.steady, quick.warmup_turns) == (True, 8)
    assert slow.steady
    assert noisy.steady
    assert slow.warmup_turns > 20
    lengths = [turn.round_ns for turn in slow.turns.values()]
    assert set(lengths) == {drifting[-1]}


def test_the_warm_up_has_a_limit_that_is_told():
    endless = [int(1e9 * 0.9**index) for index in range(100)]
    (found,) = run(subject("a", *endless), effort=Effort(sweeps=2, turn_ns=1, warmup_s=(0.0, 0.0)))
    assert (found.steady, found.warmup_turns, len(found.turns)) == (False, 0, 2)


def test_the_lead_is_as_long_as_a_subject_takes_to_run_as_it_does_without_rests_and_the_warm_up_has_none():
    effort = Effort(sweeps=2, lead_ns=1, waking_ns=2, resuming_ns=3, warmup_s=(0.0, 1e9))
    found = run(subject("alone", on_one_cpu=True), subject("waits"), subject("spins", spins=True), effort=effort)
    assert [one.lead_ns for one in found] == [1, 2, 3]
    leads = {name: (set(found[:-2]), found[-2:]) for name, found in FakeRunning.leads.items()}
    assert leads == {"alone": ({0}, [1, 1]), "waits": ({0}, [2, 2]), "spins": ({0}, [3, 3])}


def test_what_fails_leaves_the_block_and_the_others_go_on():
    bad, good = run(subject("bad", *[1_000] * 10, None), subject("good"))
    assert (bad.failure, good.failure) == ("scripted", "")
    assert len(good.turns) == 6
    assert FakeRunning.alive == set()
    assert [one.failure for one in run(subject("bad", None), subject("worse", None))] == ["scripted", "scripted"]


def test_where_memory_is_short_those_that_are_not_pinned_live_one_after_the_other(monkeypatch):
    heavy = [subject(name, pinned=False, bytes=TOTAL) for name in ("x", "y", "z")]
    *light, x, y, z = run(subject("a"), subject("b"), *heavy)
    assert FakeRunning.most == 3
    sweeps = [{sweep for sweep, _ in one.turns} for one in (x, y, z)]
    assert sorted(map(min, sweeps)) == [0, 6, 12]
    assert all({sweep for sweep, _ in one.turns} == set(range(18)) for one in light)
    run(subject("a"), *[subject(name, pinned=False, bytes=1) for name in ("x", "y", "z")])  # for which there is room
    assert FakeRunning.most == 4


def test_sweeps_end_with_their_time_but_not_before_the_fewest():
    (found,) = run(subject("a"), effort=Effort(sweeps=50, fewest=3, longest_s=0.0, warmup_s=(0.0, 1.0)))
    assert len(found.turns) == 3


def test_a_wave_has_time_by_how_many_live_in_it(monkeypatch):
    monkeypatch.setattr(block.time, "monotonic", itertools.count().__next__)  # a second passes at every look
    heavy = [subject(name, pinned=False, bytes=TOTAL) for name in ("x", "y", "z")]
    effort = Effort(sweeps=100, fewest=1, longest_s=90.0, turn_ns=1, warmup_s=(0.0, 0.0))
    found, (alone,) = run(*heavy, effort=effort), run(subject("x"), effort=effort)
    assert [len(one.turns) for one in (*found, alone)] == [10, 10, 10, 30]


@pytest.mark.parametrize(("ours", "clock"), [(True, "cpu_ns"), (False, "round_ns")])
def test_two_that_compute_in_one_thread_are_compared_by_cpu_time(ours, clock):
    times = {"cpu_ns": 3.0, "round_ns": 2.0}
    above, below = (
        block.Measured(Subject(name, {}, on_one_cpu=alone), turns={(0, 0): Turn(1, wall, cpu)})
        for name, alone, wall, cpu in (("a", ours, 20, 30), ("b", True, 10, 10))
    )
    assert [math.exp(ratio) for ratio in block.log_ratios(above, below)] == [pytest.approx(times[clock])]


def test_two_that_took_no_turns_in_one_sweep_are_compared_by_their_means():
    above, below, none = (
        block.Measured(Subject("", {}), turns={(sweep, 0): Turn(1, wall, 1) for sweep, wall in taken.items()})
        for taken in ({0: 13, 1: 43}, {2: 9}, {})
    )
    assert block.log_ratios(above, below, (3, 4)) == [pytest.approx(math.log(20 / 5))]  # of 10 and 40, and of 5
    assert block.log_ratios(above, none) == []


def test_an_interruption_ends_all(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(FakeRunning, "park", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run(subject("a"), subject("b"))
    assert FakeRunning.alive == set()


def test_a_kept_process_runs_the_next_block_of_its_trial_and_ends_with_it():
    with Kept() as kept:
        kept.begin(0)
        for _ in range(2):
            found = block.run([subject("a"), subject("b", kept=True)], EFFORT, "1", kept=kept)
            assert not found["b"].failure
            assert FakeRunning.alive == {"b"}
        assert FakeRunning.log.count("another") == 1
        kept.begin(1)
        assert FakeRunning.alive == set()


def test_a_block_without_logs_has_no_file_that_a_killed_engine_would_leave(monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    present, logs = [], []
    starting = FakeRunning.__enter__

    def enter(running):
        present.extend(tmp_path.iterdir())
        logs.append(running.log)
        return starting(running)

    monkeypatch.setattr(FakeRunning, "__enter__", enter)
    block.run([subject("a"), subject("b")], EFFORT, "1")
    assert (present, logs) == ([], [None, None])


@pytest.mark.parametrize("fault", [{"stubborn": True}, {"lengths": (None,)}], ids=["does not end", "failed"])
def test_a_kept_process_that_does_not_end_its_program_or_failed_is_ended(fault):
    with Kept() as kept:
        block.run([Subject("a", fault, kept=True)], EFFORT, "1", kept=kept)
        assert FakeRunning.alive == set()
