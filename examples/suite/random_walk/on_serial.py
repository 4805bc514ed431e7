"""The random walk as a plain loop."""

from random_walk.task import Task, Walker
from workloads.probe import Probe


def run(task: Task, probe: Probe) -> None:
    """Run all rounds in this thread."""
    walkers = [Walker(task, index) for index in range(task.walkers)]
    place = 0
    probe.ready()
    for _ in range(task.total_rounds):
        places = [walker.walk(place) for walker in walkers]
        place = sum(places) // len(places)
        if probe.verifying:
            task.record(probe.digest, places)
        probe.round()
    probe.state(place)
