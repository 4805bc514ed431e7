"""Ray's compiled graphs: calls whose route and buffers are set up once and then used round after round.

Ray keeps them in maintenance only (its pull requests 61747 and 61807, 2026): they stand beside plain actors
here, not in their place. The advice of Ray's documentation is followed here, once for all workloads. Buffers fit the
largest message, and there are only as many of them as are in use at a time.

A value that comes out of a graph lies in the graph's own buffer and occupies it for as long as it lives.
The caller of the graph drops or copies every array of a round before the next round begins. Otherwise the next round
waits for ever.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import ray

from workloads.ray_session import Session

if TYPE_CHECKING:
    from ray.experimental.compiled_dag_ref import CompiledDAGRef

# Room in a buffer next to the payload: the pickle of its type, shape and the like.
_ENVELOPE_BYTES = 16 * 1024

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

    ray.get([actor.__ray_call__.remote(_forgo_torch) for actor in session.actors])
    with InputNode() as value:
        node = build(value)
    compiled = node.experimental_compile(
        _buffer_size_bytes=message_bytes + _ENVELOPE_BYTES, _max_inflight_executions=in_flight
    )
    session.on_end(compiled.teardown)
    return compiled.execute


def broadcast_graph(session: Session, methods: Sequence[Any], message_bytes: int) -> ExecuteAll:
    """The graph that calls every method with its input; out come their results, in this order."""
    from ray.dag import MultiOutputNode

    def build(value: Any) -> Any:
        return MultiOutputNode([method.bind(value) for method in methods])

    execute: ExecuteAll = compile_graph(session, build, message_bytes)
    return execute


def _forgo_torch(_actor: object) -> None:
    """In a graph an actor imports torch, if it is there, and looks for an accelerator at every message.

    The import takes longer than the rest of an actor's start, and holds more memory. No message of ours is for an
    accelerator, so pretend to the graph that torch is not installed.
    """
    from ray.experimental.channel.common import ChannelContext

    ChannelContext.get_current()._torch_available = False
