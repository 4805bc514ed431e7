"""Fan-out with the clients in shares: the driver holds the first, an actor each of the others."""

from workloads.overhead.ray_graphs import MESSAGE_BYTES
from workloads.overhead.rounds import play_rounds
from workloads.overhead.task import SUM_MODULUS, Member, Task
from workloads.probe import Probe
from workloads.ray_pool import Pool
from workloads.ray_session import Session


def run(task: Task, probe: Probe, ray_session: Session, style: str) -> None:
    """Run all rounds of the task, reporting to the probe."""
    clients = Pool(ray_session, Member, ((index,) for index in range(task.actors)))
    ray_session.await_actors()
    if style == "compiled":
        clients.compile(ray_session, MESSAGE_BYTES + 8 * task.actors)

    def play(value: int) -> int:
        for _ in range(task.messages_per_round):
            replies: list[int] = clients.gather("take", value)
            value = replies[-1]
        return sum(replies) % SUM_MODULUS

    play_rounds(task, probe, play)
