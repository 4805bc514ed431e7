"""`python -m benchmarks.ray_options`: which option of Ray makes its rounds shorter?

A round asks eight members for a reply and waits for all. They are asked as three backends ask them: each in an actor of
its own (ray-tuned), or in shares by plain calls (ray-pooled) or a compiled graph (ray-pooled-compiled). Each option has
a Ray session and actors of its own. They take turns in blocks with the backend as it is. Two options are Ray's
defaults, which all three change. Shows the ratio of rounds per second.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.meter import Meter
from harness import quantity
from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.measured_processes import Subject
from harness.quantity import counted
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate

Array = npt.NDArray[np.float64]
PLAIN = "as it is"
APART, SHARES, GRAPH = "ray-tuned", "ray-pooled", "ray-pooled-compiled"
SIZES = {"small": 32, "large": 2**20}  # bytes of a message; a large one goes through the object store
_MEMBERS = 8
_SMALLER_STORE = 0.02  # of the free memory; preallocating more takes minutes


@dataclass(frozen=True)
class Option:
    """The difference from a backend: settings of the session and of each actor, and the way of calling."""

    settings: Mapping[str, str] = field(default_factory=dict)
    actor: Mapping[str, Any] = field(default_factory=dict)
    store_share: float | None = None
    asynchronous: bool = False
    in_order_of_completion: bool = False
    bound: bool = False  # each process to a core


_SESSION = {
    "smaller object store, preallocated": Option({"RAY_preallocate_plasma_memory": "1"}, store_share=_SMALLER_STORE),
    "smaller object store": Option(store_share=_SMALLER_STORE),
    "up to 2 MiB passed inline": Option({"RAY_max_direct_call_object_size": str(2**21)}),
    "niceness 15, Ray's default": Option({"RAY_worker_niceness": "15"}),
    "memory free after 1 s, Ray's default": Option({"RAY_free_objects_period_milliseconds": "1000"}),
}
_CALLS = {
    "asynchronous actors": Option(asynchronous=True),
    "four threads per actor": Option(actor={"max_concurrency": 4}),
    "ray.wait in the order of completion": Option(in_order_of_completion=True),
    "task events off for each actor": Option(actor={"enable_task_events": False}),
}
_BOUND = {"each process bound to a core": Option(bound=True)}
OPTIONS: dict[str, dict[str, Option]] = {
    APART: {PLAIN: Option()} | _CALLS | _SESSION,
    SHARES: {PLAIN: Option()} | _BOUND | _SESSION,
    GRAPH: {PLAIN: Option()} | _BOUND | _SESSION,
}


class Echo:
    """An actor that replies with what it receives."""

    def work(self, value: Array) -> Array:
        """A view of the value, which Ray copies."""
        return value[:]


class AsynchronousEcho:
    """The same as a coroutine."""

    async def work(self, value: Array) -> Array:
        """A view of the value, which Ray copies."""
        return value[:]


def rounds(meter: Meter, backend: str, option: str, size: str) -> None:
    """Rounds of a backend with an option, as many as the meter asks for."""
    from workloads import ray_session
    from workloads.probe import Probe

    chosen = OPTIONS[backend][option]
    ray_session.ADDED.update(chosen.settings)
    if chosen.store_share is not None:
        ray_session.STORE_SHARE = chosen.store_share
    with ray_session.session("compiled" if backend == GRAPH else "tuned", Probe(1, 0, verify=False)) as session:
        go = _apart(chosen, size) if backend == APART else _in_shares(session, backend, chosen, size)
        while count := meter.next_lap():
            for _ in range(count):
                go()


def _apart(chosen: Option, size: str) -> Callable[[], object]:
    """A round with an actor for each member."""
    import ray

    actor: Any = ray.remote(AsynchronousEcho if chosen.asynchronous else Echo).options(num_cpus=0, **chosen.actor)
    actors = [actor.remote() for _ in range(_MEMBERS)]
    value = np.zeros(SIZES[size] // 8)
    is_stored = _is_stored(chosen, size)

    def go() -> None:
        message = ray.put(value) if is_stored else value
        coming = [one.work.remote(message) for one in actors]
        while chosen.in_order_of_completion and coming:
            ready, coming = ray.wait(coming)
            ray.get(ready)
        ray.get(coming)

    return go


def _in_shares(session: Any, backend: str, chosen: Option, size: str) -> Callable[[], object]:
    """A round of the pool that ray-pooled and ray-pooled-compiled have."""
    import ray

    from workloads.ray_pool import Pool

    pool = Pool(session, Echo, [()] * _MEMBERS)
    session.await_actors()
    if chosen.bound:
        own, *others = sorted(os.sched_getaffinity(0))
        _bind(None, own)
        ray.get([actor.__ray_call__.remote(_bind, core) for actor, core in zip(pool.actors, others, strict=False)])
    if backend == GRAPH:
        pool.compile(session, SIZES[size] * _MEMBERS)
    value = np.zeros(SIZES[size] // 8)
    is_stored = _is_stored(chosen, size)
    return lambda: pool.gather("work", value, stored=is_stored)


def _bind(_actor: object, core: int) -> None:
    os.sched_setaffinity(0, {core})


def _is_stored(chosen: Option, size: str) -> bool:
    return size == "large" and "RAY_max_direct_call_object_size" not in chosen.settings


def gain(blocks: Sequence[Mapping[str, Measured]], option: str, plain: str = PLAIN) -> Estimate | str:
    """How many times as many rounds per second an option has as the plain one, or why it has none."""
    failure = next((one[name].failure for one in blocks for name in (plain, option) if one[name].failure), "")
    return failure or intervals.ratio_of_turns([block.log_ratios(one[plain], one[option]) for one in blocks])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every option by backend and size of messages, and print a table of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_options", description=__doc__)
    parser.add_argument("--blocks", type=int, default=5, help="fresh starts of each option (default: 5)")
    parser.add_argument("--sweeps", type=int, default=8, help="turns of each in a block (default: 8)")
    parser.add_argument("--backend", choices=OPTIONS, action="append", help="only this one; repeatable")
    chosen = parser.parse_args(arguments)
    effort = Effort(sweeps=chosen.sweeps)
    for backend in chosen.backend or OPTIONS:
        for size, size_bytes in SIZES.items():
            blocks = []
            for index in range(chosen.blocks):
                print(
                    f"{backend}, {size} messages, start {index + 1} of {chosen.blocks} ...", file=sys.stderr, flush=True
                )
                blocks.append(block.run(_subjects(backend, size), effort, f"{backend} {size} {index}"))
            print(f"{backend}, {size} messages ({size_bytes} bytes), {_MEMBERS} members: rounds per second")
            for option in OPTIONS[backend]:
                found = gain(blocks, option)
                print(f"  {option:36} {found if isinstance(found, str) else shown(found)}", flush=True)
    return 0


def _subjects(backend: str, size: str) -> list[Subject]:
    kernel = "benchmarks.ray_options:rounds"
    orders = {option: {"backend": backend, "option": option, "size": size} for option in OPTIONS[backend]}
    return [
        Subject(option, {"kernel": kernel, "parameters": order}, pinned=option == PLAIN)
        for option, order in orders.items()
    ]


def shown(found: Estimate) -> str:
    """A ratio with its interval, and how it is called."""
    return f"{quantity.ratio(found)}, {counted(found.count, 'start')}: {judgement.standing(found, 1.0)}"


if __name__ == "__main__":
    sys.exit(main())
