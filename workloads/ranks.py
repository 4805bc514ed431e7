"""Workloads on the ranks of a job: the first rank runs a module, the others serve what it runs on all of them.

    mpiexec -n 2 python -m workloads.ranks MODULE [ARGUMENTS]

The module is run on the first rank alone. The other ranks take part in each of its runs on a backend with
executor="mpi" (`catalogue.run`), until the module ends.
"""

import os
import runpy
import shlex
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reactorlib.mpi.ranks import is_launched
from workloads import catalogue, two_nodes
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

LAUNCHER = "REACTORLIB_MPIEXEC"  # the command that starts ranks, where it is not the mpiexec beside this interpreter
SERVED = "a workload"  # where ranks meet between runs


def has_ranks() -> bool:
    """Whether a launcher started this process as one rank of several."""
    return is_launched()


def announce(workload: str, backend: str, task: Any, probe: Probe, options: Mapping[str, Any]) -> None:
    """Tell the other ranks what to run now. UnsupportedError where there are none."""
    if not has_ranks():
        raise UnsupportedError("needs ranks: mpiexec -n 2 python -m workloads.ranks MODULE")
    from reactorlib.mpi.ranks import joined

    joined().gather((workload, backend, task, probe, dict(options)), SERVED)


def serve() -> None:
    """On the other ranks: take part in what the first one runs, until it is done."""
    from reactorlib import ReactorError
    from reactorlib.mpi.ranks import joined

    while (order := joined().gather(None, SERVED)[0]) is not None:
        workload, backend, task, probe, options = order
        try:
            catalogue.load(workload, backend).run(task, probe, **options)
        except ReactorError:  # the first rank also has it
            continue


def command(*arguments: str) -> list[str]:
    """The command that starts this interpreter on a rank for each core. UnsupportedError without a launcher."""
    from reactorlib.cpus import available_cpus

    beside = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    found = os.environ.get(LAUNCHER) or shutil.which("mpiexec", path=beside)
    if not found:
        raise UnsupportedError(f"no mpiexec: pip install 'reactorlib[mpi]', or name one in {LAUNCHER}")
    launcher, count = shlex.split(found), available_cpus()
    started = two_nodes.across(launcher, count) if two_nodes.are_here() else [*launcher, "-n", str(count)]
    return [*started, sys.executable, *arguments]


def become_ranks(module: str, standard_input: bytes) -> None:
    """Go on as a job of ranks: the first one runs the module with this standard input. Does not return."""
    _become(command("-m", "workloads.ranks", module), standard_input)


def go_to_two_nodes(module: str, standard_input: bytes) -> None:
    """Go on on the first of two nodes: run the module there, with this standard input. Does not return.

    Raises UnsupportedError where this machine cannot have two nodes.
    """
    if reason := two_nodes.why_not():
        raise UnsupportedError(f"no two nodes here: {reason}")
    _become(two_nodes.on_node0([sys.executable, "-P", "-m", module]), standard_input)


def _become(job: list[str], standard_input: bytes) -> None:
    reading, writing = os.pipe()
    os.write(writing, standard_input)
    os.close(writing)
    os.dup2(reading, 0)
    sys.stdout.flush()
    sys.stderr.flush()
    os.execvp(job[0], job)


def main() -> None:
    """Run the module, or serve."""
    from reactorlib.mpi.ranks import joined

    if joined().rank:
        serve()
        return
    sys.argv = sys.argv[1:]
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    finally:
        joined().gather(None, SERVED)


if __name__ == "__main__":
    main()
