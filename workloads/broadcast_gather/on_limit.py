"""The limit that memory alone sets: a round's copies into existing memory, and nothing else.

Every worker copies the array once and the hub copies one reply, on every backend. Here both are done by all
processor cores, each its share, or by one where that turns out faster. No message is sent, no memory is allocated, and
the simulated work is waited for once, for all workers do it at the same time.
"""

import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from itertools import chain

import numpy as np

from reactorlib.cpus import available_cpus
from workloads.broadcast_gather.task import Task, Value
from workloads.probe import Probe

_TRIES = 3


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    value = task.first_value()
    replies = [np.copy(value) for _ in range(task.actors)]
    cores = available_cpus()
    answers = [[(reply, value) for reply in replies[first::cores]] for first in range(min(cores, task.actors))]
    parts = [[(value[own], replies[0][own])] for own in task.cut(cores)]
    with ThreadPoolExecutor(cores) as pool:
        gather, copy = (
            min(partial(_copy, list(chain(*shares))), partial(_copy_together, pool, shares), key=_shortest_ns)
            for shares in (answers, parts)
        )
        probe.ready()
        for round_index in range(task.total_rounds):
            task.wait()
            gather()
            if probe.verifying:
                task.record(probe.digest, replies)
            copy()
            task.change(value, round_index)
            probe.round()
        probe.state(value)


def _copy(pairs: Iterable[tuple[Value, Value]]) -> None:
    for target, source in pairs:
        np.copyto(target, source)


def _copy_together(pool: ThreadPoolExecutor, shares: Iterable[Iterable[tuple[Value, Value]]]) -> None:
    first, *others = shares
    begun = [pool.submit(_copy, share) for share in others]
    _copy(first)
    wait(begun)


def _shortest_ns(call: Callable[[], None]) -> int:
    durations = []
    for _ in range(_TRIES):
        began_ns = time.perf_counter_ns()
        call()
        durations.append(time.perf_counter_ns() - began_ns)
    return min(durations)
