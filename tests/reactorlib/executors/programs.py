"""Programs in which something goes wrong on a chosen worker at a chosen round, and what they leave behind."""

from __future__ import annotations

import ctypes
import hashlib
import os
import signal
import sys
import threading
import time
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, request_stop, shutdown, startup
from tests.reactorlib.conformance.reactors import Source

LONG_S = 60.0
NAP_S = 5.0  # Python handles a signal that comes just before a sleep only after it
IDLE = "idle"
ON_EACH_ITS_OWN = {"Star.leaf[1]": 1, "Star.leaf[2]": 2}  # leaf[0] with the hub, on worker 0


def note(log: str, text: str) -> None:
    """Append a line to a file, if there is one: a test can read it of every process."""
    if log:
        with Path(log).open("a") as file:
            file.write(f"{text}\n")


def noted(log: str | Path) -> list[str]:
    """The lines so far."""
    path = Path(log)
    return path.read_text().splitlines() if path.exists() else []


class UnportableError(Exception):
    """Cannot be pickled: it holds a lock."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.lock = threading.Lock()


class TwoArgumentsError(Exception):
    """Can be pickled and not rebuilt: that takes one argument."""

    def __init__(self, who: str, what: str) -> None:
        super().__init__(f"{who} {what}")


class RepeatingError(Exception):
    """Is rebuilt from its words, and so says more than before."""

    def __init__(self, who: str) -> None:
        super().__init__(f"got {who}")


class WordlessError(Exception):
    """Cannot say what it is about."""

    def __str__(self) -> str:
        raise ZeroDivisionError


class NativeError(Exception):
    """Can be rebuilt by the process that raised it and by no other."""

    def __reduce__(self) -> Any:
        return _of_process, (*self.args, os.getpid())


def _of_process(text: str, pid: int) -> NativeError:
    if pid != os.getpid():
        raise OSError(f"made by process {pid}")
    return NativeError(text)


def pass_time(asleep: bool) -> None:
    """Take a minute, asleep or in pure Python."""
    until = time.monotonic() + LONG_S
    while time.monotonic() < until:
        if asleep:
            time.sleep(NAP_S)


ERRORS: dict[str, type[Exception]] = {
    "raise": ValueError,
    "raise unportable": UnportableError,
    "raise wordless": WordlessError,
    "raise native": NativeError,
    "raise repeating": RepeatingError,
}


def go_wrong(how: str, who: str) -> Any:
    """Raise, die, return a value that cannot travel, or take long after the word "ready"."""
    if how in ERRORS:
        raise ERRORS[how](f"{who} failed")
    if how in ("ready", IDLE, "sleep", "compute", "compute in C", "sleep in C"):
        os.write(1, b"ready\n")
    match how:
        case "raise two arguments":
            raise TwoArgumentsError(who, "failed")
        case "exit":
            sys.exit(3)
        case "exit at once":
            os._exit(5)
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "sleep" | "compute":
            pass_time(how == "sleep")
        case "compute in C":
            hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)  # no signal handler runs meanwhile
        case "sleep in C":  # each signal ends one of these sleeps, and no handler runs in between
            list(map(ctypes.CDLL(None).sleep, [round(LONG_S)] * 5))
        case "unpicklable":
            return lambda: who
    return how


class Hub(Reactor):
    """Sends the number of the round, waits for all replies; `rounds` 0 never ends."""

    replies = Input[Any](width="leaves")
    request = Output[int]()

    def __init__(self, leaves: int, rounds: int, faults: dict[str, tuple[int, str]], log: str) -> None:
        self.rounds = rounds
        self.fault = faults.get("hub")
        self.log = log
        self.round = 0

    @reaction(startup, effects=request)
    def begin(self, request) -> None:
        request.set(0)

    @reaction(replies, effects=request)
    def gather(self, replies, request) -> None:
        assert all(reply.is_present for reply in replies)
        self.round += 1
        if self.fault is not None and self.fault[0] == self.round and go_wrong(self.fault[1], "hub") == IDLE:
            return
        if self.round == self.rounds:
            request_stop()
        else:
            request.set(self.round)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, "hub ended")


class Leaf(Reactor):
    """Answers. Its fault comes at a round, at "startup" or at "shutdown"."""

    request = Input[int]()
    reply = Output[Any]()

    def __init__(self, faults: dict[str, tuple[Any, str]], log: str) -> None:
        self.name = f"leaf {self.bank_index}"
        self.fault = faults.get(self.name, (None, ""))
        self.log = log

    @reaction(startup)
    def begin(self) -> None:
        note(self.log, f"{self.name} pid {os.getpid()}")
        if self.fault[0] == "startup":
            go_wrong(self.fault[1], self.name)

    @reaction(request, effects=reply)
    def answer(self, request, reply) -> None:
        value = go_wrong(self.fault[1], self.name) if self.fault[0] == request.value else request.value
        reply.set(value)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, f"{self.name} ended")
        if self.fault[0] == "shutdown":
            go_wrong(self.fault[1], self.name)


class Star(Reactor):
    """A hub and three leaves, by ON_EACH_ITS_OWN one on each worker of three."""

    def __init__(
        self,
        log: str = "",
        faults: dict[str, tuple[Any, str]] = MappingProxyType({}),
        rounds: int = 10,
        leaves: int = 3,
    ) -> None:
        self.hub = Hub(leaves, rounds, faults, log)
        self.leaf = Bank(Leaf, leaves, faults, log)
        connect(self.hub.request, self.leaf.request, after=0)
        connect(self.leaf.reply, self.hub.replies)


class Link(Reactor):
    """Passes on what it gets, one higher; `fails` at that value."""

    inp = Input[int]()
    out = Output[int]()

    def __init__(self, log: str, fails: int) -> None:
        self.log = log
        self.fails = fails

    @reaction(inp, effects=out)
    def forward(self, inp, out) -> None:
        if inp.value == self.fails:
            raise ValueError(f"link failed at {inp.value}")
        out.set(inp.value + 1)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, "link ended")


class Chain(Reactor):
    """Links in a row, all at one tag. Value k arrives at link k. `failing` are the numbers of the links that fail."""

    def __init__(self, log: str, failing: tuple[int, ...] = (), links: int = 4) -> None:
        self.source = Source(0)
        self.link = [Link(log, number if number in failing else -1) for number in range(links)]
        connect(self.source.out, self.link[0].inp)
        for left, right in zip(self.link, self.link[1:], strict=False):
            connect(left.out, right.inp)
