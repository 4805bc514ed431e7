"""One point on one backend taken apart: a plain run for comparison, then one with spans recorded, in this process."""

import contextlib
import os
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from harness.stats import stragglers
from harness.store.phase_table import PHASES, PLAIN_ROUND, ROUND
from harness.studies.breakdown import phases, ray_spans, reactor_spans
from harness.studies.breakdown.last_lanes import stragglers as find_stragglers
from harness.studies.breakdown.spans import COMPUTE, HUB, SUBMIT, MarkingProbe, Recorder, shortened
from reactorlib.cpus import available_cpus
from workloads import catalogue
from workloads.parameter import UnsupportedError

# The report on a run: its phases, their sum, the round of a run without recording, and the lane that was last.
NAMES = (*PHASES, ROUND, PLAIN_ROUND, *stragglers.UNITS)

_RAY = ("ray-paper", "ray-tuned")
_REACTORS = ("reactor-inline", "reactor-threads", "reactor-processes")
# Spans are kept in memory, and Ray keeps its own of every task: about as many messages as this are recorded.
_MOST_MESSAGES = 4_000


def can(backend: str) -> bool:
    """Whether the rounds of a backend can be taken apart."""
    return backend in _RAY or backend in _REACTORS


def fitting(parameters: Mapping[str, Any], most_rounds: int) -> dict[str, Any]:
    """The parameters with fewer rounds, where they have more than can be recorded."""
    return shortened({**parameters, "rounds": min(parameters["rounds"], most_rounds)}, _MOST_MESSAGES)


def measure(workload: str, backend: str, parameters: Mapping[str, Any]) -> dict[str, float]:
    """By the names `NAMES`: the mean time of each phase in a measured round, in ns, and its stragglers (see there).

    Raises UnsupportedError where the recording cannot tell phases apart.
    """
    task = catalogue.make_task(workload, parameters)
    module = catalogue.load(workload, backend)
    if backend in _RAY and getattr(task, "shape", "") == "ping_pong":
        raise UnsupportedError("an actor waits inside its task, which Ray's timeline does not show")
    plain, probe, recorder = MarkingProbe(task), MarkingProbe(task), Recorder()
    with _prepared(backend):
        catalogue.run(workload, backend, task, MarkingProbe(task))  # the first pays for memory that the others use
        catalogue.run(workload, backend, task, plain)
        with ray_spans.recording(recorder) if backend in _RAY else reactor_spans.recording(recorder, module):
            catalogue.run(workload, backend, task, probe)
    began_ns, ended_ns = probe.measured
    spans = recorder.spans()
    found = phases.attribute(spans, began_ns, ended_ns, _capacity(backend, task), HUB if backend in _RAY else SUBMIT)
    if not found[COMPUTE]:
        raise RuntimeError("of the workers' code nothing was recorded")
    plain_began_ns, plain_ended_ns = plain.measured
    times = {**found, ROUND: ended_ns - began_ns, PLAIN_ROUND: plain_ended_ns - plain_began_ns}
    late = dict(zip(stragglers.UNITS, find_stragglers(spans, probe.marks), strict=True))
    return {name: time / task.rounds for name, time in times.items()} | late


@contextlib.contextmanager
def _prepared(backend: str) -> Iterator[None]:
    """Have the framework started in a way that can be recorded, in both runs alike."""
    variables: MutableMapping[str, str] = os.environ
    added = reactor_spans.VARIABLES
    if backend in _RAY:
        from workloads import ray_session

        variables, added = ray_session.ADDED, ray_spans.VARIABLES
    before = {name: variables[name] for name in added if name in variables}
    variables.update(added)
    try:
        yield
    finally:
        for name in added:
            variables.pop(name)
        variables.update(before)


def _capacity(backend: str, task: Any) -> int:
    """How many lanes could run a worker's code at the same time."""
    if catalogue.BACKENDS[backend].options.get("executor") == "inline":
        return 1
    parts: int = task.parallel_parts if hasattr(task, "parallel_parts") else task.actors
    return min(available_cpus(), parts)
