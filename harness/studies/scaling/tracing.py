"""One point in this process, traced on one worker for the prediction."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

from harness.prediction import MessageCost, predict
from harness.store.scaling_table import HERE, PAID, PREDICTED
from harness.studies.scaling.messages import encoded_bytes
from harness.studies.traced_rounds import shortened, traced
from workloads import catalogue
from workloads.parameter import UnsupportedError

TRACED = "reactor-inline"
# Each reaction that is traced takes memory, and time in the prediction: about as many messages as this are traced.
_MOST_MESSAGES = 20_000


def predicted(
    workload: str, parameters: Mapping[str, Any], cost: Mapping[str, float], counts: Sequence[int], cores: int
) -> dict[str, dict[str, float]]:
    """The speed-up over one worker in the measured rounds, by kind and number of workers.

    The kinds are those of `scaling_table`. `cost`: of a message. Raises UnsupportedError where no reaction runs then.
    """
    task = catalogue.make_task(workload, shortened(parameters, _MOST_MESSAGES))
    rounds = traced(workload, TRACED, task)
    began_ns, *_, ended_ns = rounds.probe.marks
    # A round is reported inside a reaction, which belongs to the round it ends.
    within = [
        (span, tuple((path, encoded_bytes(value)) for path, value in record.writes))
        for span, record in zip(rounds.spans, rounds.records, strict=True)
        if began_ns <= span.began_ns < ended_ns
    ]
    if not within:
        raise UnsupportedError("no reaction begins within the measured rounds, so there is nothing to predict from")
    spans, written = zip(*within, strict=True)
    paid = functools.partial(predict, rounds.program, spans, cost=MessageCost(**cost), written=written)
    speed_up = {PREDICTED: predict(rounds.program, spans), PAID: paid(), HERE: paid(counts, cores=cores)}
    return {kind: {str(count): value for count, value in told.items()} for kind, told in speed_up.items()}
