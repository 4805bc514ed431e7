"""Environments that are kept apart: with generators of their own, or in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from reactorlib.gymnasium.isolation.generators import GENERATORS, OwnGenerators
from reactorlib.gymnasium.isolation.isolation_check import check_isolation
from reactorlib.gymnasium.isolation.report import THREADS, Isolation

Isolate = bool | str | Isolation
Make = Callable[[], Any]


def apart(env_fns: Sequence[Make], isolate: Isolate, executor: str) -> tuple[list[Make], bool]:
    """Keep environments apart: as a report or a name says, or with True, as a check of the first one says.

    Returns functions that make them, and whether each needs a process of its own. Where PYTHONHASHSEED is set, hash
    order is no obstacle. Raises ValueError where nothing suffices, and for an executor that does not keep them apart.
    """
    names: Sequence[str] = GENERATORS
    report = check_isolation(env_fns[0]) if isolate is True else isolate
    if isinstance(report, Isolation):
        if os.environ.get("PYTHONHASHSEED", "random") not in ("", "random"):
            report = report.with_fixed_hashes
        if report.remedy is None or (executor == "threads" and THREADS in report.culprits):
            raise ValueError(f"`isolate`: this is to be mended in the environment\n{report}")
        names = sorted({*report.culprits, *report.touched} & {*GENERATORS})
        report = report.remedy
    if report in (False, "none"):
        return [*env_fns], False
    if report not in ("generators", "processes"):
        raise ValueError(f"`isolate` must be True, False, 'generators', 'processes' or a report, got {report!r}")
    if executor in ("threads", "mpi") or (report == "processes" and executor != "processes"):
        raise ValueError(f"`isolate`: the executor {executor!r} does not keep environments apart")
    in_processes = report == "processes"
    return [partial(OwnGenerators, make, names, not in_processes) for make in env_fns], in_processes
