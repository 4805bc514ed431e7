"""The cost of a round on each backend with the user's environment: all of them in turns with a plain loop."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from harness.measure import block
from harness.measure.block import Effort, Measured
from harness.measure.measured_processes import Subject, workload_order
from harness.stats import intervals
from harness.stats.intervals import Estimate
from harness.studies.advise.profile import WORKLOAD, Profile
from reactorlib.cpus import gil_enabled

LOOP = "serial"
AGAIN = "serial again"
LIMIT = "lockstep"
POOLED = "ray-pooled"
REACTORS = "reactor-processes" if gil_enabled() else "reactor-threads"
# From the simplest to what asks most of a program; the simplest of those that are as fast is recommended.
CHOICES = (LOOP, "gymnasium-async", "reactor-vector", REACTORS, POOLED, "ray-pooled-compiled")
_EFFORT = Effort(sweeps=8, fewest=4, longest_s=25.0, warmup_s=(0.3, 4.0), limit_s=120.0)
# The longest that a round of several steps per message should take, and the most that it should move.
_ROUND_NS = 20_000_000
_ROUND_BYTES = 64 * 2**20
_MOST_STEPS = 32
_BLOCKS = 3
_VERIFY_NS = 400_000_000
_MOST_VERIFIED = 50


@dataclass(frozen=True)
class MeasuredChoices:
    """The results of the blocks, one `Measured` of each subject per block. `steps`: per message of the batched one."""

    blocks: Sequence[Mapping[str, Measured]]
    steps: int

    @property
    def failures(self) -> dict[str, str]:
        """Why a subject was not measured, or not to the end, by its name."""
        return {name: one.failure for found in self.blocks for name, one in found.items() if one.failure}

    def ratio(self, above: str, below: str) -> Estimate | None:
        """How many times as long a round of the one takes; None where either was not measured to the end."""
        if not {above, below} <= self.blocks[0].keys() - self.failures.keys():
            return None
        logs = [found for one in self.blocks if (found := block.log_ratios(one[above], one[below]))]
        return intervals.ratio_of_turns(logs) if logs else None

    @property
    def loop_ns(self) -> float:
        turns = [turn.round_ns for found in self.blocks for turn in found[LOOP].turns.values()]
        return intervals.mean(turns).value

    @property
    def outside_cores(self) -> float:
        return max(one.outside_cores for found in self.blocks for one in found.values())

    @property
    def digests(self) -> dict[str, str]:
        """The values that each subject computed in its first rounds, if it reports them."""
        return {name: one.digest for found in self.blocks for name, one in found.items() if one.digest}


def batched(steps: int) -> str:
    """The name of the subject that takes several steps per message."""
    return f"{POOLED} x{steps}"


def run(
    parameters: Mapping[str, Any], profile: Profile, cores: int, seconds: float, tell: Callable[[str], None]
) -> MeasuredChoices:
    """Measure for about this time: one block, or three and more if there is time. An interval over two blocks is less
    useful than that of one.
    """
    began = time.monotonic()
    actors = parameters["actors"]
    ideal_ns = profile.mean_ns * -(-actors // cores)
    per_round = max(1, actors * profile.message_bytes)
    steps = max(2, min(_MOST_STEPS, round(_ROUND_NS / ideal_ns), _ROUND_BYTES // per_round))
    verified = max(2, min(_MOST_VERIFIED, round(_VERIFY_NS / (profile.mean_ns * actors))))
    subjects = [_subject(name, name, parameters, verified) for name in CHOICES]
    subjects += [_subject(AGAIN, LOOP, parameters, verified), _subject(LIMIT, LIMIT, parameters, 0)]
    subjects.append(_subject(batched(steps), POOLED, {**parameters, "steps_per_message": steps}, 0))
    blocks: list[Mapping[str, Measured]] = []
    while True:
        effort = _EFFORT if seconds > _EFFORT.longest_s else replace(_EFFORT, longest_s=seconds)
        found = block.run(subjects, effort, f"advise {len(blocks)}", starts=lambda one: tell(one.name))
        blocks.append(found)
        needed_s = (time.monotonic() - began) * max(_BLOCKS, len(blocks) + 1) / len(blocks)
        if found[LOOP].failure or (needed_s >= seconds and len(blocks) not in range(2, _BLOCKS)):
            return MeasuredChoices(blocks, steps)
        subjects = [one.subject for one in found.values() if not one.failure]


def _subject(name: str, backend: str, parameters: Mapping[str, Any], verified: int) -> Subject:
    order = workload_order(WORKLOAD, backend, parameters, verified)
    return Subject(name, order, matched=bool(verified), pinned=not backend.startswith("ray-"))
