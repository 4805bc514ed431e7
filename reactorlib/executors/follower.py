"""The loop of a worker other than 0: takes Go, runs its part of the tag, says what became of it; until End."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import NamedTuple

from reactorlib.elaboration.program import Node, ReactionInstance
from reactorlib.executors.failure import Failure, Poisoned, Stopped
from reactorlib.executors.protocol import Begin, Control, End, Go
from reactorlib.schedule.compiler import Ref
from reactorlib.schedule.partition import Partition
from reactorlib.schedule.plan import Send, Split
from reactorlib.worker.context import current
from reactorlib.worker.coordinator import Schedule
from reactorlib.worker.event_queue import Events
from reactorlib.worker.loader import Loader
from reactorlib.worker.scheduler import Outbox
from reactorlib.worker.worker import Worker


class LoadedPart(NamedTuple):
    """A worker's part of a split, ready to run; its heirs are the workers that wait for it in the same tag."""

    schedule: Schedule
    heirs: list[int]
    take: Callable[[], None] | None  # puts the values that came with Go into the cells of its events


class Follower(ABC):
    """Serves one worker. A subclass receives and sends."""

    def __init__(self, worker: Worker, partition: Partition) -> None:
        assert isinstance(worker.scheduler, Outbox)
        self.worker = worker
        self.asked = worker.scheduler
        self.partition = partition
        self.loader = Loader(worker)
        self.parts: dict[int, LoadedPart] = {}  # by number of the split

    def load(
        self, number: int, split: Split, finish: Callable[[], None], take: Callable[[], None] | None = None
    ) -> None:
        """Make the part of a split ready; `finish` packs what travels with the end of the part."""
        part = split.parts[self.worker.number]
        schedule = self.loader.load(split.plan, part, self.crossing, finish=finish)
        heirs = [item.to for item in part.items if isinstance(item, Send) and item.to]
        self.parts[number] = LoadedPart(schedule, heirs, take)

    def forget(self) -> None:
        """Drop all parts."""
        self.parts.clear()
        self.loader.forget()

    def serve(self) -> None:
        """The whole life of the worker. Raises Stopped where it was told to leave at once."""
        current.worker = self.worker
        while True:
            message = self.receive()
            if type(message) is Go:
                self.go(*message)
            elif isinstance(message, Begin):
                self.worker.outside.started = message.started
            elif isinstance(message, End):
                self.end(message)
                return
            else:
                self.obey(message)

    def go(self, number: int, time: int, microstep: int) -> None:
        """Run the part of this split at this tag, and say what became of it."""
        part = self.parts[number]
        now = self.worker.now
        now.time, now.microstep = time, microstep
        soon: Events = {}
        try:
            if part.take is not None:
                part.take()
            part.schedule(time, soon)
            self.say_done(soon)
        except Stopped:
            raise
        except BaseException as error:  # worker 0 raises it
            if os.getpid() != self.worker.process:
                raise  # a process that a reaction forked is at its end
            for heir in part.heirs:
                self.poison(heir)
            poisoned = isinstance(error, Poisoned)
            self.say_failed(None if poisoned else Failure(error, self.loader.failed(error.__traceback__)))

    def last_reactions(self, failed: Node | None) -> list[ReactionInstance]:
        """The shutdown reactions of this worker, but for those of the reactor whose reaction `failed`."""
        of_node, number = self.partition.of_node, self.worker.number
        return self.worker.last_reactions(lambda node: of_node[node] == number, failed)

    def shut_down(self, failed: Node | None) -> list[str]:
        """Run them; what they raised."""
        return self.worker.run_last(self.last_reactions(failed))

    # What a subclass provides

    @abstractmethod
    def receive(self) -> Control:
        """The next message of worker 0. Raises Stopped."""

    @abstractmethod
    def obey(self, message: Control) -> None:
        """Do what a message says that is none of Go, Begin and End."""

    @abstractmethod
    def crossing(self, ref: Ref) -> Callable[[], None]:
        """What a send or wait does on this worker."""

    @abstractmethod
    def say_done(self, soon: Events) -> None:
        """The part has ended; what its reactions asked for goes to worker 0."""

    @abstractmethod
    def poison(self, heir: int) -> None:
        """Tell a worker that waits for this one that nothing will come."""

    @abstractmethod
    def say_failed(self, failure: Failure | None) -> None:
        """The part was broken off, for a failure of this worker's own or for another's."""

    @abstractmethod
    def end(self, message: End) -> None:
        """Take leave: hand in what was recorded, or run the shutdown reactions if the run failed."""
