"""Spans of Ray: the driver's from wrappers around Ray's own functions, the actors' from the timeline that Ray keeps.

The workloads' code runs as it is. On the driver `put`, and everything that Ray pickles or unpickles, is `serialise`.
`remote()` without its pickling is `submit`. If its arguments are larger than Ray passes inline, the rest of the call
stores them and counts as `serialise`. `get` and `wait` without their unpickling are `blocked`. Of an actor's task Ray
records three parts: fetching and unpickling the arguments, the method, pickling and storing the result.

The timeline has Ray report task events, which a tuned session does not do otherwise.
"""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from harness.studies.breakdown.spans import BLOCKED, COMPUTE, SERIALISE, SUBMIT, Recorder, Span, replaced
from workloads.ray_styles import INLINE_LIMIT_BYTES

# Ray's reports, and the interval at which it looks for something to report.
VARIABLES = {"RAY_task_events_report_interval_ms": "100"}

_KINDS = {
    "task:deserialize_arguments": SERIALISE,
    "task:execute": COMPUTE,
    "task:store_outputs": SERIALISE,
}
# How often the timeline is read until it has not grown since the last time, and for how long at most.
_LOOK_SECONDS = 0.5
_LONGEST_LOOK_SECONDS = 15.0


@contextlib.contextmanager
def recording(recorder: Recorder) -> Iterator[None]:
    """Record what this process does with Ray, and at the end of the run what its actors did."""
    import ray
    from ray._private.serialization import SerializationContext
    from ray.actor import ActorMethod

    from workloads.ray_session import Session

    call = _Call(recorder)
    end_session = Session.end

    def end(session: Session) -> None:
        recorder.include(_of_actors(ray.timeline))  # while the actors live, who report for themselves
        end_session(session)

    with contextlib.ExitStack() as stack:
        for owner, name, replacement in (
            (ray, "put", recorder.timed(SERIALISE, ray.put)),
            (ray, "get", recorder.timed(BLOCKED, ray.get)),
            (ray, "wait", recorder.timed(BLOCKED, ray.wait)),
            (ActorMethod, "remote", call.remote(ActorMethod.remote)),
            (SerializationContext, "serialize", call.serialise(SerializationContext.serialize)),
            (
                SerializationContext,
                "deserialize_objects",
                recorder.timed(SERIALISE, SerializationContext.deserialize_objects),
            ),
            (Session, "end", end),
        ):
            stack.enter_context(replaced(owner, name, replacement))
        yield


class _Call:
    """The remote call that is being made, and from when on it stores its arguments."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._storing_from: int | None = None

    def remote(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`ActorMethod.remote`, recorded."""

        def remote(method: Any, *args: Any, **kwargs: Any) -> Any:
            self._storing_from = None
            began = time.perf_counter_ns()
            reference = function(method, *args, **kwargs)
            ended = time.perf_counter_ns()
            self._recorder.add(SUBMIT, began, ended)
            if self._storing_from is not None:
                self._recorder.add(SERIALISE, self._storing_from, ended)
            return reference

        return remote

    def serialise(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """`SerializationContext.serialize`, recorded."""

        def serialise(context: Any, value: Any) -> Any:
            began = time.perf_counter_ns()
            serialised = function(context, value)
            ended = time.perf_counter_ns()
            self._recorder.add(SERIALISE, began, ended)
            if self._storing_from is None and serialised.total_bytes > INLINE_LIMIT_BYTES:
                self._storing_from = ended
            return serialised

        return serialise


def _of_actors(timeline: Callable[[], list[dict[str, Any]]]) -> list[Span]:
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
            spans.append(Span(event["tid"], kind, began_ns, began_ns + int(event["dur"] * 1e3)))
    return spans
