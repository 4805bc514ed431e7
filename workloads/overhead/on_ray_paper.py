"""The shapes as Ray actors: each reaction becomes a method call, and values are passed on."""

import heapq
from typing import Any

import ray

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Counter, Member, Task, TimerCounts
from workloads.probe import Probe
from workloads.ray_session import Session, session


class Ping:
    """Plays against another actor."""

    def __init__(self, pong: Any) -> None:
        self.pong = pong

    def play(self, value: int, exchanges: int) -> int:
        """The value after `exchanges` round trips."""
        for _ in range(exchanges):
            value = ray.get(self.pong.take.remote(value))
        return value


def ping_pong(task: Task, probe: Probe, ray_session: Session) -> None:
    """Two actors: the exchange is between them, and not with the driver."""
    (pong,) = ray_session.start(Member, [(0,)])
    (ping,) = ray_session.start(Ping, [(pong,)])
    ray_session.await_actors()

    def play(value: int) -> int:
        result: int = ray.get(ping.play.remote(value, task.messages_per_round))
        return result

    play_rounds(task, probe, play)


def thread_ring(task: Task, probe: Probe, ray_session: Session) -> None:
    """An actor per member: the driver fetches each value and passes it on. A chain is a ring here."""
    members = ray_session.start(Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = ray.get(member.take.remote(value))
        return value

    play_rounds(task, probe, play)


chain = thread_ring


def counting(task: Task, probe: Probe, ray_session: Session) -> None:
    """One actor that counts: the driver is the producer, and waits for the sum only."""
    (counter,) = ray_session.start(Counter, [()])
    ray_session.await_actors()

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add.remote(increment)
        total: int = ray.get(counter.retrieve.remote())
        return total

    play_rounds(task, probe, play)


def fan_out(task: Task, probe: Probe, ray_session: Session) -> None:
    """An actor per client."""
    clients = ray_session.start(Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies: list[int] = ray.get([client.take.remote(value) for client in clients])
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)


def timers(task: Task, probe: Probe, ray_session: Session) -> None:
    """One actor that counts. Ray has no timers: the driver keeps the heap and calls for each firing.

    A process per timer would only be slower.
    """
    (timer_counts,) = ray_session.start(TimerCounts, [(task.actors,)])
    ray_session.await_actors()
    queue = task.first_firings(range(task.actors))

    def play(value: int) -> int:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            fired = timer_counts.fire.remote(index)
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))
        ray.get(fired)
        return value + task.units_per_round

    play_rounds(task, probe, play)
    probe.state(ray.get(timer_counts.retrieve.remote()))


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task by the function of its shape, reporting to the probe."""
    with session("paper", probe) as ray_session:
        globals()[task.shape](task, probe, ray_session)
