"""The shapes as plain loops over plain objects."""

import heapq
from collections.abc import Callable

from workloads.overhead.task import SUM_MODULUS, Counter, Member, Task, TimerCounts
from workloads.probe import Probe

# A round, from the value before it to the value after it; and what to add to the final state.
Shape = tuple[Callable[[int], int], Callable[[], object]]


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    play, final = SHAPES[task.shape](task)
    value = task.seed
    probe.ready()
    for _ in range(task.total_rounds):
        value = play(value)
        probe.digest.add(0, value)
        probe.round()
    probe.state(value, final())


def ping_pong(task: Task) -> Shape:
    """One object that answers."""
    pong = Member(0)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            value = pong.take(value)
        return value

    return play, lambda: None


def ring(task: Task) -> Shape:
    """One object per member, called in turn."""
    members = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            for member in members:
                value = member.take(value)
        return value

    return play, lambda: None


def counting(task: Task) -> Shape:
    """One object that counts."""
    counter = Counter()

    def play(_value: int) -> int:
        for increment in range(1, task.messages_per_round + 1):
            counter.add(increment)
        return counter.retrieve()

    return play, lambda: None


def fan_out(task: Task) -> Shape:
    """One object per client, called in turn."""
    clients = [Member(index) for index in range(task.actors)]

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies = [client.take(value) for client in clients]
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    return play, lambda: None


def timers(task: Task) -> Shape:
    """A heap of the next firing of each timer."""
    queue = [(offset_ns, index) for index, offset_ns in enumerate(task.timer_offsets_ns())]
    heapq.heapify(queue)
    timer_counts = TimerCounts(task.actors)

    def play(value: int) -> int:
        for _ in range(task.units_per_round):
            time_ns, index = queue[0]
            timer_counts.fire(index)
            heapq.heapreplace(queue, (time_ns + task.timer_period_ns, index))
        return value + task.units_per_round

    return play, timer_counts.retrieve


SHAPES: dict[str, Callable[[Task], Shape]] = {
    "ping_pong": ping_pong,
    "thread_ring": ring,
    "counting": counting,
    "fan_out": fan_out,
    "chain": ring,
    "timers": timers,
}
