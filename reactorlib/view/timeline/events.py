"""A traced run in the Trace Event Format, which Perfetto and chrome://tracing open.

One track per worker with the reactions that ran there, arrows where a reaction waited for one on another worker,
and a track of tags. Format: the Trace Event Format document of the Chromium project; `ts` and `dur` in us.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from reactorlib.elaboration.program import Elaborated
from reactorlib.view.timeline.causes import Causes
from reactorlib.worker.trace import Span

Event = dict[str, Any]
PROCESS = 1  # thread n + 1 is worker n, as Perfetto takes thread 0 for the idle one; the last thread are the tags


def trace_events(program: Elaborated, spans: Sequence[Span], workers: int = 1, digest: str | None = None) -> Event:
    """The trace as a JSON object. `digest` is kept in it, so that two files tell whether they show the same run."""
    epoch = min((span.began_ns for span in spans), default=0)
    return {
        "displayTimeUnit": "ns",
        "otherData": {"program": program.root.path, "workers": workers, **({"digest": digest} if digest else {})},
        "traceEvents": [*_names(program, workers), *_slices(program, spans, workers, epoch)],
    }


def _names(program: Elaborated, workers: int) -> Iterator[Event]:
    yield {"ph": "M", "name": "process_name", "pid": PROCESS, "args": {"name": f"reactorlib: {program.root.path}"}}
    for worker in range(workers):
        yield from _track(worker + 1, f"worker {worker}", worker + 1)
    yield from _track(workers + 1, "tags", 0)


def _track(thread: int, name: str, place: int) -> Iterator[Event]:
    for what, value in (("thread_name", {"name": name}), ("thread_sort_index", {"sort_index": place})):
        yield {"ph": "M", "pid": PROCESS, "tid": thread, "name": what, "args": value}


def _slices(program: Elaborated, spans: Sequence[Span], workers: int, epoch: int) -> Iterator[Event]:
    arrows = 0
    tags = list(Causes(program).by_tag(spans))
    for number, (at_tag, causes) in enumerate(tags):
        following = tags[number + 1][0] if number + 1 < len(tags) else ()
        yield _tag(at_tag, following, epoch, workers + 1)
        for span, earlier in zip(at_tag, causes, strict=True):
            yield _slice(program, span, epoch)
            for position in earlier:
                cause = at_tag[position]
                if cause.worker != span.worker:
                    yield from _arrow(cause, span, epoch, arrows)
                    arrows += 1


def _slice(program: Elaborated, span: Span, epoch: int) -> Event:
    reaction = program.reactions[span.reaction]
    return {
        "ph": "X",
        "cat": "reaction",
        "name": reaction.path,
        "pid": PROCESS,
        "tid": span.worker + 1,
        "ts": _us(span.began_ns - epoch),
        "dur": _us(span.ended_ns - span.began_ns),
        "args": {
            "tag": str(span.tag),
            "time_ns": span.tag.time,
            "microstep": span.tag.microstep,
            "level": program.order.level[span.reaction],
        },
    }


def _tag(at_tag: Sequence[Span], following: Sequence[Span], epoch: int, thread: int) -> Event:
    """From a tag's first reaction to its last, or to the next tag where workers run ahead: slices must not overlap."""
    began, ended = _begin(at_tag), max(span.ended_ns for span in at_tag)
    if following:
        ended = max(began, min(ended, _begin(following)))
    return {
        "ph": "X",
        "cat": "tag",
        "name": str(at_tag[0].tag),
        "pid": PROCESS,
        "tid": thread,
        "ts": _us(began - epoch),
        "dur": _us(ended - began),
        "args": {"reactions": len(at_tag)},
    }


def _begin(spans: Sequence[Span]) -> int:
    return min(span.began_ns for span in spans)


def _arrow(cause: Span, span: Span, epoch: int, number: int) -> Iterator[Event]:
    event = {"cat": "dependency", "name": "waited for", "id": number, "pid": PROCESS}
    # Flows bind to the slice around their time: a little before the end of the one, the begin of the other.
    inside = max(cause.began_ns, cause.ended_ns - 1)
    yield {"ph": "s", "ts": _us(inside - epoch), "tid": cause.worker + 1, **event}
    yield {"ph": "f", "bp": "e", "ts": _us(span.began_ns - epoch), "tid": span.worker + 1, **event}


def _us(time_ns: int) -> float:
    return round(time_ns / 1000, 3)
