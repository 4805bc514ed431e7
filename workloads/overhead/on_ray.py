"""The shapes as Ray actors: what is a reaction elsewhere is a method call here."""

import heapq
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import ray

from workloads.overhead.task import SUM_MODULUS, Counter, Member, Task, TimerCounts
from workloads.probe import Probe
from workloads.ray_session import Session, session

# A round, from the value before it to the value after it; and what to add to the final state.
Shape = tuple[Callable[[int], int], Callable[[], object]]


class Ping:
    """Plays against another actor, so that the exchange is between actors and not with the driver."""

    def __init__(self, pong: Any) -> None:
        self.pong = pong

    def play(self, value: int, exchanges: int) -> int:
        """The value after so many exchanges."""
        for _ in range(exchanges):
            value = ray.get(self.pong.take.remote(value))
        return value


def run(task: Task, probe: Probe, *, style: str = "paper") -> None:
    """Run all rounds of the task, reporting to the probe.

    Along a ring or chain, style "paper" fetches every value and passes it on; "tuned" passes references on
    and fetches the last. In the other shapes Ray's advice changes nothing: small values, batched calls.
    """
    with session(style, probe) as ray_session:
        shape = (
            ring_of_references if style != "paper" and task.shape in ("thread_ring", "chain") else SHAPES[task.shape]
        )
        play_rounds(task, probe, shape(task, ray_session))


def play_rounds(task: Task, probe: Probe, shape: Shape) -> None:
    """All rounds of a task whose actors live, reporting to the probe."""
    play, final = shape
    value = task.seed
    probe.ready()
    for _ in range(task.total_rounds):
        value = play(value)
        probe.digest.add(0, value)
        probe.round()
    probe.state(value, final())


def make(ray_session: Session, actor_class: Any, arguments: Iterable[tuple[Any, ...]]) -> list[Any]:
    """Actors of a class, alive."""
    actors = ray_session.start(actor_class, arguments)
    ray_session.await_actors()
    return actors


def ping_pong(task: Task, ray_session: Session) -> Shape:
    """Two actors."""
    (pong,) = make(ray_session, Member, [(0,)])
    (ping,) = make(ray_session, Ping, [(pong,)])

    def play(value: int) -> int:
        result: int = ray.get(ping.play.remote(value, task.messages_per_round))
        return result

    return play, lambda: None


def ring(task: Task, ray_session: Session) -> Shape:
    """One actor per member; the driver passes each value on."""
    members = make(ray_session, Member, ((index,) for index in range(task.actors)))

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = ray.get(member.take.remote(value))
        return value

    return play, lambda: None


def ring_of_references(task: Task, ray_session: Session) -> Shape:
    """One actor per member; each is given the reference to what the one before it will return."""
    return passing_references(task, make(ray_session, Member, ((index,) for index in range(task.actors))))


def passing_references(task: Task, members: Sequence[Any]) -> Shape:
    """A lap per message; the driver waits for the last only."""

    def play(value: int) -> int:
        reference: Any = value
        for _ in range(task.messages_per_round):
            for member in members:
                reference = member.take.remote(reference)
        result: int = ray.get(reference)
        return result

    return play, lambda: None


def counting(task: Task, ray_session: Session) -> Shape:
    """One actor that counts; the driver is the producer and waits for the sum only."""
    (counter,) = make(ray_session, Counter, [()])

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add.remote(increment)
        total: int = ray.get(counter.retrieve.remote())
        return total

    return play, lambda: None


def fan_out(task: Task, ray_session: Session) -> Shape:
    """One actor per client."""
    clients = make(ray_session, Member, ((index,) for index in range(task.actors)))
    return gathering(task, lambda value: ray.get([client.take.remote(value) for client in clients]))


def gathering(task: Task, gather: Callable[[int], list[int]]) -> Shape:
    """A broadcast per message; `gather` gives all clients' replies to a value."""

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies = gather(value)
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    return play, lambda: None


def timers(task: Task, ray_session: Session) -> Shape:
    """Ray has no timers: the driver keeps the heap and calls for each firing.

    One actor, in a process of its own, answers for all timers; a process per timer would only be slower.
    """
    queue = [(offset_ns, index) for index, offset_ns in enumerate(task.timer_offsets_ns())]
    heapq.heapify(queue)
    (timer_counts,) = make(ray_session, TimerCounts, [(task.actors,)])

    def play(value: int) -> int:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            fired = timer_counts.fire.remote(index)
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))
        ray.get(fired)
        return value + task.units_per_round

    return play, lambda: ray.get(timer_counts.retrieve.remote())


SHAPES: dict[str, Callable[[Task, Session], Shape]] = {
    "ping_pong": ping_pong,
    "thread_ring": ring,
    "counting": counting,
    "fan_out": fan_out,
    "chain": ring,
    "timers": timers,
}
