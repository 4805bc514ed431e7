"""Which executor runs a program: by name, or `auto` by what the interpreter and the machine offer."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from inspect import Parameter
from typing import TYPE_CHECKING

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.reactor import Reactor, is_reactor_class
from reactorlib.elaboration.program import Elaborated
from reactorlib.errors import RunError, closest
from reactorlib.executors.executor import Executor
from reactorlib.executors.inline import Inline
from reactorlib.tag import is_count
from reactorlib.worker.main_worker import MainWorker

if TYPE_CHECKING:
    from reactorlib.schedule.partition import Partition

EXECUTORS = ("inline", "threads", "processes", "mpi", "auto")
OF_LINUX = ("processes", "mpi")
TELLING_NS = 10_000  # of a tag, for each other worker that takes part: a message there, and a few small replies


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
    """The executor of a run that is on no ranks.

    `auto`: inline if nothing gains from running side by side, else threads without a GIL and processes with one.
    """
    if name == "inline":
        return Inline(worker)
    # Imported where they are used: a program on one thread starts in three quarters of the time without them.
    from reactorlib.cpus import available_cpus, gil_enabled
    from reactorlib.executors.threads import Threads
    from reactorlib.schedule.partition import partition

    count = int(workers or available_cpus())
    placed = partition(worker.program, count, placement, costs)
    reason = ""
    if name == "auto":
        pays, reason = _pays(worker.program, placed, costs or {})
        name = "inline" if not pays else "processes" if gil_enabled() and sys.platform == "linux" else "threads"
    if name == "inline":
        executor: Executor = Inline(worker)
    elif name == "threads":
        executor = Threads(worker, placed)
    else:
        from reactorlib.executors.processes import Processes  # only where it is used: it needs shared memory

        executor = Processes(worker, placed, start_method, library_threads)
    executor.reason = reason
    return executor


def _pays(program: Elaborated, placed: Partition, costs: Mapping[str, float]) -> tuple[bool, str]:
    """Whether workers side by side gain more than telling them costs, as far as that is known; and why."""
    if len(set(placed.of_node)) < 2:
        return False, "nothing can run side by side"
    tags: Mapping[str, int] = getattr(costs, "tags", {})
    if not tags:
        return True, "something can run side by side, and what it costs is not known"
    loads, told = [0.0] * placed.workers, [0] * placed.workers
    for instance, at in zip(program.instances, placed.of_instance, strict=True):
        loads[at] += costs.get(instance.path, 0.0)
        told[at] = max(told[at], tags.get(instance.path, 0))
    gain, price = sum(loads) - max(loads), TELLING_NS * sum(told[1:])
    count = max(told)
    words = (
        f"{placed.workers} workers save {gain / count / 1000:.3g} us a tag, "
        f"and telling them costs {price / count / 1000:.3g} us"
    )
    return gain > price, words
