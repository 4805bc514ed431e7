"""`python -m benchmarks.ray_options`: which option of Ray makes rounds of `ray-tuned` shorter?

Each option has a Ray session and actors of its own. They take turns in blocks with the session that `ray-tuned` has.
Two options are Ray's defaults, which `ray-tuned` changes.
A round is one call to every actor, and one wait for all replies. Shows the ratio of rounds per second.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
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
PLAIN = "ray-tuned"
SIZES = {"small": 32, "large": 2**20}  # bytes of a message; a large one goes through the object store
_ACTORS = 8
_SMALLER_STORE = 0.02  # of the free memory; preallocating more takes minutes


@dataclass(frozen=True)
class Option:
    """The difference from `ray-tuned`: settings of the session and of each actor, and the way of calling."""

    settings: Mapping[str, str] = field(default_factory=dict)
    actor: Mapping[str, Any] = field(default_factory=dict)
    store_share: float | None = None
    asynchronous: bool = False
    in_order_of_completion: bool = False


OPTIONS = {
    PLAIN: Option(),
    "asynchronous actors": Option(asynchronous=True),
    "four threads per actor": Option(actor={"max_concurrency": 4}),
    "ray.wait in the order of completion": Option(in_order_of_completion=True),
    "task events off for each actor": Option(actor={"enable_task_events": False}),
    "smaller object store, preallocated": Option({"RAY_preallocate_plasma_memory": "1"}, store_share=_SMALLER_STORE),
    "smaller object store": Option(store_share=_SMALLER_STORE),
    "up to 2 MiB passed inline": Option({"RAY_max_direct_call_object_size": str(2**21)}),
    "niceness 15, Ray's default": Option({"RAY_worker_niceness": "15"}),
    "memory free after 1 s, Ray's default": Option({"RAY_free_objects_period_milliseconds": "1000"}),
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


def rounds(meter: Meter, option: str, size: str) -> None:
    """Rounds with an option, as many as the meter asks for."""
    import ray

    from workloads import ray_session
    from workloads.probe import Probe

    chosen = OPTIONS[option]
    ray_session.ADDED.update(chosen.settings)
    if chosen.store_share is not None:
        ray_session.STORE_SHARE = chosen.store_share
    with ray_session.session("tuned", Probe(1, 0, verify=False)):
        actor: Any = ray.remote(AsynchronousEcho if chosen.asynchronous else Echo).options(num_cpus=0, **chosen.actor)
        actors = [actor.remote() for _ in range(_ACTORS)]
        value = np.zeros(SIZES[size] // 8)
        is_stored = size == "large" and "RAY_max_direct_call_object_size" not in chosen.settings
        while count := meter.next_lap():
            for _ in range(count):
                message = ray.put(value) if is_stored else value
                coming = [one.work.remote(message) for one in actors]
                if chosen.in_order_of_completion:
                    while coming:
                        ready, coming = ray.wait(coming)
                        ray.get(ready)
                else:
                    ray.get(coming)


def gain(blocks: Sequence[Mapping[str, Measured]], option: str, plain: str = PLAIN) -> Estimate | str:
    """How many times as many rounds per second an option has as the plain one, or why it has none."""
    failure = next((one[name].failure for one in blocks for name in (plain, option) if one[name].failure), "")
    return failure or intervals.ratio_of_turns([block.log_ratios(one[plain], one[option]) for one in blocks])


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every option by the size of messages, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_options", description=__doc__)
    parser.add_argument("--blocks", type=int, default=5, help="fresh starts of each option (default: 5)")
    parser.add_argument("--sweeps", type=int, default=8, help="turns of each in a block (default: 8)")
    chosen = parser.parse_args(arguments)
    effort = Effort(sweeps=chosen.sweeps)
    for size, size_bytes in SIZES.items():
        orders = {option: {"option": option, "size": size} for option in OPTIONS}
        kernel = "benchmarks.ray_options:rounds"
        subjects = [
            Subject(option, {"kernel": kernel, "parameters": order}, pinned=option == PLAIN)
            for option, order in orders.items()
        ]
        blocks = []
        for index in range(chosen.blocks):
            print(f"{size} messages, start {index + 1} of {chosen.blocks} ...", file=sys.stderr, flush=True)
            blocks.append(block.run(subjects, effort, f"{size} {index}"))
        print(f"{size} messages ({size_bytes} bytes), {_ACTORS} actors: rounds per second, times {PLAIN}")
        for option in OPTIONS:
            found = gain(blocks, option)
            print(f"  {option:36} {found if isinstance(found, str) else shown(found)}")
    return 0


def shown(found: Estimate) -> str:
    """A ratio with its interval, and how it is called."""
    return f"{quantity.ratio(found)}, {counted(found.count, 'start')}: {judgement.standing(found, 1.0)}"


if __name__ == "__main__":
    sys.exit(main())
