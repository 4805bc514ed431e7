"""A program that ends in many ways, run on all ranks: `mpiexec -n 3 python ends.py WAY`, see test_ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

from reactorlib import MSEC, SEC, Bank, Input, Output, Reactor, Timer, reaction, run, shutdown, startup

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
    """What the way says, in a reaction."""
    if WAY == "raise":
        raise ValueError("no reply")
    if WAY == "unpicklable":
        raise LambdaError("no reply")
    if WAY == "exit":
        sys.exit(7)
    if WAY == "os._exit":
        os._exit(0)
    if WAY == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if WAY == "guard":
        guards = [child for child in children(os.getpid()) if "rank_guard.py" in child[1]]
        os.kill(guards[0][0], signal.SIGKILL)
        time.sleep(30)
    if WAY in ("interrupt", "link"):
        print("stuck", flush=True)
        time.sleep(30)
    if WAY == "link in use":
        print("stuck", flush=True)
    if WAY == "terminate":
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(30)


def children(pid: int) -> list[tuple[int, str]]:
    """Processes that this one has started: their numbers and commands."""
    found = []
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/stat") as stat, open(f"/proc/{entry}/cmdline") as command:  # noqa: PTH123
                    if int(stat.read().rpartition(")")[2].split()[1]) == pid:
                        found.append((int(entry), command.read()))
            except OSError:
                continue
    return found


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


def main() -> None:
    """Run until the timeout, if nothing comes between."""
    if WAY == "before" and RANK == VICTIM:
        raise KeyError("before the run")
    parts = 4 if WAY == "different" and RANK == VICTIM else 3
    timeout = 30 * SEC if WAY == "link in use" else 20 * MSEC
    result = run(Main, parts=parts, timeout=timeout, executor="mpi", workers=9 if WAY == "workers" else None)
    print(f"rank {RANK} of {result.workers} ended at {result.tag}", flush=True)
    if WAY == "after" and RANK == VICTIM:
        raise KeyError("after the run")


if __name__ == "__main__":
    main()
