"""Where the time of a traced run went: by reaction, by worker, and along the critical path. All times in ns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reactorlib.elaboration.program import Elaborated
from reactorlib.view.timeline.causes import Causes, critical_path
from reactorlib.worker.trace import Span


@dataclass(slots=True)
class ReactionTimes:
    """What one reaction took; of a folded bank, that of all its members together.

    `waiting_ns`: from the moment when all that it depends on at its tag was done until it began.
    `critical_ns`: the part of its own time that lies on critical paths.
    """

    path: str
    count: int = 0
    total_ns: int = 0
    longest_ns: int = 0
    waiting_ns: int = 0
    critical_ns: int = 0

    @property
    def mean_ns(self) -> float:
        return self.total_ns / self.count if self.count else 0.0


@dataclass(slots=True)
class Summary:
    """A run in numbers. `critical_ns` sums, over all tags, the longest chain of reactions that depend on each other.

    No number of workers makes the reactions take less than that, so `work_ns / critical_ns` bounds the speed-up.
    """

    tags: int = 0
    elapsed_ns: int = 0
    work_ns: int = 0
    critical_ns: int = 0
    busy_ns: list[int] = field(default_factory=list)  # by worker
    reactions: list[ReactionTimes] = field(default_factory=list)


def summarised(program: Elaborated, spans: Sequence[Span], workers: int = 1, unfold: bool = False) -> Summary:
    """The summary of a run's spans, which are in order; bank members count as one reaction unless `unfold`."""
    summary = Summary(busy_ns=[0] * workers)
    rows: dict[str, ReactionTimes] = {}
    for span in spans:
        took = span.ended_ns - span.began_ns
        row = _row(rows, program, span, unfold)
        row.count += 1
        row.total_ns += took
        row.longest_ns = max(row.longest_ns, took)
        summary.work_ns += took
        summary.busy_ns[span.worker] += took
    for at_tag, causes in Causes(program).by_tag(spans):
        summary.tags += 1
        for span, earlier in zip(at_tag, causes, strict=True):
            _row(rows, program, span, unfold).waiting_ns += _waited(at_tag, span, earlier)
        for position in critical_path(at_tag, causes):
            span = at_tag[position]
            _row(rows, program, span, unfold).critical_ns += span.ended_ns - span.began_ns
            summary.critical_ns += span.ended_ns - span.began_ns
    if spans:
        summary.elapsed_ns = max(span.ended_ns for span in spans) - min(span.began_ns for span in spans)
    summary.reactions = sorted(rows.values(), key=lambda row: -row.total_ns)
    return summary


def _row(rows: dict[str, ReactionTimes], program: Elaborated, span: Span, unfold: bool) -> ReactionTimes:
    path = program.reactions[span.reaction].path
    key = path if unfold else re.sub(r"\[\d+\]", "[*]", path)
    if key not in rows:
        rows[key] = ReactionTimes(key)
    return rows[key]


def _waited(at_tag: Sequence[Span], span: Span, earlier: Sequence[int]) -> int:
    """From when it could have begun; with nothing to wait for, from when the first reaction of the tag began."""
    ready = max((at_tag[i].ended_ns for i in earlier), default=min(other.began_ns for other in at_tag))
    return max(0, span.began_ns - ready)
