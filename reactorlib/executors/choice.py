"""Which executor runs a program: by name, or `auto` by what the interpreter and the machine offer."""

from __future__ import annotations

import sys

from reactorlib.executors.executor import Executor
from reactorlib.executors.inline import Inline
from reactorlib.worker.coordinator import Coordinator


def make_executor(coordinator: Coordinator) -> Executor:
    """The executor of a run that is on no ranks."""
    program, options = coordinator.program, coordinator.options
    name, reason = options.executor, ""
    if name == "inline":
        return Inline(coordinator)
    # Imported where they are used: a program on one thread starts in three quarters of the time without them.
    from reactorlib.cpus import available_cpus, gil_enabled
    from reactorlib.executors.threads import Threads
    from reactorlib.schedule.partition import partition

    placed = partition(program, int(options.workers or available_cpus()), options.placement)
    if name == "auto":
        if len(set(placed.of_node)) < 2:
            name, reason = "inline", "nothing can run side by side"
        else:
            name, why = "threads", "processes need Linux"
            if not gil_enabled():
                why = "without a GIL they run in parallel, and hand values over without a copy"
            elif sys.platform == "linux":
                name, why = "processes", "threads take turns while the GIL is on"
            reason = f"something can run side by side; on {name}, as {why}"
    if name == "inline":
        executor: Executor = Inline(coordinator)
    elif name == "threads":
        executor = Threads(coordinator, placed)
    else:
        from reactorlib.executors.processes import Processes  # it needs shared memory

        executor = Processes(coordinator, placed)
    executor.reason = reason
    return executor
