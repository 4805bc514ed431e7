"""How a workload is run on a backend. Which of them exist is in `workload` and `backend`, whose names are here as well.

Imports neither until it is used.
"""

import importlib
from collections.abc import Mapping
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

from workloads import outside
from workloads.backend import BACKENDS, BESIDE_A_GIL, FREE_THREADED, RLLIB, Backend, backend_of
from workloads.parameter import ParameterError, UnsupportedError
from workloads.probe import Outcome, Probe
from workloads.workload import WORKLOADS, Workload, make_task, workload_of

__all__ = [
    "BACKENDS", "BESIDE_A_GIL", "FREE_THREADED", "RLLIB", "WORKLOADS", "Backend", "Workload", "backend_of", "execute",
    "load", "make_task", "run", "runs", "workers_of", "workload_of",
]  # fmt: skip

PACKAGES = ("ale_py", "gymnasium", "pettingzoo", "ray", "torch")  # modules of the extra `workloads`


def runs(workload: str, backend: str) -> bool:
    """Whether a workload has a module for a backend. One from outside may run all, and a backend that is gone did."""
    with suppress(ParameterError):  # it is gone
        backend_of(backend)
    module = BACKENDS[backend].module if backend in BACKENDS else ""
    return not module or workload_of(workload).program(module) is not None


def load(workload: str, backend: str) -> Any:
    """Import what has the `run` of a workload on a backend, and all that it needs.

    Raises ParameterError, and UnsupportedError where a package of the extra `workloads` is absent.
    """
    found, chosen = workload_of(workload), backend_of(backend)
    program = found.program(chosen.module) if chosen.module else ""
    if program is None:
        raise ParameterError(f"backend: {backend} does not run {workload}")
    try:
        for part in found.parts:
            importlib.import_module(f"{found.module}.{part}")
        if "system" in chosen.options:
            from workloads.actors import system  # which imports its framework

            system.load(chosen.options["system"])
        return importlib.import_module(program) if program else SimpleNamespace(run=outside.named(backend))
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise UnsupportedError.missing(error.name.replace("_", "-"), "workloads") from None


def workers_of(backend: Backend, task: Any) -> int | None:
    """The number of workers a backend runs a task on: one per core, as far as there are members to place on them.

    None where every member has a worker of its own, or waits for simulated work as if it had one.
    """
    if backend.module == "on_serial":
        return 1
    if getattr(task, "work_seconds", 0) > 0 or backend.a_worker_each:
        return None
    if backend.interpreter == RLLIB:
        from workloads.rllib_runners import runners_of  # not where workloads are only listed

        return runners_of(task.members)
    return 1 if backend.options.get("executor") == "inline" else _places(task)


def _places(task: Any) -> int:
    """One worker per core, as far as the task has members to place on them."""
    from reactorlib.cpus import available_cpus  # not where workloads are only listed

    return min(int(task.members), available_cpus())


def run(workload: str, backend: str, task: Any, probe: Probe, **options: Any) -> None:
    """Run a task once in this process, told to a probe. `options`: instead of the backend's own, or beside them.

    Raises ParameterError before anything starts, UnsupportedError where the backend cannot run, and whatever else
    the backend raises.
    """
    module, chosen = load(workload, backend), {**backend_of(backend).options, **options}
    if chosen.get("executor", "inline") != "inline" and "workers" not in options:
        workers = _places(task)
        if workers == 1:
            raise UnsupportedError("all that there is to place is on one worker: it would be reactor-inline again")
        if chosen["executor"] != "mpi":
            chosen["workers"] = workers
    if chosen.get("executor") == "mpi":
        from workloads import ranks  # for this executor only

        ranks.announce(workload, backend, task, probe, chosen)
    module.run(task, probe, **chosen)


def execute(workload: str, backend: str, parameters: Mapping[str, Any], *, verify: bool) -> Outcome:
    """Run a workload once in this process. Importing the framework is not part of the start-up time.

    Raises what `run` raises.
    """
    task = make_task(workload, parameters)
    load(workload, backend)
    probe = Probe(task.rounds, task.warmup_rounds, verify)
    run(workload, backend, task, probe)
    return probe.outcome()
