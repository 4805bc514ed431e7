"""One point in this process, traced on one worker for the prediction."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

from harness.breakdown.spans import MarkingProbe, replaced, shortened
from reactorlib import Span, elaborate
from reactorlib.program import Program
from reactorlib.view.scaling import predict
from workloads import catalogue
from workloads.parameter import UnsupportedError

TRACED = "reactor-inline"
# Each reaction that is traced takes memory, and time in the prediction: about as many messages as this are traced.
_MOST_MESSAGES = 20_000
_OF_RUN = ("fast", "executor", "workers")

Parameters = Mapping[str, Any]


def fitting(parameters: Parameters) -> dict[str, Any]:
    """The parameters with fewer rounds, where they have more than can be traced."""
    return shortened(parameters, _MOST_MESSAGES)


def predicted(workload: str, parameters: Parameters) -> dict[str, Any]:
    """Work and span of a measured round in ns, and the predicted speed-up over one worker by number of workers.

    Raises UnsupportedError where no reaction runs in the measured rounds.
    """
    task = catalogue.make_task(workload, fitting(parameters))
    probe = MarkingProbe(task)
    with _traced(catalogue.load(workload, TRACED)) as found:
        catalogue.run(workload, TRACED, task, probe)
    ((program, spans),) = found
    within = list(_within(spans, *probe.measured))
    if not within:
        raise UnsupportedError("no reaction begins within the measured rounds, so there is nothing to predict from")
    prediction = predict(program, within)
    return {
        "work_ns": prediction.work_ns / task.rounds,
        "span_ns": prediction.span_ns / task.rounds,
        "speed_up": {str(count): value for count, value in prediction.speed_up.items()},
    }


def _within(spans: Iterable[Span], began_ns: int, ended_ns: int) -> Iterator[Span]:
    """Those of the measured rounds: a round is reported inside a reaction, which belongs to the round it ends."""
    return (span for span in spans if began_ns <= span.began_ns < ended_ns)


@contextlib.contextmanager
def _traced(module: ModuleType) -> Iterator[list[tuple[Program, list[Span]]]]:
    """Have the `run` of a workload's module traced, and what it ran collected. Values that were set are not kept: only
    times count, and memory that is never given back would change them.
    """
    from reactorlib.worker import worker as worker_module
    from reactorlib.worker.trace import Recorder

    class Times(Recorder):
        """A recorder that notes no values."""

        def __init__(self, program: Program, now: Any, worker: int = 0) -> None:
            super().__init__(program, now, worker)
            self.note = _forget

    if not hasattr(module, "run_reactors"):
        raise UnsupportedError(f"{module.__name__} calls no run_reactors, which could be traced")
    run_reactors = module.run_reactors
    found: list[tuple[Program, list[Span]]] = []

    def traced(reactor: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in _OF_RUN if name in given}
        program = elaborate(reactor, **given)
        result = run_reactors(program, trace=True, **options)
        found.append((program, result.spans))
        return result

    with replaced(worker_module, "Recorder", Times), replaced(module, "run_reactors", traced):
        yield found


def _forget(_written: tuple[str, Any]) -> None:
    """Keep nothing."""
