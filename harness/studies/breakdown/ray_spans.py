"""Spans of Ray: the driver's from wrappers around Ray's own functions, the actors' from the timeline that Ray keeps.

The workloads' code runs as it is. On the driver:

- `put`, pickling and unpickling are `serialise`.
- `remote()` without its pickling is `submit`, which includes the storing of large arguments.
- `get` and `wait` without their unpickling are `blocked`.

Of an actor's task Ray records three parts: fetching and unpickling the arguments, the method, pickling and storing the
result.

The timeline has Ray report task events, which a tuned session does not do otherwise.
"""

import contextlib
import functools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

from harness.store.phase_table import COMPUTE, SERIALISE, SUBMIT
from harness.studies.breakdown.phases import BLOCKED, HUB_LANE, LaneSpan

# Have Ray report task events, and often.
VARIABLES = {"RAY_task_events_report_interval_ms": "100"}

_KINDS = {"task:deserialize_arguments": SERIALISE, "task:execute": COMPUTE, "task:store_outputs": SERIALISE}
# How often the timeline is read until it has not grown since the last time, and for how long at most.
_LOOK_SECONDS = 0.5
_LONGEST_LOOK_SECONDS = 15.0


def recordable() -> contextlib.AbstractContextManager[object]:
    """Have Ray started so that it can be recorded, in every run inside."""
    return mock.patch.dict("workloads.ray_session.ADDED", VARIABLES)


@contextlib.contextmanager
def recording() -> Iterator[list[LaneSpan]]:
    """Record what this process does with Ray, and at the end of the run what its actors did."""
    import ray
    from ray._private.serialization import SerializationContext
    from ray.actor import ActorMethod

    from workloads.ray_session import Session

    spans: list[LaneSpan] = []
    end_session = Session.end

    def end(session: Session) -> None:
        spans.extend(list(_of_actors(ray.timeline)))  # while the actors live, who report for themselves
        end_session(session)

    wrapped: list[tuple[Any, str, str]] = [
        (ray, "put", SERIALISE),
        (ray, "get", BLOCKED),
        (ray, "wait", BLOCKED),
        (ActorMethod, "remote", SUBMIT),
        (SerializationContext, "serialize", SERIALISE),
        (SerializationContext, "deserialize_objects", SERIALISE),
    ]
    with contextlib.ExitStack() as patches:
        for owner, name, kind in wrapped:
            timed = _timed(spans, kind, getattr(owner, name))
            patches.enter_context(mock.patch.object(owner, name, timed))
        patches.enter_context(mock.patch.object(Session, "end", end))
        yield spans


def _timed(spans: list[LaneSpan], kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which adds a span whenever the main thread, which is the driver, calls it."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            return function(*args, **kwargs)
        finally:
            if threading.current_thread() is threading.main_thread():
                spans.append(LaneSpan(HUB_LANE, kind, began, time.perf_counter_ns()))

    return call


def _of_actors(timeline: Callable[[], list[dict[str, Any]]]) -> Iterator[LaneSpan]:
    """The spans in Ray's timeline, once everything has been reported."""
    give_up = time.monotonic() + _LONGEST_LOOK_SECONDS
    events: list[dict[str, Any]] = []
    while time.monotonic() < give_up:
        time.sleep(_LOOK_SECONDS)
        before, events = events, timeline()
        if events and len(events) == len(before):
            break
    # Ray's clock is the system's, in microseconds; ours counts from the start of the machine.
    offset_ns = time.time_ns() - time.perf_counter_ns()
    for event in events:
        if kind := _KINDS.get(event["name"]):
            began_ns = int(event["ts"] * 1e3) - offset_ns
            yield LaneSpan(event["tid"], kind, began_ns, began_ns + int(event["dur"] * 1e3))
