"""`python -m benchmarks.ray_options`: which option of Ray makes its rounds shorter?

A round asks eight members for a reply and waits for all. They are in shares, an actor for each but the driver's. The
backend ray-pooled makes plain calls, and ray-pooled-compiled has a compiled graph. Each option has a Ray session and
actors of its own. They take turns in blocks with the backend as it is, which takes part twice. Two options are Ray's
defaults, which both change. Shows the ratios of rounds per second to the backend as it is. The intervals of a table all
hold at once with 95 % confidence.

`--anchor` prints how fast Ray is on this machine by its own standard, and measures nothing else.
"""

import argparse
import contextlib
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.meter import Meter
from harness import quantity
from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.measured_processes import Subject
from harness.stats import intervals, judgement
from harness.stats.intervals import Estimate
from harness.store import machine
from reactorlib.tool import standard_output

Array = npt.NDArray[np.float64]
PLAIN = "as it is"
BACKENDS = ("ray-pooled", "ray-pooled-compiled")
SIZES = {"small": 32, "large": 2**20}  # bytes of a message; a large one goes through the object store
_MEMBERS = 8
_INLINE = "RAY_max_direct_call_object_size"
_SMALLER_STORE = 0.02  # of the free memory; preallocating more takes minutes


@dataclass(frozen=True)
class Option:
    """The difference from a backend: settings of the session, and whether each process is bound to a core."""

    settings: Mapping[str, str] = field(default_factory=dict)
    store_share: float | None = None
    bound: bool = False


OPTIONS = {
    PLAIN: Option(),
    "as it is, a second time": Option(),
    "each process bound to a core": Option(bound=True),
    "smaller object store, preallocated": Option({"RAY_preallocate_plasma_memory": "1"}, store_share=_SMALLER_STORE),
    "smaller object store": Option(store_share=_SMALLER_STORE),
    "up to 2 MiB passed inline": Option({_INLINE: str(2**21)}),
    "no check of who calls": Option({"RAY_AUTH_MODE": "disabled"}),
    "niceness 15, Ray's default": Option({"RAY_worker_niceness": "15"}),
    "memory free after 1 s, Ray's default": Option({"RAY_free_objects_period_milliseconds": "1000"}),
}


class Echo:
    """A member that replies with what it receives."""

    def work(self, value: Array) -> Array:
        """A view of the value, which Ray copies."""
        return value[:]


def rounds(meter: Meter, backend: str, option: str, size: str) -> None:
    """Rounds of a backend with an option, as many as the meter asks for."""
    import ray

    from workloads import ray_session, ray_styles
    from workloads.actors.members import Members
    from workloads.actors.system import load
    from workloads.probe import Probe

    chosen = OPTIONS[option]
    ray_session.ADDED.update(chosen.settings)
    if chosen.store_share is not None:
        ray_session.STORE_SHARE = chosen.store_share
    ray_styles.INLINE_LIMIT_BYTES = int(chosen.settings.get(_INLINE, ray_styles.INLINE_LIMIT_BYTES))
    value = np.zeros(SIZES[size] // 8)
    system: Any
    with load(backend)(Probe(1, 0, verify=False)) as system:
        members = Members(system, Echo, [()] * _MEMBERS)
        members.await_actors(lambda share: SIZES[size] * share)
        if chosen.bound:
            own, *others = sorted(os.sched_getaffinity(0))
            _bind(None, own)
            cores = zip(system.actors, cycle(others), strict=False)
            ray.get([actor.__ray_call__.remote(_bind, core) for actor, core in cores])
        while count := meter.next_lap():
            for _ in range(count):
                members.gather("work", value)


def _bind(_actor: object, core: int) -> None:
    for thread in Path("/proc/self/task").iterdir():
        with contextlib.suppress(ProcessLookupError):  # it has ended
            os.sched_setaffinity(int(thread.name), {core})


def anchor() -> None:
    """Ray's own microbenchmark of this name, timed by Ray's own function, which prints calls per second."""
    import ray
    from ray._private.ray_microbenchmark_helpers import ray_setup_and_teardown, timeit

    class Actor:
        def small_value(self) -> bytes:
            return b"ok"

    described = machine.describe()
    print(f"{described['cpu']['model']}, {described['cores_allowed']} cores, ray {ray.__version__}", flush=True)
    with ray_setup_and_teardown():
        actor: Any = ray.remote(num_cpus=0)(Actor).remote()
        timeit("1:1 actor calls sync", lambda: ray.get(actor.small_value.remote()))


def gain(blocks: Sequence[Mapping[str, Measured]], option: str, plain: str = PLAIN) -> Estimate | str:
    """How many times as many rounds per second an option has as the plain one, or why it has none."""
    failure = next((one[name].failure for one in blocks for name in (plain, option) if one[name].failure), "")
    return failure or intervals.ratio_of_turns([block.log_ratios(one[plain], one[option]) for one in blocks])


@standard_output.ended
def main(arguments: Sequence[str] | None = None) -> int:
    """Measure every option by backend and size of messages, and print a table of each."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ray_options", description=__doc__)
    parser.add_argument("--blocks", type=int, default=5, help="fresh starts of each option (default: 5)")
    parser.add_argument("--backend", choices=BACKENDS, action="append", help="only this one; repeatable")
    parser.add_argument("--anchor", action="store_true", help="only Ray's own microbenchmark `1:1 actor calls sync`")
    chosen = parser.parse_args(arguments)
    if chosen.anchor:
        anchor()
        return 0
    for backend in chosen.backend or BACKENDS:
        for size, size_bytes in SIZES.items():
            print(f"{backend}, {size} messages ({size_bytes} bytes), {_MEMBERS} members: rounds per second")
            orders = {option: {"backend": backend, "option": option, "size": size} for option in OPTIONS}
            blocks = starts("benchmarks.ray_options:rounds", orders, PLAIN, Effort(sweeps=8), chosen.blocks)
            gains = {option: gain(blocks, option) for option in OPTIONS if option != PLAIN}
            known = {option: one for option, one in gains.items() if isinstance(one, Estimate)}
            gains |= dict(zip(known, intervals.at_once(list(known.values())), strict=True))
            for option, one in gains.items():
                print(f"  {option:36} {shown(one)}", flush=True)
    return 0


def starts(
    kernel: str, orders: Mapping[str, Mapping[str, str]], pinned: str, effort: Effort, count: int
) -> list[dict[str, Measured]]:
    """Blocks of fresh processes, in each of which a path is run as each of the orders says."""
    subjects = [
        Subject(name, {"kernel": kernel, "parameters": order}, pinned=name == pinned) for name, order in orders.items()
    ]
    found = []
    for index in range(count):
        print(f"start {index + 1} of {count} ...", file=sys.stderr, flush=True)
        found.append(block.run(subjects, effort, str(index)))
    return found


def shown(found: Estimate | str) -> str:
    """A ratio with its interval, and how it is called; or why there is none."""
    if isinstance(found, str):
        return found
    return f"{quantity.ratio(found)}, {quantity.counted(found.count, 'start')}: {judgement.standing(found, 1.0)}"


if __name__ == "__main__":
    sys.exit(main())
