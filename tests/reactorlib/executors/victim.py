"""`python -m tests.reactorlib.executors.victim EXECUTOR WHAT LOG`: a run that goes on until a signal ends it.

It prints "ready" once all leaves have started and WHAT has begun.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from typing import Any

from reactorlib import SEC, Bank, Input, Output, Reactor, Timer, connect, reaction, run, shutdown, startup
from tests.reactorlib.executors.programs import note

LONG_S = 60.0
NAP_S = 5.0  # Python handles a signal that comes just before a sleep only after it
UNBREAKABLE = "leaf in C"
WHAT = ("rounds", "sleeping leaf", "computing leaf", "sleeping hub", "sleeping everywhere", "idle")


def pass_time(how: str) -> None:
    """A reaction that takes a minute, asleep or in pure Python."""
    until = time.monotonic() + LONG_S
    while time.monotonic() < until:
        if how == "sleeping":
            time.sleep(NAP_S)


def say_ready() -> None:
    os.write(1, b"ready\n")


class Leaf(Reactor):
    request = Input[int]()
    reply = Output[int]()

    def __init__(self, what: str, log: str) -> None:
        self.what = what
        self.log = log

    @reaction(startup)
    def begin(self) -> None:
        note(self.log, f"leaf {self.bank_index} pid {os.getpid()}")

    @reaction(request, effects=reply)
    def answer(self, request, reply) -> None:
        if request.value == 3 and (self.what == "sleeping everywhere" or self.bank_index == 1):
            if self.what.startswith("sleeping") and "hub" not in self.what:
                say_ready()
                pass_time("sleeping")
            elif self.what == "computing leaf":
                say_ready()
                pass_time("computing")
            elif self.what == UNBREAKABLE:
                say_ready()
                hashlib.pbkdf2_hmac("sha256", b"", b"", 200_000_000)  # no signal handler runs meanwhile
        reply.set(request.value)

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, f"leaf {self.bank_index} ended")


class Hub(Reactor):
    replies = Input[int](width=3)
    request = Output[int]()
    far = Timer(100 * SEC)

    def __init__(self, what: str, log: str) -> None:
        self.what = what
        self.log = log
        self.round = 0

    @reaction(startup, effects=request)
    def begin(self, request) -> None:
        request.set(0)

    @reaction(replies, effects=request)
    def gather(self, replies, request) -> None:
        self.round += 1
        if self.round == 3 and self.what in ("rounds", "idle"):
            say_ready()
        if self.round == 3 and self.what == "sleeping hub":
            say_ready()
            pass_time("sleeping")
        if self.round < 3 or self.what != "idle":
            request.set(self.round)

    @reaction(far)
    def later(self, far) -> None: ...

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, "hub ended")


class Victim(Reactor):
    def __init__(self, what: str, log: str) -> None:
        self.hub = Hub(what, log)
        self.leaf = Bank(Leaf, 3, what, log)
        connect(self.hub.request, self.leaf.request, after=0)
        connect(self.leaf.reply, self.hub.replies)


def main(executor: str, what: str, log: str) -> None:
    """Run until a signal comes."""
    options: dict[str, Any] = {"placement": {"Victim.leaf[1]": 1, "Victim.leaf[2]": 2}, "workers": 3}
    run(Victim, what=what, log=log, executor=executor, **({} if executor == "inline" else options))


if __name__ == "__main__":
    main(*sys.argv[1:])
