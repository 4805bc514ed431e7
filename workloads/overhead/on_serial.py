"""The shapes as plain loops over plain objects."""

from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Counter, Member, Task, TimerHeap
from workloads.probe import Probe


def ping_pong(task: Task, probe: Probe) -> None:
    """One object that answers."""
    pong = Member(0)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = pong.take(value)
        return value

    play_rounds(task, probe, play)


def thread_ring(task: Task, probe: Probe) -> None:
    """One object per member, called in turn. A chain is a ring here, as a plain loop has no events."""
    members = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = member.take(value)
        return value

    play_rounds(task, probe, play)


chain = thread_ring


def counting(task: Task, probe: Probe) -> None:
    """One object that counts."""
    counter = Counter()

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add(increment)
        return counter.retrieve()

    play_rounds(task, probe, play)


def fan_out(task: Task, probe: Probe) -> None:
    """One object per client, called in turn."""
    clients = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies = [client.take(value) for client in clients]
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)


def timers(task: Task, probe: Probe) -> None:
    """A heap of the next firing of each timer."""
    heap = TimerHeap(task, range(task.actors))
    play_rounds(task, probe, lambda value: value + heap.play_round())
    probe.state(heap.retrieve())


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task by the function of its shape, reporting to the probe."""
    globals()[task.shape](task, probe)
