"""One point on one backend taken apart: a plain run for comparison, then one with spans recorded, in this process."""

import contextlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from harness.store.phase_table import COMPUTE, HUB, LANE_UNITS, PHASES, PLAIN_ROUND, ROUND, SUBMIT
from harness.studies.breakdown import phases, ray_spans
from harness.studies.breakdown.phases import BLOCKED, HUB_LANE, LaneSpan
from harness.studies.traced_rounds import MarkingProbe, TracedRounds, traced
from reactorlib.cpus import available_cpus
from workloads import catalogue
from workloads.parameter import UnsupportedError

# The measures of a run: its phases and their sum, the round without recording, and which lane was the last.
NAMES = (*PHASES, ROUND, PLAIN_ROUND, *LANE_UNITS)

RAY = ("ray-paper", "ray-tuned")
_REACTORS = ("reactor-inline", "reactor-threads", "reactor-processes")
# The state of the hub's lane outside all spans. On other backends it waits for another lane.
_OTHERWISE = {**dict.fromkeys(RAY, HUB), "reactor-inline": SUBMIT}
# Spans are kept in memory, and Ray keeps its own of every task. About as many messages as this are recorded.
MOST_MESSAGES = 4_000


def can(backend: str) -> bool:
    """Whether the rounds of a backend can be taken apart."""
    return backend in RAY or backend in _REACTORS


def measure(workload: str, backend: str, parameters: Mapping[str, Any]) -> dict[str, float]:
    """By the names `NAMES`: the mean time of each phase in a measured round, in ns, and its stragglers (see there).

    Raises UnsupportedError where the recording cannot tell phases apart.
    """
    task = catalogue.make_task(workload, parameters)
    if backend in RAY and getattr(task, "shape", "") == "ping_pong":
        raise UnsupportedError("an actor waits inside its task, which Ray's timeline does not show")
    plain = MarkingProbe(task)
    with ray_spans.recordable() if backend in RAY else contextlib.nullcontext():
        catalogue.run(workload, backend, task, MarkingProbe(task))  # the first pays for memory that the others use
        catalogue.run(workload, backend, task, plain)
        if backend in RAY:
            probe = MarkingProbe(task)
            with ray_spans.recording() as found:
                catalogue.run(workload, backend, task, probe)
        else:
            rounds = traced(workload, backend, task)
            probe, found = rounds.probe, list(_of_reactors(rounds))
    began_ns, *_, ended_ns = probe.marks
    times = phases.attribute(found, began_ns, ended_ns, _capacity(backend, task), _OTHERWISE.get(backend, BLOCKED))
    if not times[COMPUTE]:
        raise RuntimeError("of the workers' code nothing was recorded")
    plain_began_ns, *_, plain_ended_ns = plain.marks
    times |= {ROUND: ended_ns - began_ns, PLAIN_ROUND: plain_ended_ns - plain_began_ns}
    return {name: time / task.rounds for name, time in times.items()} | phases.stragglers(found, probe.marks)


def _capacity(backend: str, task: Any) -> int:
    """How many lanes could run a worker's code at the same time."""
    if catalogue.BACKENDS[backend].options.get("executor") == "inline":
        return 1
    parts: int = task.parallel_parts if hasattr(task, "parallel_parts") else task.actors
    return min(available_cpus(), parts)


def _of_reactors(rounds: TracedRounds) -> Iterator[LaneSpan]:
    """The spans of reactions. A reactor that reports rounds is the hub, any other computes for a worker.

    Simulated work is between the two reactions of a reactor that `waits_for_all`: all lanes compute.
    """
    reactors = [one.instance.reactor for one in rounds.program.reactions]
    kinds = [HUB if "probe" in inspect.signature(type(one).__init__).parameters else COMPUTE for one in reactors]
    for span in rounds.spans:
        yield LaneSpan(_lane(span.worker), kinds[span.reaction], span.began_ns, span.ended_ns)
    pauses = [span for span in rounds.spans if getattr(reactors[span.reaction], "waits_for_all", False)]
    pauses.sort(key=lambda span: span.began_ns)
    for begin, end in zip(pauses[::2], pauses[1::2], strict=True):
        for worker in {span.worker for span in rounds.spans}:
            yield LaneSpan(_lane(worker), COMPUTE, begin.ended_ns, end.began_ns)


def _lane(worker: int) -> str:
    return f"worker {worker}" if worker else HUB_LANE
