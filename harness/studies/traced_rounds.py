"""Rounds of a point's reactors in this process, with the trace that any run can have. Scaling reads it."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from unittest import mock

from harness.plan.grid import bytes_of_round
from reactorlib import Program, Span, TraceRecord, elaborate
from workloads import catalogue
from workloads.parameter import UnsupportedError
from workloads.probe import Probe

_OF_RUN = ("fast", "executor", "workers")
# A trace keeps the values that reactions set.
_MOST_BYTES = 2**30
_FEWEST_ROUNDS = 2


class MarkingProbe(Probe):
    """A probe that also tells when the measured rounds began and ended."""

    def __init__(self, task: Any) -> None:
        self._marks: list[int] = []
        self._first = 2 + task.warmup_rounds  # after the creation's mark come two of `ready` and those of the rounds
        super().__init__(task.rounds, task.warmup_rounds, verify=False, clock=self._mark)

    def _mark(self) -> int:
        self._marks.append(time.perf_counter_ns())
        return self._marks[-1]

    @property
    def marks(self) -> list[int]:
        """The beginning of the first measured round and the end of each, once all are done."""
        return self._marks[self._first :]


@dataclass(frozen=True)
class TracedRounds:
    """A traced run. `spans` and `records` have an entry for each reaction that ran, in the same order."""

    program: Program
    spans: Sequence[Span]
    records: Sequence[TraceRecord]
    probe: MarkingProbe


def traced(workload: str, backend: str, task: Any) -> TracedRounds:
    """Run a task on reactors with a trace. Raises UnsupportedError where that would keep too much."""
    if 2 * bytes_of_round(vars(task)) > _MOST_BYTES:
        raise UnsupportedError("a trace keeps all values, and those of a round are too large")
    module, probe = catalogue.load(workload, backend), MarkingProbe(task)
    if not hasattr(module, "run_reactors"):
        raise UnsupportedError(f"{module.__name__} calls no run_reactors, which could be traced")
    run_reactors = module.run_reactors
    found: list[TracedRounds] = []

    def run_traced(reactor: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in _OF_RUN if name in given}
        program = elaborate(reactor, **given)
        result = run_reactors(program, trace=True, **options)
        found.append(TracedRounds(program, result.spans, result.trace, probe))
        return result

    with mock.patch.object(module, "run_reactors", run_traced):
        catalogue.run(workload, backend, task, probe)
    return found[0]


def shortened(parameters: Mapping[str, Any], most_messages: int) -> dict[str, Any]:
    """The parameters with fewer rounds where messages or a trace's bytes would be too many."""
    actors = parameters.get("actors") or parameters.get("agents") or 1
    messages = actors * parameters.get("messages_per_round", 1)
    most = min(most_messages // messages, _MOST_BYTES // max(1, 2 * bytes_of_round(parameters)))
    rounds = min(parameters["rounds"], max(_FEWEST_ROUNDS, most))
    warmup_rounds = min(parameters["warmup_rounds"], max(_FEWEST_ROUNDS, rounds // 5))
    return {**parameters, "rounds": rounds, "warmup_rounds": warmup_rounds}
