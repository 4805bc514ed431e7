"""What no backend can pass at a point: measured, or computed from the serial loop. Runs nothing.

Measured where a backend of the catalogue stands for it: the copies alone, where copying is all that a round does.
Elsewhere the limit is the serial loop's pace on all cores at once: of n equal parts on w cores the fullest core has
ceil(n / w), and no time goes into communication. What a round does before or after its parts is taken to be
divisible as well, so that this is a bound, and not always one that can be reached.
"""

import json
from collections.abc import Mapping

from harness.checks import REFERENCE_BACKEND
from workloads.catalogue import BACKENDS, WORKLOADS, make_task
from workloads.parameter import ParameterError

Values = Mapping[int, float]

EXPLAINED = (
    "'limit': the copies of a round alone, into existing memory, on all cores; elsewhere the serial loop's pace on "
    "all cores at once, whole parts on each, which leaves no time for communication."
)


def limit(
    workload: str, parameters: str, trials: Mapping[str, Values], higher_is_better: bool, cores: int | None
) -> Values:
    """The limit of a point by trial; empty where it isn't known.

    `trials`: the values of every backend at the point, by trial. `cores`: those allowed, None if unknown.
    """
    for backend, values in trials.items():
        if backend in BACKENDS and BACKENDS[backend].role == "limit":
            return values
    parts = _parallel_parts(workload, parameters)
    if cores is None or parts is None:
        return {}
    gain = ideal_gain(parts, cores)
    factor = gain if higher_is_better else 1 / gain
    return {trial: value * factor for trial, value in trials.get(REFERENCE_BACKEND, {}).items()}


def _parallel_parts(workload: str, parameters: str) -> int | None:
    """Of how many equal parts a round is; None where the limit can only be measured."""
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
