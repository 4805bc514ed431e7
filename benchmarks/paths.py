"""The kernel's hot paths, each as something that repeats itself for a meter, in a process of its own.

One list for all who measure the kernel: `benchmarks.regress` compares two trees by them, `benchmarks.kernel_claims`
holds them against limits. Imports the runtime that is measured.
"""

from __future__ import annotations

import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

from benchmarks import shapes, structures
from benchmarks.meter import Meter
from reactorlib import USEC, Reactor, elaborate, run


def fan_out(meter: Meter, clients: int = 15, trace: bool = False, after_trace: bool = False) -> None:
    """A tag: a hub asks, its clients answer. `after_trace`: in a process that has traced a run before."""
    if after_trace:
        fan_out(Meter(100, 0, laps=0), clients, trace=True)
    run(shapes.FanOut, fast=True, trace=trace, meter=meter, clients=clients)


def ping_pong(meter: Meter) -> None:
    """A tag: one exchange."""
    run(shapes.PingPong, fast=True, meter=meter)


def chain(meter: Meter, length: int = 15) -> None:
    """A tag: a value's way along clients in a row."""
    run(shapes.Chain, fast=True, meter=meter, length=length)


def loop(meter: Meter) -> None:
    """A tag: a connection `after` 0 to itself."""
    run(shapes.Loop, fast=True, meter=meter)


def actions(meter: Meter, delay_us: int = 1_000) -> None:
    """A tag: an event of a logical action, so far ahead."""
    run(shapes.ActionLoop, fast=True, meter=meter, delay=delay_us * USEC)


def timers(meter: Meter, count: int = 64, walked: bool = False) -> None:
    """As many tags as there are independent timers. `walked`: no schedule is compiled."""
    if walked:
        os.environ["REACTORLIB_SCHEDULES"] = "walked"
    run(structures.Timers, fast=True, meter=meter, timers=count)


def idle(meter: Meter, reactors: int = 1_000, shape: str = "Quiet") -> None:
    """A tag of one reactor among many that do nothing, or that wait for a timer each."""
    run(getattr(structures, shape), fast=True, meter=meter, reactors=reactors)


def start(meter: Meter, shape: str = "FanOut", **parameters: int) -> None:
    """From the class to the end of its first tags: elaboration, analysis, compilation."""
    cls, given = _shape(shape, parameters)
    _repeat(meter, lambda: run(cls, fast=True, meter=Meter(1, 0, laps=0), **given))


def elaboration(meter: Meter, shape: str = "FanOut", **parameters: int) -> None:
    """From the class to a program."""
    cls, given = _shape(shape, parameters)
    _repeat(meter, lambda: elaborate(cls, meter=meter, **given))


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


def calls(meter: Meter, count: int = 100) -> None:
    """Calls of a method in a plain Python loop: what the interpreter itself costs on this machine at the moment."""
    counter = _Counter()

    def work() -> None:
        for _ in range(count):
            counter.add(1)

    _repeat(meter, work)


def _shape(name: str, parameters: dict[str, int]) -> tuple[type[Reactor], dict[str, Any]]:
    """The class of a shape, by its name, and the parameters of its constructor."""
    cls: type[Reactor] = getattr(shapes, name, None) or getattr(structures, name)
    return cls, parameters or {"clients": 15}


def _repeat(meter: Meter, work: Callable[[], object]) -> None:
    left = meter.warmup
    while left:
        for _ in range(left):
            work()
        left = meter.next_lap()


Path = Callable[..., None]
# The paths that measure a change of the kernel.
HOT: dict[str, Path] = {
    path.__name__: path for path in (fan_out, ping_pong, chain, actions, timers, elaboration, start)
}


def order(path: Path, **parameters: Any) -> dict[str, Any]:
    """The orders to the process that runs a path."""
    return {"kernel": f"{path.__module__}:{path.__name__}", "parameters": parameters}
