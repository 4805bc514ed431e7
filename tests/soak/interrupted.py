"""`python -m tests.soak.interrupted KIND SIGNAL TRIES SEED`: programs that a signal ends at a random moment.

Each is a fork of this process, which has imported everything. Prints what was wrong, a line for each try.
"""

from __future__ import annotations

import ctypes
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any, BinaryIO

import gymnasium
import numpy as np
import psutil

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, run, startup
from reactorlib.gymnasium import ReactorPool, ReactorVectorEnv

LATEST_S, LONGEST_S = 0.05, 20.0  # after its first round, and until it has ended
_PR_SET_CHILD_SUBREAPER = 36


class Maker(Reactor):
    inp, out = Input[int](), Output[Any]()

    @reaction(inp, effects=out)
    def make(self, inp: Any, out: Any) -> None:
        """Arrays in blocks of their own, and one over memory that the port gives."""
        given = np.frombuffer(out.allocate(400_000), np.float64)
        given[:] = inp.value
        out.set([given, *(np.full(2000, number) for number in range(20))])


class Hub(Reactor):
    back, out = Input[Any](width=2), Output[int]()

    @reaction(startup, effects=out)
    def begin(self, out: Any) -> None:
        out.set(0)

    @reaction(back, effects=out)
    def again(self, back: Any, out: Any) -> None:
        up()
        out.set(1)


class Rounds(Reactor):
    def __init__(self) -> None:
        self.hub, self.makers = Hub(), Bank(Maker, 2)
        connect(self.hub.out, self.makers.inp, after=0)
        connect(self.makers.out, self.hub.back)


class Wide(gymnasium.Env[Any, Any]):
    """Its observations are lent to the caller."""

    observation_space = gymnasium.spaces.Box(-1, 1, (10_000,))
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        return np.zeros(10_000, np.float32), {}

    def step(self, action: Any) -> Any:
        return np.ones(10_000, np.float32), 0.0, False, False, {}


def up() -> None:
    """Report that the program runs, once."""
    global _ready
    if _ready >= 0:
        _ready = os.write(_ready, b"!") * 0 - 1


def rounds(executor: str) -> None:
    run(Rounds, executor=executor, workers=2, placement={"Rounds.makers[0]": 1})


def vector() -> None:
    envs = ReactorVectorEnv([Wide] * 4, workers=2, copy=True)
    envs.reset(seed=1)
    while True:
        envs.step(np.zeros(4, np.int64))
        up()


def pool() -> None:
    envs = ReactorPool([Wide] * 4, workers=2)
    envs.reset(seed=1)
    ids = np.arange(4)
    while True:
        envs.send(np.zeros(len(ids), np.int64), ids)
        ids = envs.recv(min_envs=1)[-1]["env_id"]
        up()


KINDS: dict[str, Callable[[], None]] = {
    "threads": partial(rounds, "threads"),
    "processes": partial(rounds, "processes"),
    "vector": vector,
    "pool": pool,
}
_ready = -1


def faults(pid: int, ready: int, number: int, delay_s: float, said: BinaryIO) -> list[str]:
    """Interrupt a program, and return what is wrong with its end."""
    found = []
    ended = os.pidfd_open(pid)
    if not select.select([ready], [], [], LONGEST_S)[0]:
        found.append("it did not begin")
    time.sleep(delay_s)
    os.kill(pid, number)
    if not select.select([ended], [], [], LONGEST_S)[0]:
        found.append("the signal was lost")
        os.kill(pid, signal.SIGKILL)
    os.close(ended)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    said.seek(0)
    lines = said.read().decode().splitlines()
    if status != (-number if number == signal.SIGINT else 128 + number):
        found.append(f"status {status}")
    if lines.count("KeyboardInterrupt") != (number == signal.SIGINT) or (lines and number == signal.SIGTERM):
        found.append(f"messages {lines}")
    if any("ignored" in line for line in lines):
        found.append(f"an exception was ignored: {lines}")
    left = psutil.Process().children(recursive=True)  # orphans are this process's children
    _gone, alive = psutil.wait_procs(left, LONGEST_S)
    found += [f"process {process.pid} is left" for process in alive]
    for process in alive:
        process.kill()
    return found


def forked(kind: str, number: int, tries: int, seed: int) -> bool:
    """Try so often. True in each process that is to run the program, whose errors Python prints."""
    global _ready
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1)
    draw = random.Random(seed)
    for moment in range(tries):
        with tempfile.TemporaryFile() as said:
            ready, _ready = os.pipe()
            pid = os.fork()
            if pid == 0:
                os.dup2(said.fileno(), 2)
                return True
            os.close(_ready)
            for fault in faults(pid, ready, number, draw.random() * LATEST_S, said):
                print(f"{kind}, signal {number}, seed {seed}, moment {moment}: {fault}", flush=True)
            os.close(ready)
    return False


def leave(number: int, _frame: object) -> None:
    sys.exit(128 + number)


if __name__ == "__main__":
    if forked(sys.argv[1], *map(int, sys.argv[2:])):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if sys.argv[1] in ("vector", "pool"):  # `run` installs a handler itself
            signal.signal(signal.SIGTERM, leave)
        KINDS[sys.argv[1]]()
