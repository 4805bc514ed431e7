"""Spans of Ray: the driver's from wrappers around Ray's own functions, the actors' from the timeline that Ray keeps.

The workloads' code runs as it is. On the driver:

- `put`, pickling and unpickling are `serialise`.
- `remote()` without its pickling is `submit`. If its arguments are too large to be passed inline, the rest of the call
  stores them, and is `serialise`.
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
from harness.studies.breakdown.spans import BLOCKED, HUB_LANE, LaneSpan
from workloads.ray_styles import INLINE_LIMIT_BYTES

# Have Ray report task events, and often.
VARIABLES = {"RAY_task_events_report_interval_ms": "100"}

_KINDS = {"task:deserialize_arguments": SERIALISE, "task:execute": COMPUTE, "task:store_outputs": SERIALISE}
# How often the timeline is read until it has not grown since the last time, and for how long at most.
_LOOK_SECONDS = 0.5
_LONGEST_LOOK_SECONDS = 15.0


@contextlib.contextmanager
def recordable() -> Iterator[None]:
    """Have Ray started so that it can be recorded, in every run inside."""
    from workloads import ray_session

    with mock.patch.dict(ray_session.ADDED, VARIABLES):
        yield


@contextlib.contextmanager
def recording() -> Iterator[list[LaneSpan]]:
    """Record what this process does with Ray, and at the end of the run what its actors did."""
    import ray
    from ray._private.serialization import SerializationContext
    from ray.actor import ActorMethod

    from workloads.ray_session import Session

    spans: list[LaneSpan] = []
    call, end_session = _Call(spans), Session.end

    def end(session: Session) -> None:
        spans.extend(_of_actors(ray.timeline))  # while the actors live, who report for themselves
        end_session(session)

    unpickle = _timed(spans, SERIALISE, SerializationContext.deserialize_objects)
    with (
        mock.patch.multiple(
            ray,
            put=_timed(spans, SERIALISE, ray.put),
            get=_timed(spans, BLOCKED, ray.get),
            wait=_timed(spans, BLOCKED, ray.wait),
        ),
        mock.patch.object(ActorMethod, "remote", call.remote(ActorMethod.remote)),
        mock.patch.object(SerializationContext, "serialize", call.serialise(SerializationContext.serialize)),
        mock.patch.object(SerializationContext, "deserialize_objects", unpickle),
        mock.patch.object(Session, "end", end),
    ):
        yield spans


def _note(spans: list[LaneSpan], kind: str, began_ns: int, ended_ns: int) -> None:
    """Add a span of the main thread, which is the driver."""
    if threading.current_thread() is threading.main_thread():
        spans.append(LaneSpan(HUB_LANE, kind, began_ns, ended_ns))


def _timed(spans: list[LaneSpan], kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which adds a span whenever it is called."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter_ns()
        try:
            return function(*args, **kwargs)
        finally:
            _note(spans, kind, began, time.perf_counter_ns())

    return call


class _Call:
    """The remote call that is being made, and from when on it stores its arguments."""

    def __init__(self, spans: list[LaneSpan]) -> None:
        self._spans = spans
        self._storing_from: int | None = None

    def remote(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def remote(method: Any, *args: Any, **kwargs: Any) -> Any:
            self._storing_from = None
            began = time.perf_counter_ns()
            reference = function(method, *args, **kwargs)
            ended = time.perf_counter_ns()
            _note(self._spans, SUBMIT, began, ended)
            if self._storing_from is not None:
                _note(self._spans, SERIALISE, self._storing_from, ended)
            return reference

        return remote

    def serialise(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def serialise(context: Any, value: Any) -> Any:
            began = time.perf_counter_ns()
            serialised = function(context, value)
            ended = time.perf_counter_ns()
            _note(self._spans, SERIALISE, began, ended)
            if self._storing_from is None and serialised.total_bytes > INLINE_LIMIT_BYTES:
                self._storing_from = ended
            return serialised

        return serialise


def _of_actors(timeline: Callable[[], list[dict[str, Any]]]) -> list[LaneSpan]:
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
    spans = []
    for event in events:
        kind = _KINDS.get(event["name"])
        if kind is not None:
            began_ns = int(event["ts"] * 1e3) - offset_ns
            spans.append(LaneSpan(event["tid"], kind, began_ns, began_ns + int(event["dur"] * 1e3)))
    return spans
