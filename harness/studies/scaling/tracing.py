"""One point in this process, traced on one worker for the prediction."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from harness.prediction import MessageCost, Written, predict
from harness.store.scaling_table import HERE, PAID, PREDICTED
from harness.studies.scaling.messages import encoded_bytes
from harness.studies.traced_rounds import shortened, traced
from reactorlib import Program, Span
from workloads import catalogue
from workloads.parameter import UnsupportedError

TRACED = "reactor-inline"
# Each reaction that is traced takes memory, and time in the prediction: about as many messages as this are traced.
_MOST_MESSAGES = 20_000
# Those of a calculation that is repeated, for several backends or costs.
_FEW_MESSAGES = 1_000
# Between these costs in ns is that of a message or a byte, which is found by halving.
_LEAST_NS, _MOST_NS, _HALVINGS = 1e-4, 1e9, 20


def costs(
    workload: str,
    points: Sequence[Mapping[str, Any]],
    speed_ups: Mapping[str, Sequence[float]],
    workers: Mapping[str, int],
    cores: int,
) -> dict[str, tuple[float, float] | str]:
    """The cost of a message and of a byte on each backend, in ns, from its speed-ups over the loop at two points.

    The first point's messages are small, and the second's large. `workers`: of each backend. Text where no cost
    explains the speed-ups.
    """
    small, large = (_calculation(workload, one, _FEW_MESSAGES, cores) for one in points)
    found: dict[str, tuple[float, float] | str] = {}
    for backend, (of_small, of_large) in speed_ups.items():
        message_ns = cost_behind(partial(small, workers[backend]), of_small)
        byte_ns = math.inf
        if message_ns < math.inf:
            byte_ns = cost_behind(partial(large, workers[backend], message_ns), of_large)
        explained = byte_ns < math.inf
        found[backend] = (message_ns, byte_ns) if explained else "slower than any cost of its messages explains"
    return found


def cost_behind(speed_up: Callable[[float], float], measured: float) -> float:
    """The cost at which the calculated speed-up, which falls with it, is the measured one.

    It is 0 where the measured one is higher than any, and infinite where it is lower.
    """
    if measured >= speed_up(_LEAST_NS) or measured <= speed_up(_MOST_NS):
        return 0.0 if measured >= speed_up(_LEAST_NS) else math.inf
    low, high = math.log(_LEAST_NS), math.log(_MOST_NS)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if speed_up(math.exp(middle)) > measured else (low, middle)
    return math.exp(low)


def speed_ups(
    workload: str, parameters: Mapping[str, Any], backends: Mapping[str, Sequence[float]], cores: int
) -> dict[str, float]:
    """The speed-up of each backend over the loop, on so many cores.

    `backends`: of each, the number of workers, and the cost of a message and of a byte in ns. Raises UnsupportedError
    where no reaction runs in the measured rounds.
    """
    calculated = _calculation(workload, parameters, _FEW_MESSAGES, cores)
    return {name: calculated(int(workers), *own) for name, (workers, *own) in backends.items()}


def _calculation(workload: str, parameters: Mapping[str, Any], most_messages: int, cores: int) -> Callable[..., float]:
    """The speed-up as a function of the workers, and of the cost of a message and of a byte in ns.

    Half of the cost of a message is its sender's, half its receiver's.
    """
    program, spans, written = _traced(workload, parameters, most_messages)

    def calculated(workers: int, message_ns: float, byte_ns: float = 0.0) -> float:
        cost = MessageCost(message_ns / 2, message_ns / 2, 0.0, byte_ns)
        return predict(program, spans, [workers], cost=cost, written=written, cores=cores)[workers]

    return calculated


def predicted(
    workload: str, parameters: Mapping[str, Any], cost: Mapping[str, float], counts: Sequence[int], cores: int
) -> dict[str, dict[str, float]]:
    """The speed-up over one worker in the measured rounds, by kind and number of workers.

    The kinds are those of `scaling_table`. `cost`: of a message. Raises UnsupportedError where no reaction runs then.
    """
    program, spans, written = _traced(workload, parameters, _MOST_MESSAGES)
    paid = partial(predict, program, spans, cost=MessageCost(**cost), written=written)
    speed_up = {PREDICTED: predict(program, spans), PAID: paid(), HERE: paid(counts, cores=cores)}
    return {kind: {str(count): value for count, value in told.items()} for kind, told in speed_up.items()}


def _traced(
    workload: str, parameters: Mapping[str, Any], most_messages: int
) -> tuple[Program, Sequence[Span], Sequence[Written]]:
    """The program, the spans of the measured rounds, and the bytes that each reaction wrote."""
    task = catalogue.make_task(workload, shortened(parameters, most_messages))
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
    return rounds.program, spans, written
