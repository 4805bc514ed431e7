"""Log ratios of neighbouring turns: the rule by which two subjects of a block are compared."""

import json
import math
from collections.abc import Iterable, Mapping
from typing import Protocol

from harness.plan.grid import runs_alone
from harness.store.recorded_turns import RecordedTurns
from workloads.catalogue import BACKENDS


class Timed(Protocol):
    """A turn, as measured or as recorded."""

    @property
    def rounds(self) -> int:
        """How many rounds it had."""

    @property
    def wall_ns(self) -> int:
        """How long they took."""

    @property
    def cpu_ns(self) -> int:
        """How much of a processor they took."""


def log_ratios(
    above: Mapping[int, Timed], below: Mapping[int, Timed], by_cpu: bool, less: tuple[float, float] = (0.0, 0.0)
) -> list[float]:
    """Of two subjects' times of a round, from their turns by sweep, in order.

    `by_cpu`: CPU times, where both run alone in one thread, for there what other processes take says nothing. `less`:
    ns of each one's round that don't count. Turns without more are left out.
    """
    over, under = (
        {sweep: (turn.cpu_ns if by_cpu else turn.wall_ns) / turn.rounds - uncounted for sweep, turn in turns.items()}
        for turns, uncounted in zip((above, below), less, strict=True)
    )
    shared = (sweep for sweep in sorted(over.keys() & under.keys()) if over[sweep] > 0 and under[sweep] > 0)
    return [math.log(over[sweep] / under[sweep]) for sweep in shared]


def by_block(
    taken: RecordedTurns,
    point: tuple[str, str],
    above: tuple[str, int],
    below: tuple[str, int],
    trials: Iterable[int],
    less: tuple[float, float] = (0.0, 0.0),
) -> list[list[float]]:
    """The same of recorded turns of a backend and copy, by block. Nothing, where a turn has no time that counts."""
    over, under = (taken.of(point, *subject) for subject in (above, below))
    parameters = json.loads(point[1])
    by_cpu = all(name in BACKENDS and runs_alone(parameters, BACKENDS[name]) for name, _ in (above, below))
    found = []
    for trial in sorted(over.keys() & under.keys() & set(trials)):
        logs = log_ratios(over[trial], under[trial], by_cpu, less)
        if any(less) and len(logs) < len(over[trial].keys() & under[trial].keys()):
            return []
        if logs:
            found.append(logs)
    return found
