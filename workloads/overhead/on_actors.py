"""The shapes on an actor system. In most of them the driver holds the first share of the members."""

from collections.abc import Sequence
from typing import Any

from workloads.actors.members import Members, Share
from workloads.actors.system import ActorSystem, load
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Counter, Member, Task, TimerHeap
from workloads.probe import Probe

# All messages but the counts of the timers are small integers.
_MESSAGE_BYTES = 64


class Arc(Share):
    """Members of a ring or chain that follow one another."""

    def take(self, value: int) -> int:
        """The value for the next arc."""
        for member in self.members:
            value = member.take(value)
        return value


class HeapShare(Share):
    """The timers of one process, which share a heap."""

    def __init__(self, member_class: type[TimerHeap], arguments: Sequence[tuple[Task, int]]) -> None:
        super().__init__(member_class, [(arguments[0][0], [index for _, index in arguments])])


def ping_pong(task: Task, probe: Probe, actors: ActorSystem) -> None:
    """The driver plays against an actor."""
    actors.start(Member, [(0,)])
    actors.await_actors(lambda: _MESSAGE_BYTES)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            (value,) = actors.send("take", value)()
        return value

    play_rounds(task, probe, play)


def thread_ring(task: Task, probe: Probe, actors: ActorSystem) -> None:
    """The driver holds the first arc, and hands the value to each of the others. A chain is a ring here."""
    members = Members(actors, Member, ((index,) for index in range(task.actors)), Arc)
    members.await_actors(lambda _share: _MESSAGE_BYTES)
    first: Any = members.own

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = first.take(value)
            for arc in range(members.actors):
                (value,) = actors.send_to(arc, "take", value)()
        return value

    play_rounds(task, probe, play)


chain = thread_ring


def counting(task: Task, probe: Probe, actors: ActorSystem) -> None:
    """The driver is the producer, and waits for the sum only."""
    actors.start(Counter, [()])
    actors.await_actors(lambda: _MESSAGE_BYTES)

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            actors.send("add", increment)
        (total,) = actors.send("retrieve")()
        return int(total)

    play_rounds(task, probe, play)


def fan_out(task: Task, probe: Probe, actors: ActorSystem) -> None:
    """A broadcast to all members, and all replies."""
    members = Members(actors, Member, ((index,) for index in range(task.actors)))
    members.await_actors(lambda share: _MESSAGE_BYTES + 8 * share)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies: list[int] = members.gather("take", value)
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)


def timers(task: Task, probe: Probe, actors: ActorSystem) -> None:
    """An actor system has no timers: each share keeps a heap of its own, and gets one call per round."""
    heaps = Members(actors, TimerHeap, ((task, index) for index in range(task.actors)), HeapShare)
    heaps.await_actors(lambda share: _MESSAGE_BYTES + 8 * share)

    def play(value: int) -> int:
        fired: list[int] = heaps.gather("play_round")
        return value + sum(fired)

    play_rounds(task, probe, play)
    counts: list[list[int]] = heaps.gather("retrieve")
    probe.state([count for share in counts for count in share])


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds of the task by the function of its shape on an actor system, reporting to the probe."""
    with load(system)(probe) as actors:
        globals()[task.shape](task, probe, actors)
