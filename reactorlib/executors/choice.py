"""Which executor runs a program: by name, or `auto` by what the interpreter and the machine offer."""

from __future__ import annotations

from collections.abc import Mapping

from reactorlib.declaration.class_body import declarations_of
from reactorlib.declaration.reactor import Reactor, is_reactor_class
from reactorlib.errors import RunError
from reactorlib.executors.executor import Executor
from reactorlib.executors.inline import Inline
from reactorlib.tag import is_count
from reactorlib.worker.main_worker import MainWorker

EXECUTORS = ("inline", "threads", "processes", "auto")


def check_names(cls: type[Reactor], **given: object) -> None:
    """Raise RunError for an option of `run` that is given and may as well be meant for the constructor."""
    if not is_reactor_class(cls):
        return
    taken = declarations_of(cls).signature.parameters
    for name, value in given.items():
        if value is not None and name in taken:
            raise RunError(
                f"{name}= is an option of run and a parameter of {cls.__name__}: write "
                f"run(elaborate({cls.__name__}, {name}=...), ...) for the parameter, "
                f"run(elaborate({cls.__name__}, ...), {name}=...) for the option"
            )


def check_executor(name: str, workers: int | None) -> None:
    """Raise RunError for an executor that is none, or a number of workers that cannot be."""
    if name not in EXECUTORS:
        raise RunError(f"unknown executor {name!r}: one of {', '.join(EXECUTORS)}")
    if workers is not None and not is_count(workers):
        raise RunError(f"workers must be a positive integer, got {workers!r}")


def make_executor(
    worker: MainWorker,
    name: str,
    workers: int | None,
    placement: Mapping[str, int] | None,
    costs: Mapping[str, float] | None,
    start_method: str | None,
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
        name = "processes" if gil_enabled() else "threads"
    if name == "threads":
        return Threads(worker, placed)
    from reactorlib.executors.processes import Processes  # only where it is used: it needs fork and shared memory

    return Processes(worker, placed, start_method)
