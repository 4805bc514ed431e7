"""Vector environments that are killed, kept waiting, or that raise: one error each, and nothing stays behind.

`make soak` has 300 of each at random moments. A few are always tried.
"""

import functools
import gc
import multiprocessing
import os
import random
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from reactorlib.errors import WorkerError
from reactorlib.gymnasium import EnvironmentTimeoutError, ReactorVectorEnv
from reactorlib.gymnasium.contract import probes

MOMENTS, FEW = 300, 3
ENVIRONMENTS, MOST_STEPS, LATEST_S = 4, 40, 0.02
NOUGHTS = np.zeros(ENVIRONMENTS, np.int64)


class Sudden(probes.Quiet):
    """Raises, or hangs until it is killed, in the step of this number."""

    def __init__(self, number: int, how: str, at: int) -> None:
        super().__init__(number)
        self.how, self.left = how, at

    def step(self, action: Any) -> Any:
        self.left -= 1
        if self.left == 0 and self.how == "raise":
            raise ZeroDivisionError("by nought")
        if self.left == 0 and self.how == "hang":
            threading.Event().wait(60)
        return super().step(action)


def made(draw: random.Random, how: str) -> ReactorVectorEnv:
    at, unlucky = draw.randrange(1, MOST_STEPS), draw.randrange(ENVIRONMENTS)
    make = [functools.partial(Sudden, number, how, at if number == unlucky else 0) for number in range(ENVIRONMENTS)]
    return ReactorVectorEnv(make, workers=2, caller_steps=how != "hang" and draw.random() < 0.5)


def steps(env: ReactorVectorEnv, draw: random.Random, limit_s: float | None) -> None:
    for _ in range(100_000):
        if limit_s is None and draw.random() < 0.7:
            env.step(NOUGHTS)
        else:
            env.step_async(NOUGHTS)
            env.step_wait(timeout=limit_s)


def kills(draw: random.Random) -> None:
    env = made(draw, "live")
    env.reset(seed=1)
    victim = draw.choice([process.pid for process in multiprocessing.active_children()])
    killer = threading.Timer(draw.random() * LATEST_S, os.kill, (victim, signal.SIGKILL))
    killer.start()
    with pytest.raises(WorkerError, match="was killed by SIGKILL"):
        steps(env, draw, None)
    killer.join()
    env.close()


def times_out(draw: random.Random) -> None:
    env = made(draw, "hang")
    env.reset(seed=1)
    with pytest.raises(EnvironmentTimeoutError):
        steps(env, draw, 1.0)
    env.close(terminate=True)


def raises(draw: random.Random) -> None:
    env = made(draw, "raise")
    env.reset(seed=1)
    with pytest.raises(ZeroDivisionError) as raised:
        steps(env, draw, None)
    assert sum("in environment" in note for note in raised.value.__notes__) == 1
    env.reset(seed=1)  # the others go on, and so does this one
    env.step(NOUGHTS)
    env.close()


FAULTS: dict[str, Callable[[random.Random], None]] = {"kill": kills, "timeout": times_out, "exception": raises}


def left() -> tuple[int, int, set[str]]:
    """Processes, open files, and files of shared memory."""
    gc.collect()  # the traceback of an error keeps its frames
    this = psutil.Process()
    return len(this.children(recursive=True)), this.num_fds(), {path.name for path in Path("/dev/shm").iterdir()}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("moments", [FEW, pytest.param(MOMENTS, marks=[pytest.mark.soak, pytest.mark.timeout(1800)])])
def test_a_fault_at_any_moment_is_one_error_and_nothing_is_left(fault: str, moments: int) -> None:
    FAULTS[fault](random.Random(0))  # opens what stays open
    children, files, memory = left()
    for moment in range(1, moments + 1):
        FAULTS[fault](random.Random(moment))
        assert len(psutil.Process().children(recursive=True)) == children, f"moment {moment}"
    assert left()[1] <= files
    assert {name for name in left()[2] - memory if "reactor" in name} == set()
