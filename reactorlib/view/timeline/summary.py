"""The times of a traced run: by reaction, by worker, and along the critical path. All times in ns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from reactorlib import Span
from reactorlib.elaboration.records import Elaborated
from reactorlib.view.timeline.causes import causes_by_tag, critical_path


@dataclass(slots=True)
class ReactionTimes:
    """The times of one reaction, or of all members of a bank together.

    `waiting_ns`: from the end of all its causes until it began. `critical_ns`: its own time on critical paths.
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
    """The summary of a run's spans, which are in order. Members of a bank count as one reaction unless `unfold`."""
    paths = [reaction.path if unfold else re.sub(r"\[\d+\]", "[*]", reaction.path) for reaction in program.reactions]
    rows = {path: ReactionTimes(path) for path in paths}
    summary = Summary(busy_ns=[0] * workers)
    for at_tag, causes in causes_by_tag(program, spans):
        summary.tags += 1
        began = min(span.began_ns for span in at_tag)
        for span, earlier in zip(at_tag, causes, strict=True):
            row, took = rows[paths[span.reaction]], span.ended_ns - span.began_ns
            row.count += 1
            row.total_ns += took
            row.longest_ns = max(row.longest_ns, took)
            row.waiting_ns += max(0, span.began_ns - max((at_tag[i].ended_ns for i in earlier), default=began))
            summary.busy_ns[span.worker] += took
        for span in (at_tag[position] for position in critical_path(at_tag, causes)):
            rows[paths[span.reaction]].critical_ns += span.ended_ns - span.began_ns
    if spans:
        summary.elapsed_ns = max(span.ended_ns for span in spans) - min(span.began_ns for span in spans)
    summary.reactions = sorted((row for row in rows.values() if row.count), key=lambda row: -row.total_ns)
    summary.work_ns = sum(row.total_ns for row in summary.reactions)
    summary.critical_ns = sum(row.critical_ns for row in summary.reactions)
    return summary
