"""Subjects in real processes: what they compute, how they are parked, and how they end."""

import errno
import os
import resource
import shutil
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from harness.measure import block, measured_processes, processes
from harness.measure.block import Effort
from harness.measure.kept import Kept
from harness.measure.measured_processes import Running, Subject, SubjectError, share_of_core, workload_order
from tests.harness.measure.fake_run import alive, wait_until


class Scripted(Running):
    """Answers so, and has used CPU time before and after a turn."""

    def __init__(self, subject, answer, *used):
        super().__init__(subject, Path("/nowhere"), limit_s=60)
        self._parked, self._channel = [], SimpleNamespace(sendall=lambda _: None)
        self.cpu_ns = iter(used).__next__
        self._answer = lambda *_: answer


@pytest.mark.parametrize(("alone", "cpu_ns"), [(True, 70), (False, 80)])
def test_cpu_time_is_what_one_thread_says_of_its_timed_rounds_and_a_share_of_all_that_several_took(alone, cpu_ns):
    answer = {"rounds": 4, "wall_ns": 100, "cpu_ns": 70, "all_rounds": 6}
    running = Scripted(Subject("a", {}, on_one_cpu=alone), answer, {1: 10, 2: 5}, {1: 100, 2: 35})
    assert running.turn(100, 50).cpu_ns == cpu_ns


SHORT = Effort(sweeps=3, turn_ns=2_000_000, waking_ns=0, warmup_ns=2_000_000, warmup_s=(0.0, 0.2), limit_s=60)
PARAMETERS = {"actors": 2, "env": "CartPole-v1"}


def test_real_backends_compute_the_same_and_idle_between_turns(tmp_path):
    names = ["serial", "reactor-inline", "reactor-threads", "reactor-processes", "gymnasium-async"]
    subjects = [Subject(name, workload_order("gym_sampling", name, PARAMETERS, 20), matched=True) for name in names]
    found = list(block.run(subjects, SHORT, "1", lambda one: tmp_path / one.name).values())
    assert [one.failure for one in found] == [""] * len(names)
    assert len({one.digest for one in found}) == 1
    assert all(len(one.turns) == 3 and one.startup_ns > 0 and one.peak_bytes > 2**20 for one in found)
    assert all(
        turn.rounds >= 1 and turn.wall_ns > 0 and turn.cpu_ns > 0 for one in found for turn in one.turns.values()
    )


def test_a_program_of_another_tree_works_in_that_tree(tmp_path):
    for package in ("reactorlib", "workloads"):
        shutil.copytree(measured_processes.OWN_TREE / package, tmp_path / package)
    for tree, directory in ((measured_processes.OWN_TREE, Path.cwd()), (tmp_path, tmp_path)):
        subject = Subject("cwd", {"call": "os:getcwd", "arguments": []}, tree=tree)
        with Running(subject, tmp_path / "log", 60) as running:
            assert running.ask() == str(directory)


def test_one_process_runs_several_programs_which_compute_what_fresh_ones_do(tmp_path):
    orders = [workload_order("gym_sampling", "serial", PARAMETERS | {"actors": actors}, 20) for actors in (1, 2)]
    logs, pids, digests = (lambda one: tmp_path / one.name), set(), []
    with Kept() as kept:
        for order in orders:
            found = block.run([Subject("a", order, kept=True)], SHORT, "1", logs, kept=kept)
            digests.append(found["a"].digest)
            pids |= {tuple(running.pids) for running in kept._waiting.values()}
        assert kept.logs == {tmp_path / "a"}
    assert len(pids) == 1
    assert not any(psutil.pid_exists(pid) for own in pids for pid in own)
    assert digests == [block.run([Subject("b", order)], SHORT, "1", logs)["b"].digest for order in orders]


def test_a_kept_process_that_died_is_replaced_by_a_fresh_one(tmp_path):
    asked = Subject("a", workload_order("gym_sampling", "serial", PARAMETERS, 20), kept=True)
    found, pids = [], []
    with Kept() as kept:
        for _ in range(2):
            one = block.run([asked], SHORT, "1", lambda one: tmp_path / one.name, kept=kept)["a"]
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


def test_a_busy_daemon_of_rays_has_nothing_stopped(spinning, monkeypatch):
    monkeypatch.setattr(processes, "_NEVER_PARKED", {psutil.Process(pid).name() for pid in spinning.pids})
    while not spinning._busy_shares():
        pass  # the test's own limit ends it
    spinning.park()
    assert (spinning.parked, spinning.spins) == (0, False)


def test_no_subject_is_left_behind_stopped_where_its_supervisor_was_killed(spinning):
    while not spinning.parked:
        spinning.park()
    spinning._supervisor.kill()
    with pytest.raises(SubjectError, match=r"^the subject's supervisor died$"):
        spinning.ask()
    spinning.__exit__(None, None, None)
    wait_until(lambda: not alive(spinning.pids))


def test_whoever_cannot_be_parked_for_want_of_descriptors_is_left_as_it_is(spinning, monkeypatch):
    asked = []

    def exhausted(pid):
        asked.append(pid)
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(processes, "Handle", exhausted)
    while not asked:
        spinning.park()
    assert spinning.parked == 0


@pytest.mark.parametrize(("lead_ns", "limit"), [(0, "60 s"), (1, "120 s")])
def test_a_lead_has_time_of_its_own(spinning, monkeypatch, lead_ns, limit):
    monkeypatch.setattr(measured_processes, "_readable", lambda *_: set())  # nobody answers, whatever the time
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


@pytest.mark.usefixtures("many_descriptors")
def test_a_subject_is_heard_on_descriptors_of_any_number_and_after_the_end_of_many_orphans(tmp_path):
    order = {"call": "tests.harness.measure.busy:orphans", "arguments": [60]}
    with Running(Subject("orphans", order), tmp_path / "log", 60) as running:
        assert running.ask() == 60


def test_a_process_that_ends_with_an_order_unread_has_ended(tmp_path):
    order = {"kernel": "tests.harness.measure.busy:leave", "parameters": {}}
    with Running(Subject("leave", order), tmp_path / "log", 60) as running:
        running.settle()
        with pytest.raises(SubjectError, match=r"^exited with status 3 before reporting a result$"):
            running.turn(1_000, 0)
