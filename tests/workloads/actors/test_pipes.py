"""What the contract of actor systems leaves open: the processes of `pipes`, and faults of values and calls."""

import os
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest

from tests.pages import ROOT
from tests.workloads.actors.echo import Echo, EchoError
from workloads.actors import pipes
from workloads.actors.system import ActorDiedError
from workloads.probe import Probe
from workloads.ray_styles import THREAD_LIMITS


@pytest.fixture
def system():
    with pipes.System(Probe(1, 0, False)) as system:
        system.start(Echo, [(0,), (1,)])
        system.await_actors(lambda: 0)
        yield system


class LocalError(Exception):
    """An exception that pickles, and not back."""

    def __init__(self, first, second):
        super().__init__(f"{first} {second}")


class Faulty(Echo):
    """An actor whose replies can't be sent."""

    def unsendable(self):
        return lambda: 0

    def unreadable(self):
        raise LocalError("one", "two")


def test_a_reply_or_exception_that_cannot_be_sent_is_an_error_and_the_actor_lives_on():
    with pipes.System(Probe(1, 0, False)) as system:
        system.start(Faulty, [(0,)])
        system.await_actors(lambda: 0)
        with pytest.raises(Exception, match="pickle"):
            system.send("unsendable")()
        with pytest.raises(RuntimeError, match="LocalError: one two"):
            system.send("unreadable")()
        with pytest.raises(AttributeError, match="unknown"):
            system.send("unknown")()
        assert system.send("tell", 1)() == [(0, 1)]


def test_a_call_that_cannot_be_sent_reaches_no_actor(system):
    with pytest.raises(Exception, match="pickle"):
        system.send("echo", lambda: 0)
    assert system.send("tell", 1)() == [(0, 1), (1, 1)]


def test_large_replies_that_nobody_has_asked_for_are_not_overwritten(system):
    asked = [system.send_to(actor, "doubled", np.full(10_000, float(actor))) for actor in (0, 1)]
    for number in range(100):
        system.send("add", number)
    for number in range(5, 10):
        assert {float(reply[-1]) for reply in system.send("doubled", np.full(10_000, float(number)))()} == {
            2.0 * number
        }
    assert [float(reply[-1]) for receive in asked for reply in receive()] == [0.0, 2.0]


def test_memory_is_used_again_for_a_value_that_is_as_large(system):
    value = np.ones(100_000)
    system.send("echo", value)()
    descriptors = psutil.Process().num_fds()
    for _ in range(10):
        system.send("echo", value)()
    assert psutil.Process().num_fds() == descriptors


def test_a_message_may_have_thousands_of_large_arrays(system):
    values = [np.full(17_000, number % 100, np.int8) for number in range(5_000)]
    for found in system.send("echo", values)():
        assert [array[0] for array in found] == [array[0] for array in values]


def test_an_actor_that_does_not_reply_in_time_is_given_up_and_killed(system, tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "REPLY_LIMIT_S", 0.5)
    monkeypatch.setattr(pipes, "_ENDING_LIMIT_S", 0.5)
    with pytest.raises(TimeoutError, match=r"actor 0 has not replied"):
        system.send_to(0, "wait_for", str(tmp_path / "never"))()
    with pytest.raises(ActorDiedError):
        system.send_to(0, "tell", 1)()
    assert system.send_to(1, "tell", 1)() == [(1, 1)]


def test_a_dead_actor_is_noticed_whose_connection_another_process_keeps(system, tmp_path):
    system.send_to(0, "leave_a_child", str(tmp_path / "end"))()
    began = time.monotonic()
    with pytest.raises(ActorDiedError, match="actor 0"):
        system.send("die", 0)()
    assert time.monotonic() - began < 10
    (tmp_path / "end").touch()


@pytest.mark.parametrize(("threads", "method"), [(1, "fork"), (2, "spawn")])
def test_only_a_process_with_one_thread_is_forked(threads, method, monkeypatch):
    monkeypatch.setattr(pipes.psutil.Process, "num_threads", lambda _: threads)
    asked = []
    context = pipes.multiprocessing.get_context
    monkeypatch.setattr(pipes.multiprocessing, "get_context", lambda name: asked.append(name) or context(name))
    with pipes.System(Probe(1, 0, False)) as system:
        system.start(Echo, [(0,), (1,)])
        system.await_actors(lambda: 0)
        assert system.send("doubled", np.ones(100_000))()[1].sum() == 200_000
        with pytest.raises(EchoError):
            system.send("fail", 0)()
    assert asked == [method]


KILLED = """
import os, signal, sys
from tests.workloads.actors.echo import Echo
from workloads.actors.system import load
from workloads.probe import Probe

system = load("pipes")(Probe(1, 0, False))
system.start(Echo, [(0,), (1,), (2,)])
system.await_actors(lambda: 0)
system.send_to(0, "wait_for", "/nowhere")
print(*(process.pid for process in system._processes), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_the_actors_of_a_killed_driver_end_also_in_the_midst_of_a_call():
    script = [sys.executable, "-c", KILLED]
    environment = os.environ | THREAD_LIMITS  # so that it has one thread, and forks
    done = subprocess.run(script, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 3
    give_up = time.monotonic() + 10
    while any(map(is_running, pids)):
        assert time.monotonic() < give_up
        time.sleep(0.05)


def is_running(pid):
    return psutil.pid_exists(pid) and psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
