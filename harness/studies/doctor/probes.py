"""What is tried to see whether it works here. Every probe runs in a process of its own, which may hang or be killed.

`python -m harness.studies.doctor.probes NAME` runs one and prints its finding in one line. An exception is its fault.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from reactorlib import Bank, Input, Output, Reactor, connect, reaction, request_stop, run, startup
from reactorlib.cpus import gil_enabled

ROOT = Path(__file__).resolve().parents[3]
ROUNDS = 20


class _Worker(Reactor):
    number = Input[int]()
    power = Output[int]()

    @reaction(number, effects=power)
    def compute(self, number: Input[int], power: Output[int]) -> None:
        power.set(number.value**self.bank_index)


class _Hub(Reactor):
    powers = Input[int](width=2)
    number = Output[int]()

    def __init__(self) -> None:
        self.round = 0

    @reaction(startup, powers, effects=number)
    def count(self, powers: Input[int], number: Output[int]) -> None:
        assert self.round == 0 or [power.value for power in powers] == [1, self.round]
        self.round += 1
        if self.round > ROUNDS:
            request_stop()
        else:
            number.set(self.round)


class _Powers(Reactor):
    def __init__(self) -> None:
        self.hub = _Hub()
        self.workers = Bank(_Worker, 2)
        connect(self.hub.number, self.workers.number, after=0)
        connect(self.workers.power, self.hub.powers)


def _same_on(executor: str) -> str:
    """Run a small program on two workers; raises RuntimeError unless it computes what one thread does."""
    options: dict[str, Any] = {"executor": executor, "workers": 2, "trace": True, "fast": True}
    digest = run(_Powers, trace=True, fast=True).digest
    if run(_Powers, **options).digest != digest:
        raise RuntimeError(f"{executor} computed something else than one thread")
    return "2 workers compute what one thread does"


def _threads() -> str:
    return f"{_same_on('threads')}; {'they take turns (GIL)' if gil_enabled() else 'at the same time (no GIL)'}"


def _processes() -> str:
    return f"{_same_on('processes')}, through shared memory"


def _mpi() -> str:
    launcher = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin")
    if importlib.util.find_spec("mpi4py") is None or launcher is None:
        raise ModuleNotFoundError("no mpi4py or no mpiexec")
    command = [launcher, "-n", "2", sys.executable, "-m", "harness.studies.doctor.probes", "rank"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(last_line(done.stderr) or f"mpiexec ended with {done.returncode}")
    return f"2 ranks compute what one thread does ({launcher})"


def _ray() -> str:
    from workloads import ray_session
    from workloads.probe import Probe

    with ray_session.session("tuned", Probe(1, 0, verify=False)) as session:
        session.start(_Echo, [()])
        session.await_actors()
    ray_session.stop()
    return f"{importlib.metadata.version('ray')}: starts, and an actor answers"


class _Echo:
    """An actor that lives."""


def _ale() -> str:
    import ale_py
    import gymnasium

    gymnasium.register_envs(ale_py)
    environment = gymnasium.make("ALE/Pong-v5")
    observation, _ = environment.reset(seed=0)
    environment.close()
    return f"{importlib.metadata.version('ale-py')}: a frame of Pong is {'x'.join(map(str, observation.shape))}"


def _imported(*modules: str) -> Callable[[], str]:
    def probe() -> str:
        for module in modules:
            importlib.import_module(module)
        return ", ".join(f"{module} {importlib.metadata.version(module)}" for module in modules)

    return probe


def last_line(text: str) -> str:
    """The last line of what a process printed that says something."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


# The name of each probe, whether the suite can do without, and what is done.
NEEDED: dict[str, Callable[[], str]] = {
    "threads": _threads,
    "processes": _processes,
    "libraries": _imported("numpy", "gymnasium", "pettingzoo", "torch", "pandas", "matplotlib"),
    "ale": _ale,
    "ray": _ray,
}
EXTRA: dict[str, Callable[[], str]] = {
    "mpi": _mpi,
    "envpool": _imported("envpool"),
    "xronos": _imported("xronos"),
    "stable-baselines3": _imported("stable_baselines3"),
    "torchrl": _imported("torchrl"),
    "tianshou": _imported("tianshou"),
}
_OF_OTHERS: dict[str, Callable[[], str]] = {"rank": partial(_same_on, "mpi")}  # one of the two ranks of `_mpi`


def main(name: str) -> int:
    """Run a probe."""
    print((NEEDED | EXTRA | _OF_OTHERS)[name]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
