"""The random walk with one reactor per walker, and a hub."""

from random_walk.task import Task, Walker
from reactorlib import Bank, ExecutorName, Input, Output, Reactor, connect, reaction, startup
from reactorlib import run as run_reactors
from workloads.probe import Probe


class WalkerReactor(Reactor):
    """One walker."""

    start = Input[int]()
    place = Output[int]()

    def __init__(self, task: Task) -> None:
        self.walker = Walker(task, self.bank_index)

    @reaction(start, effects=place)
    def walk(self, start: Input[int], place: Output[int]) -> None:
        """Walk from where the hub says."""
        place.set(self.walker.walk(start.value))


class Hub(Reactor):
    """Says where to start, and adds up the places."""

    places = Input[int](width=lambda task: task.walkers)
    start = Output[int]()

    def __init__(self, task: Task, probe: Probe) -> None:
        self.task = task
        self.probe = probe
        self.left = task.total_rounds

    @reaction(startup, effects=start)
    def begin(self, start: Output[int]) -> None:
        """The first round starts at 0."""
        self.probe.ready()
        start.set(0)

    @reaction(places, effects=start)
    def gather(self, places: Input[int], start: Output[int]) -> None:
        """Take a round's places, and start the next round."""
        found = [place.value for place in places]
        if self.probe.verifying:
            self.task.record(self.probe.digest, found)
        self.probe.round()
        self.left -= 1
        place = sum(found) // len(found)
        if self.left:
            start.set(place)
        else:
            self.probe.state(place)


class Walk(Reactor):
    """The hub and the walkers."""

    def __init__(self, task: Task, probe: Probe) -> None:
        self.hub = Hub(task, probe)
        self.walkers = Bank(WalkerReactor, task.walkers, task)
        connect(self.hub.start, self.walkers.start, after=0)
        connect(self.walkers.place, self.hub.places)


def run(task: Task, probe: Probe, *, executor: ExecutorName = "inline", workers: int | None = None) -> None:
    """Run all rounds on an executor."""
    run_reactors(Walk, executor=executor, workers=workers, task=task, probe=probe)
