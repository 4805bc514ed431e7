"""The random walk with the walkers as actors in shares, one per core, on any actor system."""

from random_walk.task import Task, Walker
from workloads.actors.members import Members
from workloads.actors.system import load
from workloads.probe import Probe


def run(task: Task, probe: Probe, system: str) -> None:
    """Run all rounds on an actor system."""
    with load(system)(probe) as actors:
        walkers = Members(actors, Walker, ((task, index) for index in range(task.walkers)))
        walkers.await_actors(lambda share: 64 * share)
        place = 0
        probe.ready()
        for _ in range(task.total_rounds):
            places = walkers.gather("walk", place)
            place = sum(places) // len(places)
            if probe.verifying:
                task.record(probe.digest, places)
            del places  # before the next call: replies may lie in memory of the system's
            probe.round()
        probe.state(place)
