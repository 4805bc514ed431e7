"""`python -m tests.reactorlib.executors.driven WHAT LOG`: a session on processes, and how it comes to its end."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from reactorlib import Bank, Input, Output, Reactor, RunError, Session, connect, reaction, shutdown, startup
from tests.reactorlib.executors.programs import note


def rest() -> None:
    """Sleep for a minute, in naps: a signal just before one long sleep would wait for its end."""
    for _ in range(600):
        time.sleep(0.1)


class Echo(Reactor):
    inp = Input[Any]()
    out = Output[Any]()

    def __init__(self, log: str) -> None:
        self.log = log

    @reaction(startup)
    def begin(self) -> None:
        note(self.log, f"echo {self.bank_index} pid {os.getpid()}")

    @reaction(inp, effects=out)
    def answer(self, inp, out) -> None:
        if inp.value == "sleep":
            os.write(1, b"ready\n")
        if inp.value in ("sleep", "rest"):
            rest()
        if inp.value == "die" and self.bank_index == 1:
            os._exit(3)
        out.set(inp.value)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, f"echo {self.bank_index} ended")


class Echoes(Reactor):
    inp = Input[Any]()
    out = Output[Any](width=3)

    def __init__(self, log: str) -> None:
        self.echoes = Bank(Echo, 3, log)
        connect(self.inp, self.echoes.inp)
        connect(self.echoes.out, self.out)


def opened(log: str = "", **options: Any) -> Session:
    session = Session(Echoes, log=log, **{"executor": "processes", "workers": 3, **options})
    assert session.step(inp=1) == {"out": [1, 1, 1]}
    return session


def idle(log: str) -> None:
    """Between two steps, until a signal comes."""
    with opened(log):
        os.write(1, b"ready\n")
        rest()


def other_thread(log: str) -> None:
    """The thread that opened the session has ended, a step goes on."""
    sessions: list[Session] = []
    thread = threading.Thread(target=lambda: sessions.append(opened(log)))
    thread.start()
    thread.join()
    sessions[0].step(inp="sleep")


def in_step(log: str) -> None:
    with opened(log) as session:
        session.step(inp="sleep")


def between(log: str) -> None:
    """A step has begun and is not finished: the other workers are in it."""
    with opened(log) as session:
        session.begin(inp="rest")
        os.write(1, b"ready\n")
        rest()


def forgotten(log: str) -> None:
    """At exit a session is open."""
    globals()["kept"] = opened(log)


def collected(log: str) -> None:
    session: Session | None = opened(log)
    descriptors = len([*Path("/proc/self/fd").iterdir()])
    del session
    gc.collect()
    assert len([*Path("/proc/self/fd").iterdir()]) < descriptors
    os.write(1, b"ready\n")
    rest()


def use_copy(session: Session, log: str) -> None:
    try:
        session.step(inp=1)
    except RunError as error:
        note(log, str(error))
    assert session.close() is None
    session.kill()


def forked(log: str) -> None:
    """A copy of a session in a forked process closes nothing."""
    session = opened(log)
    child = multiprocessing.get_context("fork").Process(target=use_copy, args=(session, log))
    child.start()
    child.join()
    assert child.exitcode == 0
    assert session.step(inp=2) == {"out": [2, 2, 2]}
    session.close()


WHAT: dict[str, Callable[[str], None]] = {
    function.__name__: function for function in (idle, other_thread, in_step, between, forgotten, collected, forked)
}


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)
    WHAT[sys.argv[1]](sys.argv[2])
