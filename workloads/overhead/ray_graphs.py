"""Shared parts of the shapes in Ray's compiled graphs: the size of messages, and executions that overlap."""

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

import ray

from workloads.ray_graph import Execute

if TYPE_CHECKING:
    from ray.experimental.compiled_dag_ref import CompiledDAGRef

# All messages are small integers.
MESSAGE_BYTES = 64
IN_FLIGHT = 16


def last(execute: Execute, values: Iterable[int]) -> int:
    """Execute the graph for every value, several at a time, and return what comes out last."""
    under_way: deque[CompiledDAGRef] = deque()
    for value in values:
        if len(under_way) == IN_FLIGHT:
            ray.get(under_way.popleft())
        under_way.append(execute(value))
    while len(under_way) > 1:
        ray.get(under_way.popleft())
    result: int = ray.get(under_way.popleft())
    return result
