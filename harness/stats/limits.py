"""The reference ceiling of a point: measured, or computed from the loop.

Measured where a run has a backend that stands for it: the copies alone, where copying is all that a round does, else
plain loops on all cores that exchange nothing but the number of the round, or one loop where that is faster. Without,
the ceiling is the serial loop's pace on all cores at once: of n equal parts on w cores the fullest core has
ceil(n / w), and no time goes into communication. That takes every core for a whole one, and what a round does beside
its parts for divisible.
"""

import json
from collections.abc import Mapping
from statistics import fmean

from harness.store.digests import REFERENCE_BACKEND
from workloads.catalogue import BACKENDS, WORKLOADS, make_task
from workloads.parameter import ParameterError

# As a baseline: no rival, but the measure of all.
LIMIT = "limit"
Values = Mapping[int, float]

EXPLAINED = (
    "'ceiling': the reference ceiling. Of a round that only copies: its copies alone, into existing memory, on all "
    "cores. Elsewhere: plain loops on all cores in lockstep, each with its share, which exchange nothing and wait by "
    "reactorlib's own waiter, or one loop where rounds are so short that it is faster (without rows of lockstep: the "
    "serial loop's pace times the parts that run at once). Other waiting or placement may pass it."
)


def ceiling(
    point: tuple[str, str], trials: Mapping[str, Values], higher_is_better: bool, cores: int | None
) -> tuple[str, float] | None:
    """The backend from which a point's ceiling is taken, and how many times as fast as that it is; None if unknown.

    `point`: workload and parameters. `trials`: the values of every backend there, by trial.
    """
    measured = [name for name, values in trials.items() if is_limit(name) and values]
    if measured:
        # Loops that have to wait for each other are slower than one where rounds are short.
        alone = [name for name in trials if name in BACKENDS and BACKENDS[name].module == "on_serial" and trials[name]]
        best = max if higher_is_better else min
        return best([*measured, *alone], key=lambda name: fmean(trials[name].values())), 1.0
    parts = _parallel_parts(*point)
    if cores is None or parts is None or not trials.get(REFERENCE_BACKEND):
        return None
    return REFERENCE_BACKEND, ideal_gain(parts, cores)


def is_limit(backend: str) -> bool:
    """Whether a backend is a reference ceiling and no contestant."""
    return backend in BACKENDS and BACKENDS[backend].role == "limit"


def shares_ceiling(backend: str, other: str) -> bool:
    """Whether the ceiling of a backend may come from another one: of the same interpreter, or of copies alone."""
    interpreters = {BACKENDS[name].interpreter for name in (backend, other) if name in BACKENDS}
    return len(interpreters) < 2 or other == LIMIT


def _parallel_parts(workload: str, parameters: str) -> int | None:
    """Of how many equal parts a round is; None where the ceiling can only be measured."""
    if workload not in WORKLOADS:
        return None
    try:
        task = make_task(workload, json.loads(parameters))
    except ParameterError:  # a row of another version
        return None
    parts: int | None = getattr(task, "parallel_parts", None)
    return parts


def ideal_gain(parts: int, cores: int) -> float:
    """How many times as fast so many equal parts are on these cores as on one: 15 on 2 are 15 / 8."""
    return parts / -(-parts // cores)
