"""Ray's compiled graphs: calls whose route and buffers are set up once and then used round after round.

Ray keeps them in maintenance only (its pull requests 61747 and 61807, 2026): they stand beside plain actors
here, not in their place. As Ray's documentation advises, buffers fit the largest message. There are only as many of
them as are in use at a time.

A value that comes out of a graph lies in the graph's own buffer and occupies it for as long as it lives. A driver that
keeps one waits for ever in the next call.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import ray

from workloads.actors import ray_pooled
from workloads.actors.ray_pooled import received
from workloads.actors.system import ActorSystem, InFlight, Replies

if TYPE_CHECKING:
    from ray.experimental.compiled_dag_ref import CompiledDAGRef

# Room in a buffer next to the payload: the pickle of its type, shape and the like.
_ENVELOPE_BYTES = 16 * 1024

# Takes a call in one value; returns what `ray.get` turns into the replies.
Execute: TypeAlias = "Callable[[Any], list[CompiledDAGRef]]"


class System(ray_pooled.System):
    """One graph, with a node for each actor, which takes no other call once the graph is compiled."""

    style = "compiled"

    def await_actors(self, largest_bytes: Callable[[], int]) -> None:
        """See ActorSystem. Then the graph is compiled; it is taken down when the run ends."""
        from ray.dag import InputNode, MultiOutputNode  # after the session is open: it reads the style's time limits

        super().await_actors(largest_bytes)
        with self.session.free_of_charge():
            message_bytes = largest_bytes() + _ENVELOPE_BYTES
        ray.get([actor.__ray_call__.remote(_forgo_torch) for actor in self.actors])
        with InputNode() as value:
            graph: Any = MultiOutputNode([actor.call_in_one.bind(value) for actor in self.actors])
        compiled = graph.experimental_compile(_buffer_size_bytes=message_bytes, _max_inflight_executions=1)
        self.session.on_end(compiled.teardown)
        self._execute: Execute = compiled.execute
        self._last = InFlight(list)

    def send(self, method: str, *arguments: Any) -> Replies:
        """See ActorSystem. Large arguments lie in the graph's buffer, once for all actors."""
        self._last.fetch()
        self._last = InFlight(partial(received, self._execute(self.packing.packed((method, *arguments)))))
        return self._last

    def send_to(self, actor: int, method: str, *arguments: Any) -> Replies:
        """A graph calls all of its actors."""
        return ActorSystem.send_to(self, actor, method, *arguments)


def _forgo_torch(_actor: object) -> None:
    """In a graph an actor imports torch, if it is there, and looks for an accelerator at every message.

    The import takes longer than the rest of an actor's start, and holds more memory. No message of ours is for an
    accelerator, so pretend to the graph that torch is not installed.
    """
    from ray.experimental.channel.common import ChannelContext

    ChannelContext.get_current()._torch_available = False
