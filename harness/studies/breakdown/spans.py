"""The spans of a round: what a lane did, and when. A lane does one thing at a time, such as a thread or a process.

Times are of `time.perf_counter_ns`, which on Linux is one clock for all processes of a machine. In a lane, spans lie
beside or inside one another, and the innermost counts.
"""

import inspect
from collections.abc import Iterator
from typing import NamedTuple

from harness.store.phase_table import COMPUTE, HUB
from harness.studies.traced_rounds import TracedRounds

BLOCKED = "blocked"  # waiting for another lane
HUB_LANE = "hub"


class LaneSpan(NamedTuple):
    """One thing that a lane did, in ns."""

    lane: str
    kind: str
    began_ns: int
    ended_ns: int


def of_reactors(rounds: TracedRounds) -> Iterator[LaneSpan]:
    """The spans of reactions. A reactor that reports rounds is the hub, any other computes for a worker."""
    kinds = []
    for one in rounds.program.reactions:
        is_hub = "probe" in inspect.signature(type(one.instance.reactor).__init__).parameters
        kinds.append(HUB if is_hub else COMPUTE)
    for span in rounds.spans:
        lane = f"worker {span.worker}" if span.worker else HUB_LANE
        yield LaneSpan(lane, kinds[span.reaction], span.began_ns, span.ended_ns)
