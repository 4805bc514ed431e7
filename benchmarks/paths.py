"""The kernel's hot paths, each as something that repeats itself for a meter, in a process of its own.

One list for all who measure the kernel: `benchmarks.regress` compares two trees by them, `benchmarks.kernel_claims`
holds them against limits. Imports the runtime that is measured.
"""

import os
import pathlib
import tempfile
from collections.abc import Callable
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from benchmarks import structures
from benchmarks.meter import ENDLESS, Meter, MeteredProbe
from benchmarks.two_ends import two_ends
from reactorlib import USEC, Session, elaborate, run
from workloads.overhead.on_reactors import SHAPES
from workloads.overhead.task import Task
from workloads.parameter import UnsupportedError


class InOrder(Task):
    """Timers that fire in the order in which they were made: in another one, memory would cost more than the queue."""

    def timer_offsets_ns(self) -> list[int]:
        """The slots from 1."""
        return sorted(super().timer_offsets_ns())


def overhead(
    meter: Meter,
    shape: str,
    actors: int = 0,
    messages: int = 0,
    trace: bool = False,
    after_trace: bool = False,
    walked: bool = False,
) -> None:
    """A round of a shape of the workload `overhead`.

    `after_trace`: in a process that has traced a run before. `walked`: no schedule is compiled.
    """
    if after_trace:
        overhead(Meter(1, 0, laps=0), shape, actors, trace=True)
    if walked:
        os.environ["REACTORLIB_SCHEDULES"] = "walked"
    task = InOrder(shape, actors, messages, rounds=ENDLESS)
    run(SHAPES[shape], fast=True, trace=trace, task=task, probe=MeteredProbe(meter))


def actions(meter: Meter, delay_us: int = 1_000) -> None:
    """A tag: an event of a logical action, so far ahead."""
    run(structures.ActionLoop, fast=True, meter=meter, delay=delay_us * USEC)


def idle(meter: Meter, reactors: int = 1_000, shape: str = "Quiet") -> None:
    """A tag of one reactor among many that do nothing, or that wait for a timer each."""
    run(getattr(structures, shape), fast=True, meter=meter, reactors=reactors)


def start(meter: Meter, shape: str = "Star", **parameters: Any) -> None:
    """From the class to the end of its first tag: elaboration, analysis, compilation."""
    _repeat(meter, lambda: run(getattr(structures, shape), fast=True, **(parameters or {"clients": 15})))


def elaboration(meter: Meter, shape: str = "Star", **parameters: Any) -> None:
    """From the class to a program."""
    _repeat(meter, lambda: elaborate(getattr(structures, shape), **(parameters or {"clients": 15})))


def front_end(meter: Meter, lines: int = 100) -> None:
    """From the text of a program in Lingua Franca to one that can run."""
    from reactorlib.lf import load

    with tempfile.TemporaryDirectory() as directory:
        file = pathlib.Path(directory, "Stages.lf")
        file.write_text(structures.lingua_franca(lines), encoding="utf-8")
        _repeat(meter, lambda: elaborate(load(file)))


class _Counter:
    """The counterpart of a reactor in a plain Python program."""

    def __init__(self) -> None:
        self.total = 0

    def add(self, value: int) -> None:
        self.total += value


def session(meter: Meter) -> None:
    """A step of a session from a plain Python loop: one value in, one out."""
    with Session(structures.Echo) as stepped:
        _repeat(meter, partial(stepped.step, taken=1))


def vector(meter: Meter, environments: int = 8) -> None:
    """A step of a vector environment in one process."""
    import gymnasium

    from reactorlib.gymnasium import ReactorVectorEnv

    envs = ReactorVectorEnv([partial(gymnasium.make, "CartPole-v1")] * environments, executor="inline")
    with closing(envs):
        envs.reset(seed=0)
        _repeat(meter, partial(envs.step, np.zeros(environments, int)))


def message(meter: Meter, content: str) -> None:
    """A message to another worker, encoded and decoded."""
    value = CONTENTS[content]()
    with two_ends() as (one, other):
        encode, decode = one.codec.encoder([1]), other.codec.decode
        _repeat(meter, lambda: decode(encode(value)))


def _rows() -> Any:
    """Replies of 16 environments, each with ten steps."""
    return [[(np.ones(4, "f4"), 1.0, False, False) for _ in range(10)] for _ in range(16)]


def _large_array() -> Any:
    return np.ones(500_000)  # 4 MB


def _tensors() -> Any:
    """Two trajectories of fifty transitions, as Q-learning sends them."""
    try:
        import torch
    except ImportError:
        raise UnsupportedError("it needs torch") from None
    return [[(torch.ones(4), number % 2, 1.0, torch.ones(4), False) for number in range(50)] for _ in range(2)]


CONTENTS: dict[str, Callable[[], Any]] = {"rows": _rows, "large_array": _large_array, "tensors": _tensors}


def calls(meter: Meter, count: int = 100) -> None:
    """Calls of a method in a plain Python loop: what the interpreter itself costs on this machine at the moment."""
    counter = _Counter()

    def work() -> None:
        for _ in range(count):
            counter.add(1)

    _repeat(meter, work)


def _repeat(meter: Meter, work: Callable[[], object]) -> None:
    left = meter.warmup
    while left:
        for _ in range(left):
            work()
        left = meter.next_lap()


Path = Callable[..., None]
# The paths that measure a change of the kernel.
HOT: dict[str, partial[None]] = {
    "fan_out": partial(overhead, shape="fan_out", actors=15),
    "ping_pong": partial(overhead, shape="ping_pong"),
    "chain": partial(overhead, shape="chain", actors=16),
    "actions": partial(actions),
    "timers": partial(overhead, shape="timers", actors=64),
    "elaboration": partial(elaboration),
    "start": partial(start),
    "session": partial(session),
    "vector": partial(vector),
    **{f"message_of_{content}": partial(message, content=content) for content in CONTENTS},
}


def order(path: Path, **parameters: Any) -> dict[str, Any]:
    """The orders to the process that runs a path."""
    return {"kernel": f"{path.__module__}:{path.__name__}", "parameters": parameters}
