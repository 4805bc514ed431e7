"""The trace file: complete and well formed, and opened by Perfetto's own trace processor."""

import json
from collections import Counter
from itertools import pairwise

import pytest

from reactorlib import Tag, elaborate, run
from reactorlib.view.timeline import trace_events
from reactorlib.worker.recorder import Span
from tests.reactorlib.timeline.test_summary import PROGRAM, ROUND, Main
from tests.reactorlib.timeline.trace_processor import query


def events(kind, trace, category=None):
    found = [event for event in trace["traceEvents"] if event["ph"] == kind]
    return [event for event in found if category in (None, event.get("cat"))]


def test_each_reaction_is_a_slice_on_the_track_of_its_worker():
    trace = trace_events(PROGRAM, ROUND, workers=2, digest="abc")
    assert [(e["name"], e["tid"], e["ts"], e["dur"]) for e in events("X", trace, "reaction")][:3] == [
        ("Main.hub.begin", 1, 0.0, 0.01),
        ("Main.workers[0].serve", 1, 0.012, 0.02),
        ("Main.workers[1].serve", 2, 0.015, 0.03),
    ]
    assert events("X", trace, "reaction")[0]["args"] == {"tag": "(0 ns, 0)", "time_ns": 0, "microstep": 0, "level": 0}
    assert trace["otherData"] == {"program": "Main", "workers": 2, "digest": "abc"}


def test_tracks_are_named_after_workers():
    names = {(e["tid"], e["args"]["name"]) for e in events("M", trace_events(PROGRAM, ROUND, workers=2))
             if e["name"] == "thread_name"}  # fmt: skip
    assert names == {(1, "worker 0"), (2, "worker 1"), (3, "tags")}


def test_arrows_join_slices_on_different_workers_only():
    trace = trace_events(PROGRAM, ROUND, workers=2)
    begins, ends = events("s", trace), events("f", trace)
    assert [e["id"] for e in begins] == [e["id"] for e in ends] == list(range(len(begins)))
    assert {(b["tid"], e["tid"], e["ts"]) for b, e in zip(begins, ends, strict=True)} == {
        (1, 2, 0.015), (1, 2, 0.05), (2, 1, 0.049),
    }  # fmt: skip
    assert all(b["ts"] <= e["ts"] for b, e in zip(begins, ends, strict=True))


def test_a_tag_lasts_from_its_first_reaction_to_its_last_or_to_the_next_tag():
    later = [Span(s.reaction, Tag(0, 1), s.began_ns + 50, s.ended_ns + 50, s.worker) for s in ROUND]
    one, other = events("X", trace_events(PROGRAM, [*ROUND, *later], workers=2), "tag")
    assert (one["name"], one["tid"], one["ts"], one["dur"]) == ("(0 ns, 0)", 3, 0.0, 0.05)
    assert (other["ts"], other["dur"], other["args"]) == (0.05, 0.054, {"reactions": 6})


def test_nothing_ran_nothing_shown():
    assert {event["ph"] for event in trace_events(PROGRAM, [])["traceEvents"]} == {"M"}


def traced():
    program = elaborate(Main, n=6)
    result = run(program, executor="threads", workers=2, trace=True)
    return result, trace_events(program, result.spans, result.workers, result.digest)


def test_the_slices_of_a_track_nest():
    """Complete events of one track may follow or contain each other, but the format forbids that they overlap."""
    _, trace = traced()
    for track in (1, 2, 3):
        slices = sorted((e["ts"], e["ts"] + e["dur"]) for e in events("X", trace) if e["tid"] == track)
        assert slices
        assert all(one[1] <= two[0] + 1e-3 for one, two in pairwise(slices))


@pytest.mark.slow(reason="Perfetto's own reader; `make test` has what the format asks for")
def test_perfetto_opens_the_trace_and_finds_each_reaction():
    result, trace = traced()
    written = json.dumps(trace).encode()
    rows = query(
        written,
        "select slice.name as name, thread.name as worker from slice "
        "join thread_track on slice.track_id = thread_track.id join thread using (utid) "
        "where slice.category = 'reaction'",
    )
    found = Counter((row.name, row.worker) for row in rows)
    (flows,) = query(written, "select count(*) as number from flow")
    (tags,) = query(written, "select count(*) as number from slice where category = 'tag'")
    spans = zip(result.trace, result.spans, strict=True)
    assert found == Counter((record.reaction, f"worker {span.worker}") for record, span in spans)
    assert flows.number == len(events("s", trace)) > 0
    assert tags.number == len(events("X", trace, "tag"))
