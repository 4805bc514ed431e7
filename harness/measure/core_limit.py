"""The cores that a run may use: those of the machine, or a number of them, by the affinity of this process."""

import contextlib
import os
from collections.abc import Iterator

from reactorlib.cpus import COUNT_VARIABLE, cores


@contextlib.contextmanager
def limited_to(count: int | None) -> Iterator[None]:
    """Give this many cores, with all their hardware threads, to this process and to those that it starts.

    A number beyond the cores that there are is one of workers, which share all cores. None changes nothing.
    """
    if count is None:
        yield
        return
    allowed, told = os.sched_getaffinity(0), os.environ.get(COUNT_VARIABLE)
    os.sched_setaffinity(0, {cpu for core in cores()[:count] for cpu in core})
    os.environ[COUNT_VARIABLE] = str(count)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
        if told is None:
            del os.environ[COUNT_VARIABLE]
        else:
            os.environ[COUNT_VARIABLE] = told
