"""The event queue, compared with a list of everything pending over random sequences of the steps of a run."""

import random
from types import SimpleNamespace

import pytest

from reactorlib.worker.cells import Event
from reactorlib.worker.event_queue import ModalQueue, Queue


class Model:
    """All pending events as (time, microstep, name, value), and the current tag."""

    def __init__(self):
        self.now = (0, -1)
        self.pending = []

    def at(self, time, name, value):
        later = time > self.now[0] or self.now[1] < 0
        tag = (time, 0) if later else (self.now[0], self.now[1] + 1)
        while any(entry[:3] == (*tag, name) for entry in self.pending):
            tag = tag[0], tag[1] + 1
        self.pending.append((*tag, name, value))

    def pop(self):
        self.now = min(self.pending)[:2]
        due = {name: value for *tag, name, value in self.pending if tuple(tag) == self.now}
        self.pending = [entry for entry in self.pending if entry[:2] != self.now]
        return due

    def take_out(self, name):
        taken = [(entry[0], entry[3]) for entry in sorted(self.pending) if entry[2] == name]
        self.pending = [entry for entry in self.pending if entry[2] != name]
        return taken


def events_named(names, mode):
    return {name: Event(name, index, SimpleNamespace(mode=mode, delay=0, min_spacing=None, kind="logical"))
            for index, name in enumerate(names)}  # fmt: skip


@pytest.mark.parametrize("kind", [Queue, ModalQueue])
@pytest.mark.parametrize("seed", range(300))
def test_events_come_in_the_order_of_tags(seed, kind):
    choose = random.Random(seed)
    events = events_named("abcde"[: choose.randint(1, 5)], mode=0 if kind is ModalQueue else None)
    far = choose.choice([1, 3, 30, 300])
    queue, model = kind(), Model()
    for first, (name, event) in enumerate(events.items(), 100):
        time = choose.randrange(far)
        queue.at(event, time, first)
        model.at(time, name, first)
    for step in range(120):
        if model.pending and choose.random() < 0.5:
            assert queue.next_time() == min(model.pending)[0]
            assert {event.path: value for event, value in queue.pop().items()} == model.pop()
            assert (queue.time, queue.microstep) == model.now
        elif model.now[1] >= 0 and kind is ModalQueue and choose.random() < 0.1:
            wanted = choose.choice(list(events))
            taken = queue.extract([events[wanted]])
            assert [(queue.time + delay, value) for _, delay, _, value in taken] == model.take_out(wanted)
        elif model.now[1] >= 0:
            name, time = choose.choice(list(events)), queue.time + choose.choice([0, 0, 1, choose.randrange(far)])
            if choose.random() < 0.5:
                queue.at(events[name], time, step)
            else:
                queue.schedule(events[name], time - queue.time, step)
            model.at(time, name, step)
    while model.pending:
        assert {event.path: value for event, value in queue.pop().items()} == model.pop()
    assert queue.next_time() is None
