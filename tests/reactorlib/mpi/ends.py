"""A program that ends in many ways, run on all ranks: `mpiexec -n 3 python ends.py WAY`, see test_ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from reactorlib import MSEC, Bank, Input, Output, ReactionError, Reactor, Timer, reaction, run, shutdown, startup

WAY = sys.argv[1]
RANK = int(os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or 0)
VICTIM = int(sys.argv[2]) if len(sys.argv) > 2 else 1


class LambdaError(Exception):
    """An error that cannot travel."""

    def __init__(self, text: str) -> None:
        super().__init__(text, lambda: text)


class Part(Reactor):
    """One on each rank."""

    inp = Input[int]()
    out = Output[int]()

    @reaction(inp, effects=out)
    def act(self, inp: Any, out: Any) -> None:
        if inp.value == 5 and RANK == VICTIM:
            misbehave()
            if WAY == "value":
                out.set(lambda: 5)
                return
        out.set(inp.value)

    @reaction(shutdown)
    def end(self) -> None:
        print(f"shut down {RANK}", flush=True)


def misbehave() -> None:
    """Do what the way says, in a reaction."""
    print("misbehaves", flush=True)
    if WAY in ("raise", "caught"):
        raise ValueError("no reply")
    if WAY == "unpicklable":
        raise LambdaError("no reply")
    if WAY == "exit":
        sys.exit(7)
    if WAY == "os._exit":
        os._exit(3)
    if WAY == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if WAY == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
    if WAY in ("hang", "terminate"):
        time.sleep(30)


class Main(Reactor):
    """Sends a number to every part at each tick."""

    tick = Timer(0, 1 * MSEC)

    def __init__(self, parts: int) -> None:
        if WAY == "constructor" and RANK == VICTIM:
            raise OSError("no file here")
        self.parts = Bank(Part, parts)
        self.count = 0

    @reaction(startup)
    def begin(self) -> None: ...

    @reaction(tick, effects="parts.inp")
    def ask(self, tick: Any, parts: Any) -> None:
        for part in parts:
            part.set(self.count)
        self.count += 1
        if self.count == 20:
            time.sleep(0.01)

    @reaction("parts.out")
    def take(self, outs: Any) -> None:
        assert all(out.is_present for out in outs)


def once() -> None:
    """Run until the timeout, if nothing comes between."""
    parts = 4 if WAY == "different" and RANK == VICTIM else 3
    result = run(Main, parts=parts, timeout=20 * MSEC, executor="mpi", workers=9 if WAY == "workers" else None)
    print(f"rank {RANK} of {result.workers} ended at {result.tag}", flush=True)


def main() -> None:
    """Run, and do what the way says around it."""
    global WAY
    if WAY == "caught":
        try:
            once()
        except ReactionError as error:
            print(f"rank {RANK} caught {type(error).__name__}", flush=True)
            WAY = "good"
    once()
    if WAY == "after" and RANK == VICTIM:
        raise KeyError("after the run")
    if WAY == "once more" and RANK == VICTIM:
        once()


if __name__ == "__main__":
    main()
