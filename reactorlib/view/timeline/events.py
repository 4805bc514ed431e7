"""A traced run in the Trace Event Format, which Perfetto and chrome://tracing open.

There is one track per worker with the reactions that ran there, and a track of tags. Arrows show where a reaction
waited for one on another worker. The format is the document "Trace Event Format" of the Chromium project. Its `ts` and
`dur` are in us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

from reactorlib import Span
from reactorlib.elaboration.records import Elaborated
from reactorlib.view.timeline.causes import causes_by_tag

Event = dict[str, Any]
PROCESS = 1  # thread n + 1 is worker n, as Perfetto takes thread 0 for the idle one; the last thread are the tags


def trace_events(program: Elaborated, spans: Sequence[Span], workers: int = 1, digest: str | None = None) -> Event:
    """The trace as a JSON object. Two files of equal runs have the same `digest`."""
    return {
        "displayTimeUnit": "ns",
        "otherData": {"program": program.root.path, "workers": workers, **({"digest": digest} if digest else {})},
        "traceEvents": [*_names(program, workers), *_Events(program, spans, workers).all()],
    }


def _names(program: Elaborated, workers: int) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": f"reactorlib: {program.root.path}"}}
    tracks = [(worker + 1, f"worker {worker}", worker + 1) for worker in range(workers)]
    for thread, name, place in (*tracks, (workers + 1, "tags", 0)):
        yield {"ph": "M", "pid": PROCESS, "tid": thread, "name": "thread_name", "args": {"name": name}}
        yield {"ph": "M", "pid": PROCESS, "tid": thread, "name": "thread_sort_index", "args": {"sort_index": place}}


class _Events:
    def __init__(self, program: Elaborated, spans: Sequence[Span], workers: int) -> None:
        self._program, self._workers = program, workers
        self._epoch = min((span.began_ns for span in spans), default=0)
        self._tags = list(causes_by_tag(program, spans))

    def all(self) -> Iterator[Event]:
        arrows = count()
        for number, (at_tag, causes) in enumerate(self._tags):
            yield self._tag(number, at_tag)
            for span, earlier in zip(at_tag, causes, strict=True):
                yield self._reaction(span)
                for cause in (at_tag[position] for position in earlier):
                    if cause.worker != span.worker:
                        yield from self._arrow(cause, span, next(arrows))

    def _tag(self, number: int, at_tag: Sequence[Span]) -> Event:
        """From a tag's first reaction to its last, or to the next tag, as the slices of a track must not overlap."""
        began, ended = min(span.began_ns for span in at_tag), max(span.ended_ns for span in at_tag)
        if number + 1 < len(self._tags):
            ended = max(began, min(ended, *(span.began_ns for span in self._tags[number + 1][0])))
        return self._slice("tag", str(at_tag[0].tag), self._workers, began, ended, {"reactions": len(at_tag)})

    def _reaction(self, span: Span) -> Event:
        level = self._program.order.level[span.reaction]
        known = {"tag": str(span.tag), "time_ns": span.tag.time, "microstep": span.tag.microstep, "level": level}
        path = self._program.reactions[span.reaction].path
        return self._slice("reaction", path, span.worker, span.began_ns, span.ended_ns, known)

    def _slice(self, category: str, name: str, worker: int, began: int, ended: int, known: dict[str, Any]) -> Event:
        event = {"ph": "X", "cat": category, "name": name, "pid": PROCESS, "tid": worker + 1, "args": known}
        return event | {"ts": self._us(began), "dur": round((ended - began) / 1000, 3)}

    def _arrow(self, cause: Span, span: Span, number: int) -> Iterator[Event]:
        event = {"cat": "dependency", "name": "waited for", "id": number, "pid": PROCESS}
        # A flow binds to the slice around its time: a little before the end of the one, the begin of the other.
        inside = max(cause.began_ns, cause.ended_ns - 1)
        yield {"ph": "s", "ts": self._us(inside), "tid": cause.worker + 1, **event}
        yield {"ph": "f", "bp": "e", "ts": self._us(span.began_ns), "tid": span.worker + 1, **event}

    def _us(self, time_ns: int) -> float:
        return round((time_ns - self._epoch) / 1000, 3)
