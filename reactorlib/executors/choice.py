"""Which executor runs a program: by name, or `auto` by what the interpreter and the machine offer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from inspect import Parameter

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.reactor import Reactor, is_reactor_class
from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import RunError, closest
from reactorlib.executors.executor import Executor
from reactorlib.executors.inline import Inline
from reactorlib.tag import is_count
from reactorlib.worker.main_worker import MainWorker

EXECUTORS = ("inline", "threads", "processes", "mpi", "auto")
OF_LINUX = ("processes", "mpi")


def check_names(
    caller: str, program: type[Reactor] | Elaborated, parameters: Mapping[str, object], /, **options: object
) -> None:
    """Raise RunError for an option of `caller`, "run" or "Session", that may as well be meant for the constructor.

    And for a parameter that the constructor does not take: it may be meant for an option.
    """
    if isinstance(program, Elaborated):
        if parameters:
            got = ", ".join(f"{name}={_meant(name, options)}" for name in parameters)
            raise RunError(f"a Program has its parameters already, got {got}")
        return
    if not is_reactor_class(program):
        return
    declared = declarations_of(program)
    taken = {} if declared.plain else declared.signature.parameters
    for name, value in options.items():
        if value is not None and name in taken:
            raise RunError(
                f"{name}= is an option of {caller} and a parameter of {program.__name__}: write "
                f"{caller}(elaborate({program.__name__}, {name}=...), ...) for the parameter, "
                f"{caller}(elaborate({program.__name__}, ...), {name}=...) for the option"
            )
    if any(parameter.kind is Parameter.VAR_KEYWORD for parameter in taken.values()):
        return
    for name in parameters:
        hint = "" if name in taken or closest(name, taken) else _meant(name, options)
        if hint:
            raise RunError(f"{name}= is no option of {caller} and no parameter of {program.__name__}{hint}")


def _meant(name: str, options: Iterable[str]) -> str:
    close = closest(name, options)
    return f": did you mean {close}=?" if close else ""


def check_executor(name: str, workers: int | None, library_threads: int | None) -> None:
    """Raise RunError for an executor that is none, or a number of workers or threads that cannot be."""
    if name not in EXECUTORS:
        raise RunError(f"unknown executor {name!r}: one of {', '.join(EXECUTORS)}")
    if name in OF_LINUX and sys.platform != "linux":
        raise RunError(f"executor {name!r} needs Linux, this is {sys.platform}: 'inline' and 'threads' run here")
    if workers is not None and not is_count(workers):
        raise RunError(f"workers must be a positive integer, got {workers!r}")
    if library_threads is not None and not is_count(library_threads):
        raise RunError(f"library_threads must be a positive integer, got {library_threads!r}")


def make_executor(
    worker: MainWorker,
    name: str,
    workers: int | None,
    placement: Mapping[str, int] | None,
    costs: Mapping[str, float] | None,
    start_method: str | None,
    library_threads: int | None,
) -> Executor:
    """The executor of a run. `auto`: threads without a GIL, processes where something can run side by side."""
    if name == "inline":
        return Inline(worker)
    # Imported where they are used: a program on one thread starts in three quarters of the time without them.
    from reactorlib.cpus import available_cpus, gil_enabled
    from reactorlib.executors.threads import Threads
    from reactorlib.schedule.partition import partition

    count = int(workers or available_cpus())
    placed = partition(worker.program, count, placement, costs)
    if name == "auto":
        if count == 1 or len(set(placed.of_node)) < 2:
            return Inline(worker)
        name = "processes" if gil_enabled() and sys.platform == "linux" else "threads"
    if name == "threads":
        return Threads(worker, placed)
    if name == "mpi":
        from reactorlib.executors.mpi import MPI

        return MPI(worker, placed)
    from reactorlib.executors.processes import Processes  # only where it is used: it needs shared memory

    return Processes(worker, placed, start_method, library_threads)
