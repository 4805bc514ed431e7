"""Log ratios of neighbouring turns: the rule by which two subjects of a block are compared."""

import math
from collections.abc import Iterable, Mapping

from harness.plan.grid import runs_alone
from harness.store.recorded_turns import RecordedTurn, RecordedTurns
from workloads.catalogue import BACKENDS


def log_ratios(above: Mapping[int, float], below: Mapping[int, float]) -> list[float]:
    """Of two subjects' times of a round, by sweep, in order. Times that are not positive are left out."""
    shared = (sweep for sweep in sorted(above.keys() & below.keys()) if above[sweep] > 0 and below[sweep] > 0)
    return [math.log(above[sweep] / below[sweep]) for sweep in shared]


def by_block(
    taken: RecordedTurns,
    point: str,
    above: tuple[str, int],
    below: tuple[str, int],
    trials: Iterable[int],
    less: tuple[float, float] = (0.0, 0.0),
) -> list[list[float]]:
    """The same of recorded turns of a backend and copy, by block: of CPU times where both run alone in one thread.

    There, what other processes take says nothing. `less`: ns of each one's round that don't count. Nothing, where a
    turn has no time that counts.
    """
    over, under = (taken.of(point, *subject) for subject in (above, below))
    first = next((turn for turns in over.values() for turn in turns.values()), None)
    parameters = first.values if first else {}
    by_cpu = all(name in BACKENDS and runs_alone(parameters, BACKENDS[name]) for name, _ in (above, below))

    def times(turns: Mapping[int, RecordedTurn], uncounted_ns: float) -> dict[int, float]:
        took = {sweep: (turn.cpu_ns if by_cpu else turn.wall_ns) / turn.rounds for sweep, turn in turns.items()}
        return {sweep: ns - uncounted_ns for sweep, ns in took.items()}

    found = []
    for trial in sorted(over.keys() & under.keys() & set(trials)):
        logs = log_ratios(times(over[trial], less[0]), times(under[trial], less[1]))
        if any(less) and len(logs) < len(over[trial].keys() & under[trial].keys()):
            return []
        if logs:
            found.append(logs)
    return found
