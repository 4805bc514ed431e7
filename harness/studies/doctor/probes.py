"""The probes that show whether something works here. Each runs in a process of its own, which may hang or be killed.

`python -m harness.studies.doctor.probes NAME` runs one and prints its finding in one line. An exception is its failure.
"""

import importlib
import os
import sys
from collections.abc import Callable
from functools import partial
from importlib import metadata
from typing import Any

from workloads import catalogue, ranks, two_nodes
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

_MODULE = "harness.studies.doctor.probes"
_SMALL = {"shape": "fan_out", "actors": 2, "messages_per_round": 5, "rounds": 2, "warmup_rounds": 0}


def _same(backend: str, **options: Any) -> str:
    """Run a small workload; raises RuntimeError unless the backend computes what the plain loop does."""
    if _digest(backend, **options) != _digest("serial"):
        raise RuntimeError(f"{backend} computed something else than the plain loop")
    return f"{backend} computes what the plain loop does"


def _digest(backend: str, **options: Any) -> str:
    task = catalogue.make_task("overhead", _SMALL)
    probe = Probe(task.rounds, task.warmup_rounds, verify=True)
    catalogue.run("overhead", backend, task, probe, **options)
    return probe.outcome().digest


def _mpi() -> str:
    importlib.import_module("mpi4py")
    if not ranks.has_ranks():
        job = ranks.command("-m", "workloads.ranks", _MODULE, "mpi")
        os.execvp(job[0], job)
    return _same("reactor-mpi")


def _nodes() -> str:
    if reason := two_nodes.why_not():
        raise UnsupportedError(reason)
    return "this machine can have two, made of namespaces"


def _atari() -> str:
    catalogue.execute("atari_sampling", "serial", {"actors": 1, "rounds": 1, "warmup_rounds": 0}, verify=True)
    return f"{metadata.version('ale-py')}: Pong runs"


def _imported(*modules: str) -> str:
    for module in modules:
        importlib.import_module(module)
    return ", ".join(f"{module} {metadata.version(module)}" for module in modules)


def last_line(text: str) -> str:
    """The last line of a process's output that is not empty."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


# The needs of the suite by name, and its optional parts.
NEEDED: dict[str, Callable[[], str]] = {
    "threads": partial(_same, "reactor-threads", workers=2),
    "processes": partial(_same, "reactor-processes", workers=2),
    "libraries": partial(_imported, "numpy", "scipy", "jinja2", "gymnasium", "pettingzoo", "torch", "matplotlib"),
    "ale": _atari,
    "ray": partial(_same, "ray-paper"),
}
_MODULES = ("envpool", "stable_baselines3", "torchrl", "tianshou")
EXTRA: dict[str, Callable[[], str]] = {"mpi": _mpi, "nodes": _nodes}
EXTRA |= {module.replace("_", "-"): partial(_imported, module) for module in _MODULES}


if __name__ == "__main__":
    print((NEEDED | EXTRA)[sys.argv[1]]())
