"""A process is forked while another thread runs a program. It runs programs: no lock was copied while held."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

import pytest

from reactorlib import Bank, Input, Output, Program, Reactor, Timer, connect, elaborate, reaction, run
from tests.reactorlib.executors.conftest import PATIENCE_S

OPTIONS: dict[str, dict[str, Any]] = {
    name: {"executor": name} | ({} if name == "inline" else {"workers": 2})
    for name in ("inline", "threads", "processes")
}
FUNCTIONS = ["Unused.pop", "limit", "Executor.loader"]  # each once ran while a lock was held


class Leaf(Reactor):
    inp = Input[int]()

    @reaction(inp)
    def hear(self, inp) -> None: ...


class Hub(Reactor):
    tick = Timer(0)
    out = Output[int]()

    @reaction(tick, effects=out)
    def give(self, tick, out) -> None:
        out.set(1)


class Main(Reactor):
    def __init__(self) -> None:
        self.hub, self.leaf = Hub(), Bank(Leaf, 2)
        connect(self.hub.out, self.leaf.inp, repeat=True)


class Unused(list[bool]):
    """That of a program, whose method is in Python."""

    def pop(self, *at: Any) -> bool:
        return super().pop(*at)


class Halted:
    """A run in a thread, which waits at its call or return of this number, or at the first of a function."""

    def __init__(self, program: Program, options: dict[str, Any], where: int | str) -> None:
        self.place = ""  # where it waits
        self._process = os.getpid()
        self._program, self._options, self._where, self._count = program, options, where, 0
        self._reached, self._left = threading.Event(), threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self._reached.wait(PATIENCE_S)

    def _run(self) -> None:
        sys.setprofile(self._at)
        try:
            run(self._program, **self._options)
        finally:
            sys.setprofile(None)
            self._reached.set()

    def _at(self, frame: FrameType, event: str, _argument: Any) -> None:
        code = frame.f_code
        self._count += event in ("call", "return") and f"{os.sep}reactorlib{os.sep}" in code.co_filename
        if os.getpid() != self._process:  # a worker, with a copy of this
            sys.setprofile(None)
        elif not self.place and self._where in (self._count, code.co_qualname):
            self.place = f"{event} of {code.co_qualname}"
            self._reached.set()
            self._left.wait(PATIENCE_S)

    def end(self) -> None:
        self._left.set()
        self.thread.join(PATIENCE_S)


def status_of_a_fork(program: Program, options: dict[str, Any]) -> int:
    """The exit status of a forked process that runs this; negative if it had to be killed."""
    child = os.fork()
    if not child:
        try:
            run(program, **options)
            os._exit(0)
        finally:
            os._exit(3)
    until = time.monotonic() + PATIENCE_S
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
        if time.monotonic() > until:
            os.kill(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
            break
        time.sleep(0.001)
    return os.waitstatus_to_exitcode(ended[1])


def tried(executor: str, where: int | str) -> tuple[str, int]:
    """Where the run of the other thread waited, and the status of a process that was forked meanwhile."""
    program = elaborate(Main)
    object.__setattr__(program, "unused", Unused(program.unused))
    halted = Halted(program, OPTIONS[executor], where)
    try:
        return halted.place, status_of_a_fork(program, OPTIONS[executor]) if halted.place else 0
    finally:
        halted.end()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_fork_while_another_thread_is_in_a_function_of_a_run_copies_no_lock(function: str) -> None:
    assert tried("threads", function) == (f"call of {function}", 0)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("executor", OPTIONS)
def test_a_fork_at_any_moment_of_a_run_in_another_thread_copies_no_lock(executor: str) -> None:
    run(Main, **OPTIONS[executor])  # imports what a run imports
    found = [("", 0)]
    while not found[1:] or found[-1][0]:
        found.append(tried(executor, len(found)))
    assert [(number, *one) for number, one in enumerate(found) if one[1]] == []
