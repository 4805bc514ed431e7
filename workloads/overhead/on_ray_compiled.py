"""The shapes as Ray actors in compiled graphs, which always begin and end at the driver.

Therefore the driver itself plays against `pong`, where two actors play against each other elsewhere, and takes
the token back after every lap. Where nobody waits for a reply, several executions are under way at a time.
"""

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import ray

from workloads.overhead.on_ray import Shape, gathering, make, play_rounds
from workloads.overhead.task import Counter, Member, Task, TimerCounts
from workloads.probe import Probe
from workloads.ray_graph import Execute, broadcast_graph, compile_graph
from workloads.ray_session import Session, session

if TYPE_CHECKING:
    from ray.experimental.compiled_dag_ref import CompiledDAGRef

# All messages are small integers.
_MESSAGE_BYTES = 64
_IN_FLIGHT = 16


class TellingCounter(Counter):
    """Every call in a graph has a result, so this one tells the sum at once."""

    def count(self, increment: int) -> int:
        """The sum, this increment included."""
        self.add(increment)
        return self.retrieve()


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    with session("compiled", probe) as ray_session:
        play_rounds(task, probe, SHAPES[task.shape](task, ray_session))


def ring(task: Task, ray_session: Session) -> Shape:
    """One actor per member, a lap per execution; for ping_pong, the one actor beside the driver."""
    others = 1 if task.shape == "ping_pong" else task.actors
    members = make(ray_session, Member, ((index,) for index in range(others)))

    def build(value: object) -> object:
        for member in members:
            value = member.take.bind(value)
        return value

    execute: Execute = compile_graph(ray_session, build, _MESSAGE_BYTES)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = ray.get(execute(value))
        return value

    return play, lambda: None


def counting(task: Task, ray_session: Session) -> Shape:
    """One actor that counts; the driver is the producer and heeds the last sum only."""
    (counter,) = make(ray_session, TellingCounter, [()])
    execute: Execute = compile_graph(ray_session, counter.count.bind, _MESSAGE_BYTES, _IN_FLIGHT)
    return lambda _: _last(execute, range(1, task.messages_per_round + 1)), lambda: None


def fan_out(task: Task, ray_session: Session) -> Shape:
    """One actor per client."""
    clients = make(ray_session, Member, ((index,) for index in range(task.actors)))
    execute = broadcast_graph(ray_session, [client.take for client in clients], _MESSAGE_BYTES)
    return gathering(task, lambda value: ray.get(execute(value)))


class CountingTimers(TimerCounts):
    """Tells the counts in the graph as well: an actor in a graph takes no other calls."""

    def fire_or_tell(self, index: int) -> list[int] | None:
        """Count a firing; for -1, tell the counts."""
        if index < 0:
            return self.retrieve()
        self.fire(index)
        return None


def timers(task: Task, ray_session: Session) -> Shape:
    """Ray has no timers: the driver keeps the heap and executes the graph for each firing."""
    queue = [(offset_ns, index) for index, offset_ns in enumerate(task.timer_offsets_ns())]
    heapq.heapify(queue)
    (timer_counts,) = make(ray_session, CountingTimers, [(task.actors,)])
    largest_bytes = 8 * task.actors + _MESSAGE_BYTES
    execute: Execute = compile_graph(ray_session, timer_counts.fire_or_tell.bind, largest_bytes, _IN_FLIGHT)

    def due() -> Iterable[int]:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            yield index
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))

    def play(value: int) -> int:
        _last(execute, due())
        return value + task.units_per_round

    return play, lambda: ray.get(execute(-1))


def _last(execute: Execute, values: Iterable[int]) -> int:
    """Execute the graph for every value, several at a time, and return what comes out last."""
    under_way: deque[CompiledDAGRef] = deque()
    for value in values:
        if len(under_way) == _IN_FLIGHT:
            ray.get(under_way.popleft())
        under_way.append(execute(value))
    while len(under_way) > 1:
        ray.get(under_way.popleft())
    last: int = ray.get(under_way.popleft())
    return last


SHAPES: dict[str, Callable[[Task, Session], Shape]] = {
    "ping_pong": ring,
    "thread_ring": ring,
    "counting": counting,
    "fan_out": fan_out,
    "chain": ring,
    "timers": timers,
}
