"""A run among processes, handlers, descriptors and limits that are not its own."""

from __future__ import annotations

import textwrap
import threading
import time
from typing import Any

import pytest

from reactorlib import run
from reactorlib.executors.follower import Follower
from reactorlib.executors.threads import ThreadFollower
from tests.reactorlib.executors.programs import Star
from tests.reactorlib.executors.test_signals import alive
from tests.reactorlib.scripts import LIMIT_S, python

EVERY = pytest.mark.parametrize("executor", ["inline", "threads", "processes"])

BANK = """
import os, resource, signal, subprocess, sys, threading, time
from reactorlib import *

class Member(Reactor):
    tick = Timer(0, 20 * MSEC)

    def __init__(self, act):
        self.act = act

    @reaction(tick)
    def go(self, tick):
        self.act(self.bank_index)

class Everyone(Reactor):
    def __init__(self, act):
        self.members = Bank(Member, 2, act)

def go(act, **more):
    return run(Everyone, act=act, executor=sys.argv[1], workers=2, **more)
"""


def output(executor: str, script: str, quiet: bool = True) -> str:
    """Run BANK, then `script`, and return the standard output. `quiet`: assert that standard error is empty."""
    done = python("-c", BANK + textwrap.dedent(script), executor, start_new_session=True)
    assert not (quiet and done.stderr), done.stderr
    return done.stdout


@EVERY
def test_ctrl_c_reaches_what_a_reaction_started(executor: str) -> None:
    script = """
        me = os.getpid()
        def act(index):
            if index == 1:
                # It naps: a signal just before one long sleep would wait for its end.
                code = "import time; print('up', flush=True); [time.sleep(0.1) for _ in range(600)]"
                child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                                         stderr=subprocess.DEVNULL)
                child.stdout.readline()
                print(child.pid, flush=True)
                os.killpg(me, signal.SIGINT)  # as a terminal does
                child.wait()
        try:
            go(act)
        except KeyboardInterrupt:
            print("interrupted")
    """
    pid, how = output(executor, script).split()
    assert how == "interrupted"
    until = time.monotonic() + LIMIT_S
    while alive(int(pid)) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(int(pid))


@EVERY
def test_a_program_with_a_handler_for_sigterm_goes_on(executor: str) -> None:
    script = """
        signal.signal(signal.SIGTERM, lambda *_: print("noted", flush=True))
        threading.Timer(0.2, lambda: os.killpg(0, signal.SIGTERM)).start()
        print(go(lambda index: None, timeout=1 * SEC).tag)
    """
    assert output(executor, script) == "noted\n(1 s, 0)\n"


@EVERY
@pytest.mark.parametrize("index", [0, 1])
def test_a_process_forked_by_a_reaction_ends_alone(executor: str, index: int) -> None:
    script = f"""
        def act(index):
            if index == {index}:
                child = os.fork()
                if not child:
                    sys.exit(7)
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) in (0, 7), flush=True)
        me = os.getpid()
        result = go(act, timeout=20 * MSEC)
        if os.getpid() == me:
            print(result.tag)
    """
    # multiprocessing itself complains at the end of a child that is not its own.
    assert output(executor, script, quiet=False) == "True\nTrue\n(20 ms, 0)\n"


def test_a_process_forked_by_a_reaction_obeys_sigterm() -> None:
    script = """
        def act(index):
            if index == 1:
                child = os.fork()
                if not child:
                    time.sleep(60)
                while not os.waitpid(child, os.WNOHANG)[0]:
                    os.kill(child, signal.SIGTERM)
                    time.sleep(0.01)
        print(go(act, timeout=20 * MSEC).tag)
    """
    assert output("processes", script, quiet=False) == "(20 ms, 0)\n"


@EVERY
def test_a_run_may_have_thousands_of_open_files(executor: str) -> None:
    script = """
        resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
        keep = [os.open("/dev/null", os.O_RDONLY) for _ in range(1100)]
        print(go(lambda index: None, timeout=40 * MSEC).tag)
    """
    assert output(executor, script) == "(40 ms, 0)\n"


def test_a_limit_of_the_system_costs_no_descriptor() -> None:
    script = """
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        counts = set()
        for _ in range(3):
            try:
                run(Everyone, act=lambda index: None, executor="processes", workers=24, fast=True, timeout=20 * MSEC)
            except WorkerError:
                pass
            counts.add(len(os.listdir("/proc/self/fd")))
        print(len(counts))
    """
    assert output("processes", script) == "1\n"


@EVERY
def test_too_few_descriptors_are_an_error_of_the_run_that_says_so(executor: str) -> None:
    script = """
        run(Everyone, act=lambda index: None, executor=sys.argv[1], workers=3, fast=True, timeout=20 * MSEC)
        kinds = set()
        for limit in range(3, 100, 3):  # multiprocessing loses two descriptors where it gets only those
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
            try:
                run(Everyone, act=lambda index: None, executor=sys.argv[1], workers=3, fast=True, timeout=20 * MSEC)
                kinds.add("ran")
            except WorkerError as error:
                kinds.add("raise `ulimit -n`" in str(error))
        print(sorted(kinds, key=str))
    """
    assert output(executor, script) == ("[True, 'ran']\n" if executor == "processes" else "['ran']\n")  # or needs none


@pytest.mark.parametrize("mib", [2048, 512])
def test_a_run_with_arrays_fits_into_a_limit_of_addresses(mib: int) -> None:
    pytest.importorskip("numpy")
    script = f"""
        resource.setrlimit(resource.RLIMIT_AS, ({mib} << 20, {mib} << 20))
        import numpy as np
        from tests.reactorlib.executors import driven
        with driven.opened(workers=2) as session:
            answers = [session.step(inp=[np.ones(300_000 + size)])["out"] for size in range(3)]
            print([float(answer[1][0][-1]) for answer in answers])
    """
    assert output("processes", script) == "[1.0, 1.0, 1.0]\n"


@EVERY
def test_a_flood_of_physical_actions_does_not_outlast_the_run(executor: str) -> None:
    script = """
        refused = threading.Semaphore(0)

        class Flooded(Reactor):
            event = PhysicalAction[int]()

            @reaction(startup, effects=event)
            def begin(self, event):
                def flood():
                    try:
                        while True:
                            event.schedule(value=1)
                    except RunError:
                        refused.release()
                for _ in range(2):
                    threading.Thread(target=flood, daemon=True).start()

            @reaction(event)
            def take(self, event):
                time.sleep(0.001)

        class Main(Reactor):
            def __init__(self):
                self.flooded, self.everyone = Flooded(), Everyone(lambda index: None)

        print(run(Main, executor=sys.argv[1], workers=2, timeout=100 * MSEC).tag, flush=True)
        print(refused.acquire(timeout=10) and refused.acquire(timeout=10), flush=True)
        os._exit(0)
    """
    assert output(executor, script) == "(100 ms, 0)\nTrue\n"


def test_a_thread_that_leaves_while_it_is_looked_at_has_not_died(monkeypatch: pytest.MonkeyPatch) -> None:
    is_alive = threading.Thread.is_alive

    def once_it_has_left(thread: threading.Thread) -> bool:
        if thread.name.startswith("reactor worker"):
            thread.join(0.2)
        return is_alive(thread)

    def end_late(follower: ThreadFollower, *arguments: Any) -> None:
        time.sleep(0.15)  # worker 0 looks after 50 ms
        Follower._end(follower, *arguments)

    monkeypatch.setattr(threading.Thread, "is_alive", once_it_has_left)
    monkeypatch.setattr(ThreadFollower, "_end", end_late)
    assert run(Star, executor="threads", workers=3).workers == 3


@EVERY
def test_a_worker_process_exempts_what_it_has_made_from_garbage_collections(executor: str) -> None:
    script = """
        import gc
        made = ["before the run"]
        def act(index):
            sys.stdout.write(f"{index} {any(one is made for one in gc.get_objects())}\\n")
            sys.stdout.flush()
        go(act, timeout=0)
    """
    others = "0 True", f"1 {executor != 'processes'}"  # a process that is the user's is left as it is
    assert sorted(output(executor, script).splitlines()) == sorted(others)
