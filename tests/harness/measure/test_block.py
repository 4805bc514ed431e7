"""Blocks of subjects that are not there: order, warm-up, waves, failures; then of real processes."""

import contextlib
import errno
import itertools
import math
import os
import resource
import time
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import psutil
import pytest

from harness.measure import block, processes
from harness.measure import subject as subject_module
from harness.measure.block import Effort
from harness.measure.kept import Kept
from harness.measure.subject import Running, Subject, SubjectError, share_of_core, workload_order
from harness.measure.turn import Turn

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
def fake(request, monkeypatch):
    if "real" not in request.keywords:
        monkeypatch.setattr(block, "Running", FakeRunning)
        FakeRunning.alive, FakeRunning.most, FakeRunning.log = set(), 0, []
        FakeRunning.leads = {}


def run(*subjects, effort=EFFORT, seed="1"):
    return block.run(subjects, effort, seed, lambda subject: Path(f"/nowhere/{subject.name}"))


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
    quick, slow = run(subject("quick"), subject("slow", *drifting, *[drifting[-1]] * 100))
    assert (quick.steady, quick.warmup_turns) == (True, 8)
    assert slow.steady
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


def test_noise_is_no_drift():
    noisy = [1_000 + 200 * (index % 2) for index in range(60)]
    (found,) = run(subject("a", *noisy))
    assert found.steady


def test_what_fails_leaves_the_block_and_the_others_go_on():
    bad, good = run(subject("bad", *[1_000] * 10, None), subject("good"))
    assert (bad.failure, good.failure) == ("scripted", "")
    assert len(good.turns) == 6
    assert FakeRunning.alive == set()


def test_a_block_in_which_all_fail_is_over():
    assert [one.failure for one in run(subject("bad", None), subject("worse", None))] == ["scripted", "scripted"]


def test_where_memory_is_short_those_that_are_not_pinned_live_one_after_the_other(monkeypatch):
    memory = psutil.virtual_memory()
    heavy = [subject(name, pinned=False, bytes=memory.total) for name in ("x", "y", "z")]
    *light, x, y, z = run(subject("a"), subject("b"), *heavy)
    assert FakeRunning.most == 3
    sweeps = [{sweep for sweep, _ in one.turns} for one in (x, y, z)]
    assert sorted(map(min, sweeps)) == [0, 6, 12]
    assert all({sweep for sweep, _ in one.turns} == set(range(18)) for one in light)


def test_where_there_is_memory_all_live_together():
    run(subject("a"), *[subject(name, pinned=False, bytes=1) for name in ("x", "y", "z")])
    assert FakeRunning.most == 4


def test_sweeps_end_with_their_time_but_not_before_the_fewest():
    (found,) = run(subject("a"), effort=Effort(sweeps=50, fewest=3, longest_s=0.0, warmup_s=(0.0, 1.0)))
    assert len(found.turns) == 3


def test_a_wave_has_time_by_how_many_live_in_it(monkeypatch):
    monkeypatch.setattr(block.time, "monotonic", itertools.count().__next__)  # a second passes at every look
    memory = psutil.virtual_memory()
    heavy = [subject(name, pinned=False, bytes=memory.total) for name in ("x", "y", "z")]
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
            (_, found) = block.run([subject("a"), subject("b", kept=True)], EFFORT, "1", kept=kept)
            assert not found.failure
            assert FakeRunning.alive == {"b"}
        assert FakeRunning.log.count("another") == 1
        kept.begin(1)
        assert FakeRunning.alive == set()


@pytest.mark.parametrize("fault", [{"stubborn": True}, {"lengths": (None,)}], ids=["does not end", "failed"])
def test_a_kept_process_that_does_not_end_its_program_or_failed_is_ended(fault):
    with Kept() as kept:
        block.run([Subject("a", fault, kept=True)], EFFORT, "1", kept=kept)
        assert FakeRunning.alive == set()


class Scripted(Running):
    """Answers so, and has used CPU time before and after a turn."""

    def __init__(self, subject, answer, *used):
        super().__init__(subject, Path("/nowhere"), limit_s=60)
        self._parked, self._channel = [], SimpleNamespace(sendall=lambda _: None)
        self.cpu_ns = iter(used).__next__
        self._answer = lambda *_: answer


@pytest.mark.real
@pytest.mark.parametrize(("alone", "cpu_ns"), [(True, 70), (False, 80)])
def test_cpu_time_is_what_one_thread_says_of_its_timed_rounds_and_a_share_of_all_that_several_took(alone, cpu_ns):
    answer = {"rounds": 4, "wall_ns": 100, "cpu_ns": 70, "all_rounds": 6}
    running = Scripted(Subject("a", {}, on_one_cpu=alone), answer, {1: 10, 2: 5}, {1: 100, 2: 35})
    assert running.turn(100, 50).cpu_ns == cpu_ns


SHORT = Effort(sweeps=3, turn_ns=2_000_000, waking_ns=0, warmup_ns=2_000_000, warmup_s=(0.0, 0.2), limit_s=60)
PARAMETERS = {"actors": 2, "env": "CartPole-v1"}


@pytest.mark.real
def test_real_backends_compute_the_same_and_idle_between_turns(tmp_path):
    names = ["serial", "reactor-inline", "reactor-threads", "reactor-processes", "gymnasium-async"]
    subjects = [Subject(name, workload_order("gym_sampling", name, PARAMETERS, 20), matched=True) for name in names]
    found = block.run(subjects, SHORT, "1", lambda one: tmp_path / one.name)
    assert [one.failure for one in found] == [""] * len(names)
    assert len({one.digest for one in found}) == 1
    assert all(len(one.turns) == 3 and one.startup_ns > 0 and one.peak_bytes > 2**20 for one in found)
    assert all(
        turn.rounds >= 1 and turn.wall_ns > 0 and turn.cpu_ns > 0 for one in found for turn in one.turns.values()
    )


@pytest.mark.real
def test_one_process_runs_several_programs_which_compute_what_fresh_ones_do(tmp_path):
    orders = [workload_order("gym_sampling", "serial", PARAMETERS | {"actors": actors}, 20) for actors in (1, 2)]
    logs, pids, digests = (lambda one: tmp_path / one.name), set(), []
    with Kept() as kept:
        for order in orders:
            (found,) = block.run([Subject("a", order, kept=True)], SHORT, "1", logs, kept=kept)
            digests.append(found.digest)
            pids |= {tuple(running.pids) for running in kept._waiting.values()}
        assert kept.logs == {tmp_path / "a"}
    assert len(pids) == 1
    assert not any(psutil.pid_exists(pid) for own in pids for pid in own)
    assert digests == [block.run([Subject("b", order)], SHORT, "1", logs)[0].digest for order in orders]


@pytest.mark.real
def test_a_kept_process_that_died_is_replaced_by_a_fresh_one(tmp_path):
    asked = Subject("a", workload_order("gym_sampling", "serial", PARAMETERS, 20), kept=True)
    found, pids = [], []
    with Kept() as kept:
        for _ in range(2):
            (one,) = block.run([asked], SHORT, "1", lambda one: tmp_path / one.name, kept=kept)
            found.append((one.failure, one.digest))
            (running,) = kept._waiting.values()
            processes = [psutil.Process(pid) for pid in running.pids]
            pids.append(running.pids)
            for process in processes:
                process.kill()
            psutil.wait_procs(processes, timeout=60)
            assert running.has_ended
    assert found[0] == found[1]
    assert found[0][0] == ""
    assert not set(pids[0]) & set(pids[1])


@pytest.mark.parametrize(("sleeps", "waited_ns"), [(0, 0), (0, 90), (0, 99), (98, 0), (98, 1), (90, 9)])
def test_only_who_never_sleeps_takes_a_whole_core_be_it_alone_or_beside_others(sleeps, waited_ns):
    share = share_of_core(100 - sleeps - waited_ns, 100, waited_ns)
    assert share == 1 if not sleeps else share < 0.1


@pytest.fixture
def spinning(tmp_path):
    """Runs a subject that is busy without a turn."""
    order = {"kernel": "tests.harness.measure.busy:spin", "parameters": {}}
    with Running(Subject("spin", order), tmp_path / "log", 60) as running:
        running.settle()
        yield running


@pytest.mark.real
def test_a_subject_is_parked_where_it_is_busy_without_a_turn(spinning):
    while not spinning.parked:
        spinning.park()
    assert spinning.spins
    while {psutil.Process(pid).status() for pid in spinning.pids} != {"stopped"}:
        pass  # the test's own limit ends it
    before = spinning.cpu_ns()
    assert spinning.cpu_ns() == before
    tree = spinning.pids
    spinning.__exit__(None, None, None)
    assert not any(psutil.pid_exists(pid) for pid in tree)


@pytest.mark.real
def test_a_busy_daemon_of_rays_has_nothing_stopped(spinning, monkeypatch):
    monkeypatch.setattr(processes, "_NEVER_PARKED", {psutil.Process(pid).name() for pid in spinning.pids})
    while not spinning._busy_shares():
        pass  # the test's own limit ends it
    spinning.park()
    assert (spinning.parked, spinning.spins) == (0, False)


@pytest.mark.real
def test_no_subject_is_left_behind_stopped_where_its_supervisor_was_killed(spinning):
    while not spinning.parked:
        spinning.park()
    parked = [psutil.Process(pid) for pid in spinning.pids]
    spinning._supervisor.kill()
    with pytest.raises(SubjectError, match=r"^the subject's supervisor died$"):
        spinning.ask()
    spinning.__exit__(None, None, None)
    give_up = time.monotonic() + 30
    while any(map(lives, parked)):
        assert time.monotonic() < give_up


def lives(process):
    with contextlib.suppress(psutil.NoSuchProcess):
        return process.status() != psutil.STATUS_ZOMBIE
    return False


@pytest.mark.real
def test_whoever_cannot_be_parked_for_want_of_descriptors_is_left_as_it_is(spinning, monkeypatch):
    asked = []

    def exhausted(pid):
        asked.append(pid)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(processes, "Handle", exhausted)
    while not asked:
        spinning.park()
    assert spinning.parked == 0


@pytest.mark.real
@pytest.mark.parametrize(("lead_ns", "limit"), [(0, "60 s"), (1, "120 s")])
def test_a_lead_has_time_of_its_own(spinning, monkeypatch, lead_ns, limit):
    monkeypatch.setattr(subject_module, "_readable", lambda *_: set())  # nobody answers, whatever the time
    with pytest.raises(SubjectError, match=rf"^time limit: no result after {limit}$"):
        spinning.turn(1, lead_ns)


@pytest.fixture
def many_descriptors():
    """More are open than `select` takes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 4096)), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
    yield
    for descriptor in opened:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.real
@pytest.mark.usefixtures("many_descriptors")
def test_a_subject_is_heard_on_descriptors_of_any_number(tmp_path):
    order = {"call": "tests.harness.measure.busy:orphans", "arguments": [1]}
    with Running(Subject("orphans", order), tmp_path / "log", 60) as running:
        assert running.ask() == 1


@pytest.mark.real
def test_a_process_that_ends_with_an_order_unread_has_ended(tmp_path):
    order = {"kernel": "tests.harness.measure.busy:leave", "parameters": {}}
    with Running(Subject("leave", order), tmp_path / "log", 60) as running:
        running.settle()
        with pytest.raises(SubjectError, match=r"^exited with status 3 before reporting a result$"):
            running.turn(1_000, 0)


@pytest.mark.real
def test_a_supervisor_lives_with_the_end_of_many_orphans(tmp_path):
    order = {"call": "tests.harness.measure.busy:orphans", "arguments": [60]}
    with Running(Subject("orphans", order), tmp_path / "log", 60) as running:
        assert running.ask() == 60
