"""Ray's compiled graphs: calls whose route and buffers are set up once and then used round after round.

Ray keeps them in maintenance only (its pull requests 61747 and 61807, 2026): they stand beside plain actors
here, not in their place. The advice of Ray's documentation is followed here, once for all workloads. Buffers fit the
largest message, and there are only as many of them as are in use at a time.

A value that comes out of a graph lies in the graph's own buffer and occupies it for as long as it lives.
The caller of the graph drops or copies every array of a round before the next round begins. Otherwise the next round
waits for ever.
"""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import psutil
import ray

from workloads.ray_session import Session

if TYPE_CHECKING:
    from ray.experimental.compiled_dag_ref import CompiledDAGRef

# Room in a buffer next to the payload: the pickle of its type, shape and the like.
_ENVELOPE_BYTES = 16 * 1024

# A spare worker that Ray starts fights with the graph's spinning actors for the cores. A round takes three times as
# long until it is there. So the first round waits until Ray's other processes do nothing, this part of a core.
_LOOK_S = 0.25
_IDLE_SHARE = 0.1
_LONGEST_LOOK_S = 1.5

# Takes what goes in; returns what `ray.get` turns into what comes out.
Execute: TypeAlias = "Callable[[Any], CompiledDAGRef]"
ExecuteAll: TypeAlias = "Callable[[Any], list[CompiledDAGRef]]"


def compile_graph(session: Session, build: Callable[[Any], Any], message_bytes: int, in_flight: int = 1) -> Any:
    """Compile the graph that `build` makes of its input node; it is taken down when the run ends.

    Returns its `execute`: an `Execute`, or an `ExecuteAll` where the built node has several outputs.
    `message_bytes`: the largest payload of a message. A larger one is possible, but costs a new buffer.
    `in_flight`: executions that may begin before the first of them is fetched.
    """
    from ray.dag import InputNode  # not before the session is open: it reads the time limits of the style

    pids = ray.get([actor.__ray_call__.remote(_forgo_torch) for actor in session.actors])
    with InputNode() as value:
        node = build(value)
    compiled = node.experimental_compile(
        _buffer_size_bytes=message_bytes + _ENVELOPE_BYTES, _max_inflight_executions=in_flight
    )
    session.on_end(compiled.teardown)
    if not session.probe.verifying:
        with session.free_of_charge():
            _settle(pids)
    return compiled.execute


def broadcast_graph(session: Session, methods: Sequence[Any], message_bytes: int) -> ExecuteAll:
    """The graph that calls every method with its input; out come their results, in this order."""
    from ray.dag import MultiOutputNode

    def build(value: Any) -> Any:
        return MultiOutputNode([method.bind(value) for method in methods])

    execute: ExecuteAll = compile_graph(session, build, message_bytes)
    return execute


def _forgo_torch(_actor: object) -> int:
    """In a graph an actor imports torch, if it is there, and looks for an accelerator at every message.

    The import takes longer than the rest of an actor's start, and holds more memory. No message of ours is for an
    accelerator, so pretend to the graph that torch is not installed. Returns the actor's process id.
    """
    from ray.experimental.channel.common import ChannelContext

    ChannelContext.get_current()._torch_available = False
    return os.getpid()


def _settle(actors: Sequence[int]) -> None:
    """Wait until Ray's processes, but for these, are idle."""
    began = time.monotonic()
    busy = _cpu_seconds(actors)
    while time.monotonic() - began < _LONGEST_LOOK_S:
        time.sleep(_LOOK_S)
        before, busy = busy, _cpu_seconds(actors)
        if busy - before < _IDLE_SHARE * _LOOK_S:
            break


def _cpu_seconds(without: Sequence[int]) -> float:
    """CPU time of the processes below this one, but for some."""
    used = 0.0
    for process in psutil.Process().children(recursive=True):
        if process.pid not in without:
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                used += times.user + times.system
    return used
