"""The shapes whose members can share an actor, with one Ray actor per core: one call per actor and message."""

from collections.abc import Callable

from workloads.overhead.on_ray import Shape, gathering, passing_references, play_rounds
from workloads.overhead.task import Member, Task
from workloads.parameter import UnsupportedError
from workloads.probe import Probe
from workloads.ray_pool import Pool, Share
from workloads.ray_session import Session, session


class Arc(Share):
    """Members that follow one another in a ring or chain."""

    def take(self, value: int) -> int:
        """The value for the next arc."""
        for member in self.members:
            value = member.take(value)
        return value


def run(task: Task, probe: Probe) -> None:
    """Run all rounds of the task, reporting to the probe."""
    if task.shape not in SHAPES:
        raise UnsupportedError(f"{task.shape}: no actor can hold more than it does in ray-tuned")
    with session("tuned", probe) as ray_session:
        shape = SHAPES[task.shape](task, ray_session)
        ray_session.await_actors()
        play_rounds(task, probe, shape)


def ring(task: Task, ray_session: Session) -> Shape:
    """One actor per core, each an arc; the reference to what one returns is given to the next."""
    arcs = Pool(ray_session, Member, ((index,) for index in range(task.actors)), Arc)
    return passing_references(task, arcs.actors)


def fan_out(task: Task, ray_session: Session) -> Shape:
    """One actor per core."""
    clients = Pool(ray_session, Member, ((index,) for index in range(task.actors)))
    return gathering(task, lambda value: clients.gather("take", value))


SHAPES: dict[str, Callable[[Task, Session], Shape]] = {"thread_ring": ring, "fan_out": fan_out, "chain": ring}
