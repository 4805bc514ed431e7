"""One point in this process, traced on one worker for the prediction."""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

from harness.prediction.simulation import MessageCost
from harness.prediction.speed_up import Written, predict
from harness.store.scaling_table import HERE, PAID, PREDICTED
from harness.studies.breakdown.spans import MarkingProbe, replaced, shortened
from harness.studies.scaling.messages import encoded_bytes
from reactorlib import Span, elaborate
from reactorlib.program import Program
from workloads import catalogue
from workloads.parameter import UnsupportedError

TRACED = "reactor-inline"
# Each reaction that is traced takes memory, and time in the prediction: about as many messages as this are traced.
_MOST_MESSAGES = 20_000
_OF_RUN = ("fast", "executor", "workers")
_WRITTEN = -4  # where the latest entry of a recorder has what was set

Parameters = Mapping[str, Any]


def fitting(parameters: Parameters) -> dict[str, Any]:
    """The parameters with fewer rounds, where they have more than can be traced."""
    return shortened(parameters, _MOST_MESSAGES)


def predicted(
    workload: str, parameters: Parameters, cost: Mapping[str, float] | None, counts: Sequence[int], cores: int
) -> dict[str, Any]:
    """Work and span of a measured round in ns, and by kind of prediction the speed-up over one worker by number of
    workers. Messages are free, or paid for if their `cost` is known. There is a core for each worker, and for
    `counts` workers also that number of cores.

    Raises UnsupportedError where no reaction runs in the measured rounds.
    """
    task = catalogue.make_task(workload, fitting(parameters))
    probe = MarkingProbe(task)
    with _traced(catalogue.load(workload, TRACED)) as found:
        catalogue.run(workload, TRACED, task, probe)
    ((program, traced),) = found
    within = list(_within(traced, *probe.measured))
    if not within:
        raise UnsupportedError("no reaction begins within the measured rounds, so there is nothing to predict from")
    spans, written = zip(*within, strict=True)
    free = predict(program, spans)
    speed_up = {PREDICTED: free.speed_up}
    if cost is not None:
        paid = functools.partial(predict, program, spans, cost=MessageCost(**cost), written=written)
        speed_up |= {PAID: paid().speed_up, HERE: paid(counts, cores=cores).speed_up}
    return {
        "work_ns": free.work_ns / task.rounds,
        "span_ns": free.span_ns / task.rounds,
        "speed_up": {kind: {str(count): value for count, value in told.items()} for kind, told in speed_up.items()},
    }


# A span, and the bytes of what its reaction set.
Traced = tuple[Span, Written]


def _within(traced: Sequence[Traced], began_ns: int, ended_ns: int) -> Iterator[Traced]:
    """Those of the measured rounds: a round is reported inside a reaction, which belongs to the round it ends."""
    return ((span, written) for span, written in traced if began_ns <= span.began_ns < ended_ns)


@contextlib.contextmanager
def _traced(module: ModuleType) -> Iterator[list[tuple[Program, list[Traced]]]]:
    """Trace the `run` of a workload's module, and collect the programs that it ran. Of values that were set the size is
    kept: they themselves would be memory that is never given back, which would change the times.
    """
    from reactorlib.worker import worker as worker_module
    from reactorlib.worker.trace import Recorder

    class Sizes(Recorder):
        """A recorder that notes how large values are, after the time of their reaction was taken."""

        def record(self, reaction: int, began_ns: int) -> None:
            super().record(reaction, began_ns)
            if written := self._entries[_WRITTEN]:
                self._entries[_WRITTEN] = tuple((path, encoded_bytes(value)) for path, value in written)

    if not hasattr(module, "run_reactors"):
        raise UnsupportedError(f"{module.__name__} calls no run_reactors, which could be traced")
    run_reactors = module.run_reactors
    found: list[tuple[Program, list[Traced]]] = []

    def traced(reactor: Any, **given: Any) -> Any:
        options = {name: given.pop(name) for name in _OF_RUN if name in given}
        program = elaborate(reactor, **given)
        result = run_reactors(program, trace=True, **options)
        sizes = [record.writes for record in result.trace]
        found.append((program, list(zip(result.spans, sizes, strict=True))))
        return result

    with replaced(worker_module, "Recorder", Sizes), replaced(module, "run_reactors", traced):
        yield found
