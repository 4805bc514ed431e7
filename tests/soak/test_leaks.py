"""The same program over and over: one result, and nothing that stays behind. Only in `make soak`."""

import gc
import os
import time
from pathlib import Path

import psutil
import pytest

from reactorlib import Bank, Input, Output, Reactor, connect, elaborate, reaction, request_stop, run, startup

SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
SETTLED_RUNS = 5
GROWTH_LIMIT_BYTES = 32 * 2**20
SHARED_MEMORY = Path("/dev/shm")
EXECUTORS = ("inline", "threads", "processes")

pytestmark = pytest.mark.soak


class Worker(Reactor):
    block = Input[bytes]()
    reply = Output[bytes]()

    @reaction(block, effects=reply)
    def answer(self, block, reply):
        reply.set(block.value[1:] + bytes([self.bank_index]))


class Hub(Reactor):
    replies = Input[bytes](width="workers")
    block = Output[bytes]()

    def __init__(self, workers, rounds, sums):
        self.left = rounds
        self.sums = sums

    @reaction(startup, effects=block)
    def begin(self, block):
        block.set(bytes(1 << 16))

    @reaction(replies, effects=block)
    def gather(self, replies, block):
        self.sums.append(sum(reply.value[-1] for reply in replies))
        self.left -= 1
        if self.left:
            block.set(replies[self.left % len(replies)].value)
        else:
            request_stop()


class Main(Reactor):
    def __init__(self, sums, workers=4, rounds=50):
        self.hub = Hub(workers, rounds, sums)
        self.workers = Bank(Worker, workers)
        connect(self.hub.block, self.workers.block, after=0)
        connect(self.workers.reply, self.hub.replies)


def possessions():
    """The resources that a run must return: files, threads, processes, names of its own in shared memory.

    The shared memory of the last few runs is left to the garbage collector.
    """
    gc.collect()
    process = psutil.Process()
    names = {path.name for path in SHARED_MEMORY.glob("*reactorlib*")}
    return process.num_fds(), process.num_threads(), len(process.children(recursive=True)), names


@pytest.mark.parametrize("executor", EXECUTORS)
def test_runs_leave_nothing_behind(executor):
    deadline = time.monotonic() + SECONDS / len(EXECUTORS)
    held = memory = runs = 0
    while time.monotonic() < deadline or runs <= SETTLED_RUNS:
        sums = []
        run(elaborate(Main, sums=sums), executor=executor, workers=None if executor == "inline" else 2)
        assert sums == [0 + 1 + 2 + 3] * 50
        runs += 1
        if runs == SETTLED_RUNS:  # pools and caches are full
            held, memory = possessions(), psutil.Process().memory_info().rss
    assert possessions() == held
    assert psutil.Process().memory_info().rss - memory < GROWTH_LIMIT_BYTES
