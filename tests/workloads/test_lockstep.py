"""Plain loops in lockstep: every member takes part in every round, and nothing outlives the loop."""

import contextlib
import os
import signal
import threading
import time
from collections import Counter
from multiprocessing import active_children, get_context
from pathlib import Path

import pytest

from workloads import lockstep
from workloads.catalogue import execute
from workloads.lockstep import Lockstep


@pytest.fixture(params=[1, 2, 3])
def cores(request, monkeypatch):
    monkeypatch.setattr(lockstep, "available_cpus", lambda: request.param)
    return request.param


def test_every_member_does_its_part_of_every_round_on_one_of_the_cores(cores, tmp_path):
    def make(index):
        def part():
            with (tmp_path / str(index)).open("a") as log:
                print(os.getpid(), time.monotonic_ns(), file=log)
            return index

        return part

    with Lockstep(5, make) as loop:
        began, own = [], []
        for _ in range(4):
            began.append(time.monotonic_ns())
            own.append(loop.round())
    ended = time.monotonic_ns()
    lines = [[line.split() for line in (tmp_path / str(index)).read_text().splitlines()] for index in range(5)]
    shares = Counter(pid for member in lines for pid in {pid for pid, _ in member})
    assert sorted(shares.values()) == {1: [5], 2: [2, 3], 3: [1, 2, 2]}[cores]
    assert own == [list(range(shares[str(os.getpid())]))] * 4
    for member in lines:
        assert len(member) == 4
        for (_, at), before, after in zip(member, began, [*began[1:], ended], strict=True):
            assert before < int(at) < after
    assert not active_children()


@pytest.mark.parametrize("failing", [False, True])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_threads_have_their_shares_and_end_with_the_loop(cores, failing):
    threads, before = {}, set(threading.enumerate())

    def make(index):
        def part():
            threads[index] = threading.get_ident()
            return 1 // (1 - failing * (index == 4))

        return part

    with contextlib.ExitStack() as stack:
        if failing:
            stack.enter_context(pytest.raises(RuntimeError if cores > 1 else ZeroDivisionError))
        with Lockstep(5, make, threads=True) as loop:
            assert loop.round() == [1] * Counter(threads.values())[threading.get_ident()]
    assert len(set(threads.values())) == cores
    assert set(threading.enumerate()) <= before


def test_who_waits_long_sleeps_and_goes_on():
    def make(index):
        return lambda: time.sleep(0.03 * index)

    with Lockstep(2, make) as loop:
        for _ in range(3):
            loop.round()
            time.sleep(0.02)


def test_a_part_that_fails_in_another_process_ends_the_loop(monkeypatch, capfd):
    monkeypatch.setattr(lockstep, "available_cpus", lambda: 2)

    def make(index):
        return lambda: 1 // (1 - index)

    with Lockstep(2, make) as loop, pytest.raises(RuntimeError, match="has ended before the others"):
        loop.round()
    assert "ZeroDivisionError" in capfd.readouterr().err
    assert not active_children()


@pytest.mark.parametrize("failing", [0, 1])
def test_a_member_that_cannot_be_made_leaves_no_process(monkeypatch, capfd, failing):
    monkeypatch.setattr(lockstep, "available_cpus", lambda: 3)
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir()))

    def make(index):
        return 1 // (index - failing) and (lambda: None)

    with pytest.raises(RuntimeError if failing else ZeroDivisionError), Lockstep(3, make):
        pytest.fail("it began")
    assert not active_children()
    assert len(list(descriptors.iterdir())) <= before


def test_a_process_whose_parent_was_killed_ends(monkeypatch, tmp_path):
    monkeypatch.setattr(lockstep, "available_cpus", lambda: 2)

    def parent():
        def make(index):
            (tmp_path / f"{index}").write_text(str(os.getpid()))
            return lambda: None

        with Lockstep(2, make):
            os.kill(os.getpid(), signal.SIGKILL)

    process = get_context("fork").Process(target=parent)
    process.start()
    process.join(20)
    orphan = Path(f"/proc/{(tmp_path / '1').read_text()}/stat")
    limit = time.monotonic() + 20
    while time.monotonic() < limit and orphan.exists() and orphan.read_text().split()[2] != "Z":
        time.sleep(0.02)
    assert not orphan.exists() or orphan.read_text().split()[2] == "Z"


@pytest.mark.parametrize(
    ("workload", "values"),
    [
        ("gym_sampling", {"actors": 3, "steps_per_message": 2}),
        ("atari_sampling", {"actors": 2, "env": "Pong"}),
        ("q_learning", {"actors": 3}),
        ("multi_agent", {"agents": 3}),
        ("ppo", {"actors": 3, "steps": 4}),
        ("multi_agent", {"agents": 3, "representation": "tensors"}),
    ],
    ids=["CartPole", "Pong", "Q-learning", "Traffic Junction", "PPO", "tensors"],
)
@pytest.mark.parametrize("backend", ["lockstep", "lockstep-threads"])
def test_workloads_run_in_lockstep(workload, values, backend):
    before = set(threading.enumerate())
    outcome = execute(workload, backend, {**values, "rounds": 4, "warmup_rounds": 1}, verify=False)
    assert len(outcome.round_ns) == 4
    assert not active_children()
    assert set(threading.enumerate()) <= before
