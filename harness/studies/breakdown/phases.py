"""Takes rounds apart: every nanosecond of a round belongs to exactly one phase, and one lane is the last of a round.

Records nothing. Seen from the hub, without which no round goes on:

- The time counts as what the hub's lane does. It runs its own code (`hub`), turns values into bytes or back
  (`serialise`), or hands work over (`submit`).
- Otherwise the hub waits, or works as one of the workers (reactors only). `capacity` lanes could work at the same time.
  Suppose that c of them run a worker's code and s serialise. Then c / capacity of the time counts as `compute`, and
  s / capacity as `serialise`. The rest is `wait`, for lanes that have ended already, or not begun.
- If nobody works, it counts as `transfer`: a message is made or on its way, a process is being woken.

A lane is what does one thing at a time: Ray's actor, a worker process, a thread. Where one process holds several
workers, they are one lane; so is the hub's, where it works as one of the workers.

Times are of `time.perf_counter_ns`, which on Linux is one clock for all processes of a machine. In a lane, spans lie
beside or inside one another, and the innermost counts.
"""

import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import fmean, median_low
from typing import NamedTuple

from harness.grouping import grouped
from harness.store.phase_table import COMPUTE, LAG, LAG_95, LANES, PHASES, SERIALISE, STRAGGLER, TRANSFER, WAIT

# Time, lane, and the lane's state from then on. The state is None while nothing is recorded.
Change = tuple[int, str, str | None]
_PART = 0.95
BLOCKED = "blocked"  # waiting for another lane
HUB_LANE = "hub"


class LaneSpan(NamedTuple):
    """One thing that a lane did, in ns."""

    lane: str
    kind: str
    began_ns: int
    ended_ns: int


def attribute(
    spans: Iterable[LaneSpan], began_ns: int, ended_ns: int, capacity: int, hub_otherwise: str
) -> dict[str, float]:
    """The time of each phase, in ns, between the two moments; their sum is the time between them.

    `hub_otherwise`: what the hub's lane does where no span says so.
    """
    phases = dict.fromkeys(PHASES, 0.0)
    states: dict[str, str | None] = {}
    last = began_ns
    for at, lane, state in [*_changes(spans), (ended_ns, HUB_LANE, None)]:
        now = min(max(at, began_ns), ended_ns)
        if now > last:
            hub = states.get(HUB_LANE) or hub_otherwise
            for phase, share in _shares(hub, list(states.values()), capacity):
                phases[phase] += share * (now - last)
            last = now
        states[lane] = state
    return phases


def _shares(hub: str, states: Sequence[str | None], capacity: int) -> Iterator[tuple[str, float]]:
    if hub not in (BLOCKED, COMPUTE):
        yield hub, 1.0
        return
    # The hub's own state is among the states. More lanes than capacity share the cores: together they fill them.
    computing = min(states.count(COMPUTE), capacity)
    serialising = min(states.count(SERIALISE), capacity - computing)
    yield COMPUTE, computing / capacity
    yield SERIALISE, serialising / capacity
    yield (WAIT if computing or serialising else TRANSFER), (capacity - computing - serialising) / capacity


def _changes(spans: Iterable[LaneSpan]) -> list[Change]:
    """When which lane turned to what, by the innermost of its spans; in the order of time."""
    lanes = grouped(spans, lambda span: span.lane)
    changes = (change for lane, own in lanes.items() for change in _changes_of_lane(lane, own))
    return sorted(changes, key=lambda change: change[0])


def _changes_of_lane(lane: str, spans: list[LaneSpan]) -> Iterator[Change]:
    around: list[tuple[int, str]] = []  # end and kind of the spans that the present one lies in, outermost first
    for _, kind, began, ended in sorted(spans, key=lambda span: (span.began_ns, -span.ended_ns, span.kind)):
        while around and around[-1][0] <= began:
            end, _ = around.pop()
            yield end, lane, around[-1][1] if around else None
        if around:
            around.append((min(ended, around[-1][0]), kind))  # two clocks may disagree by a little
        else:
            around.append((ended, kind))
        yield began, lane, kind
    while around:
        end, _ = around.pop()
        yield end, lane, around[-1][1] if around else None


def stragglers(spans: Iterable[LaneSpan], marks: Sequence[int]) -> dict[str, float]:
    """Find how often which lane was the last of a round, and how late. The keys are those of `LANE_UNITS`.

    `marks`: the times in ns at which the first round began and at which each ended. Raises ValueError where no worker's
    code ended in any.
    """
    rounds: list[dict[str, int]] = [{} for _ in marks[1:]]  # when each lane ended
    for lane, kind, _, ended in spans:
        if kind == COMPUTE and marks[0] < ended <= marks[-1]:
            ends = rounds[bisect_left(marks, ended) - 1]
            ends[lane] = max(ended, ends.get(lane, ended))
    last, lags = Counter[str](), list[float]()
    for ends, (began, ended) in zip(rounds, pairwise(marks), strict=True):
        if ends:
            last[max(sorted(ends), key=ends.__getitem__)] += 1
            lags.append((max(ends.values()) - median_low(ends.values())) / (ended - began))
    if not lags:
        raise ValueError("no worker's code ended within a measured round")
    not_exceeded = sorted(lags)[math.ceil(_PART * len(lags)) - 1]
    lanes, most = len(set[str]().union(*rounds)), max(last.values())
    return {LANES: lanes, STRAGGLER: most / len(lags), LAG: fmean(lags), LAG_95: not_exceeded}
