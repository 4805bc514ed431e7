"""Parallel executors for a long time: killed, interrupted, a million rounds. Only in `make soak`; an hour on two cores.

REACTORLIB_SOAK_SCALE, 1 by default, multiplies how often each is done.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from itertools import chain
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reactorlib import (
    USEC,
    Bank,
    Input,
    LogicalAction,
    Mode,
    Output,
    Reactor,
    State,
    Timer,
    WorkerError,
    connect,
    reaction,
    request_stop,
    reset,
    run,
    shutdown,
    startup,
)
from tests.reactorlib.executors.programs import ON_EACH_ITS_OWN, Star, note, noted
from tests.reactorlib.executors.victim import WHAT
from tests.reactorlib.reference.campaign import check_parallel
from tests.reactorlib.reference.comparison import Executor

pytestmark = pytest.mark.soak

SCALE = float(os.environ.get("REACTORLIB_SOAK_SCALE", "1"))
ROOT = Path(__file__).parents[2]
END_S = 2.0  # a second, and what the other work of the machine takes
GROWTH_LIMIT_BYTES = 24 << 20
COUNTING = threading.Lock()  # a thread that counts open files must not see what another one opens to count


def times(number: int) -> int:
    """So often, by REACTORLIB_SOAK_SCALE."""
    return max(1, round(number * SCALE))


def kill_one(delay_s: float, killed: list[float]) -> None:
    """Kill a random worker process after a while, from a thread of the process that runs."""
    time.sleep(delay_s)
    while True:
        workers = active_children()
        if workers:
            killed.append(time.monotonic())
            random.choice(workers).kill()
            return
        time.sleep(0.001)


@pytest.mark.parametrize("start_method", ["fork", "spawn"])
def test_a_worker_is_killed_at_random_moments(tmp_path, start_method):
    random.seed(start_method)
    log = str(tmp_path / "log")
    options = {"executor": "processes", "workers": 3, "placement": ON_EACH_ITS_OWN, "start_method": start_method}
    for number in range(times(100 if start_method == "fork" else 20)):
        killed: list[float] = []
        longest_s = 0.05 if start_method == "fork" else 1.5  # from the start of the first process to some rounds
        thread = threading.Thread(target=kill_one, args=(random.random() * longest_s, killed))
        thread.start()
        with pytest.raises(WorkerError, match=r"worker [12] \(process \d+, with .* was killed by SIGKILL"):
            run(Star, log=log, faults={}, rounds=0, **options)
        took_s = time.monotonic() - killed[0]
        thread.join()
        assert took_s < END_S, f"run {number}"
        assert not active_children()


@pytest.mark.parametrize("how", ["ctrl-c", "sigterm", "sigterm to all"])
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_run_is_interrupted_at_random_moments(tmp_path, executor, how):
    random.seed(f"{executor} {how}")
    for number in range(times(50)):
        what = random.choice([what for what in WHAT if what == "rounds" or executor == "processes"])
        log = str(tmp_path / f"log {number}")
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.reactorlib.executors.victim", executor, what, log],
            cwd=ROOT, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(random.random() * 0.1)
        if how == "sigterm":
            process.terminate()
        else:
            os.killpg(process.pid, signal.SIGINT if how == "ctrl-c" else signal.SIGTERM)
        began = time.monotonic()
        try:
            _, errors = process.communicate(timeout=20)
        finally:
            process.kill()
        assert time.monotonic() - began < END_S, f"{what}, run {number}"
        assert process.returncode == (-signal.SIGINT if how == "ctrl-c" else 128 + signal.SIGTERM), errors
        assert errors.count("Traceback") == (how == "ctrl-c"), errors
        ended = sorted(line for line in noted(log) if line.endswith("ended"))
        assert ended == ["hub ended", "leaf 0 ended", "leaf 1 ended", "leaf 2 ended"], f"{what}, run {number}"


@pytest.mark.parametrize("repetition", range(3))
def test_random_programs_have_one_trace_on_every_executor(repetition):
    texts = [f"{name}:{workers}" for name in ("threads", "processes") for workers in (1, 2, 3, 5)]
    texts += [f"{text}:scattered" for text in texts if not text.endswith("1")]
    executors = tuple(Executor.parse(text) for text in ("inline", *texts))
    for _, failures in chain(
        check_parallel(range(times(1000)), executors), check_parallel(range(times(200)), executors, wide=True)
    ):
        assert not failures, failures[0].text


# A million rounds


class Source(Reactor):
    """Sends something of another kind each round, from small to 64 KiB; an action asks for the next round."""

    out = Output[Any]()
    number = Output[int]()
    done = Input[int](width="leaves")
    more = LogicalAction[int]()

    def __init__(self, leaves: int, rounds: int) -> None:
        self.rounds = rounds
        self.array = np.arange(8 << 10, dtype=np.int64)

    @reaction(startup, effects=more)
    def begin(self, more) -> None:
        more.schedule(value=0)

    @reaction(more, effects=[out, number])
    def give(self, more, out, number) -> None:
        kind = more.value % 8
        if kind == 0:
            out.set(self.array[: 1 + more.value % self.array.size])
        elif kind == 1:
            made = out.allocate(1000, np.float64)
            made[:] = more.value
            out.set(made)
        elif kind == 2:
            out.set({"number": more.value, "text": "x" * (more.value % 300)})
        elif kind < 6:
            out.set((more.value, None, 0.5))
        number.set(more.value)

    @reaction(done, effects=more)
    def take(self, done, more) -> None:
        assert len({port.value for port in done}) == 1
        if done[0].value + 1 == self.rounds:
            request_stop()
        else:
            more.schedule(2 * USEC * (done[0].value % 2), value=done[0].value + 1)


class Leaf(Reactor):
    """Keeps some of what it gets for a while; has modes, a timer, an input that it may change."""

    inp = Input[Any]()
    mine = Input[Any](mutable=True)
    number = Input[int]()
    done = Output[int]()
    busy = Mode(initial=True)
    lazy = Mode()
    seen = State(0, reset=True)

    def __init__(self, log: str, samples: tuple[int, ...]) -> None:
        self.log = log
        self.samples = samples
        self.kept: deque[Any] = deque(maxlen=20)

    @reaction(inp, uses=mine)
    def keep(self, inp, mine) -> None:
        if isinstance(inp.value, np.ndarray):
            if len(self.kept) == 20:
                view, total = self.kept[0]
                assert view.sum() == total
            self.kept.append((inp.value, inp.value.sum()))
            mine.value[0] = 0  # a copy of its own

    @reaction(number, uses=inp, effects=done)
    def answer(self, number, inp, done) -> None:
        if number.value in self.samples:
            with COUNTING:
                note(self.log, f"{os.getpid()} {resident_bytes()} {len(list(Path('/dev/fd').iterdir()))}")
        done.set(number.value)

    with busy:
        tick = Timer(0, 100 * USEC)

        @reaction(tick, effects=reset(lazy))
        def rest(self, tick, lazy) -> None:
            self.seen += 1
            if self.seen == 3:
                lazy.set()

    with lazy:
        tock = Timer(200 * USEC, 300 * USEC)

        @reaction(tock, effects=[reset(busy)])
        def work(self, tock, busy) -> None:
            busy.set()

    @reaction(shutdown)
    def end(self) -> None:
        note(self.log, "ended")


class Mixed(Reactor):
    def __init__(self, log: str, rounds: int, leaves: int = 3) -> None:
        self.source = Source(leaves, rounds)
        self.leaf = Bank(Leaf, leaves, log, tuple(rounds * part // 10 for part in range(1, 10)))
        connect(self.source.out, self.leaf.inp)
        connect(self.source.out, self.leaf.mine)
        connect(self.source.number, self.leaf.number)
        connect(self.leaf.done, self.source.done)


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_million_rounds_leave_memory_and_files_as_they_were(executor, tmp_path):
    log = str(tmp_path / "log")
    run(Mixed, log=log, rounds=times(1_000_000), fast=True, executor=executor, workers=2)
    assert noted(log).count("ended") == 3
    samples: dict[str, list[tuple[int, int]]] = {}
    for line in noted(log):
        if line != "ended":
            pid, resident, files = line.split()
            samples.setdefault(pid, []).append((int(resident), int(files)))
    assert len(samples) == (1 if executor == "threads" else 2)
    for rows in samples.values():
        assert rows[-1][0] - rows[0][0] < GROWTH_LIMIT_BYTES, rows
        assert len({files for _, files in rows}) == 1, rows
