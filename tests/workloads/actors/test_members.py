"""Members in shares, their batches and calls; that they compute the loop's bits is tested with each workload."""

import pickle

import numpy as np
import pytest

from reactorlib import Bank, Reactor, elaborate
from reactorlib.schedule.partition import partition
from workloads.actors import members
from workloads.actors.members import Members, Share
from workloads.actors.system import ActorSystem, InFlight
from workloads.broadcast_gather.on_actors import PooledClient, WaitingShare
from workloads.broadcast_gather.task import Task
from workloads.columns import columns_of, rows_of
from workloads.parameter import UnsupportedError
from workloads.probe import Probe


class Member:
    def __init__(self, index, size=1):
        self.index = index
        self.array = np.full(size, float(index))

    def add(self, value):
        return self.array + value


class System(ActorSystem):
    """Actors in this process, which answer when they are asked for the replies; `log` is what was done."""

    def start(self, actor_class, arguments):
        self.log = []
        self.actors = [actor_class(*own) for own in arguments]

    def await_actors(self, largest_bytes):
        self.largest_bytes = largest_bytes()

    def send(self, method, *arguments):
        self.log.append("send")
        return lambda: self.log.append("receive") or [getattr(actor, method)(*arguments) for actor in self.actors]

    def close(self):
        self.log.append("close")


@pytest.fixture
def members_of(monkeypatch):
    """Members on so many cores, whose actors answer in this process; and their system."""

    def make(count, cores, size=1):
        monkeypatch.setattr(members, "available_cpus", lambda: cores)
        system = System(Probe(1, 0, False))
        return Members(system, Member, [(index, size) for index in range(count)]), system

    return make


@pytest.mark.parametrize(("count", "cores"), [(2, 2), (5, 2), (3, 4), (16, 3)])
def test_shares_are_those_of_the_reactors_on_as_many_workers(count, cores, members_of):
    class Main(Reactor):
        def __init__(self):
            self.members = Bank(Reactor, count)

    made, system = members_of(count, cores)
    held = [[member.index for member in share.members] for share in (made.own, *system.actors)]
    assert len(held) == min(count, cores) == made.actors + 1
    assert all(held)
    workers = partition(elaborate(Main), min(count, cores)).of_instance[1:]
    assert held == [[index for index, at in enumerate(workers) if at == worker] for worker in range(len(held))]


@pytest.mark.parametrize(("count", "cores"), [(1, 2), (3, 1)])
def test_members_without_an_actor_are_refused(count, cores, members_of):
    with pytest.raises(UnsupportedError, match="plain loop"):
        members_of(count, cores)


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_replies_of_a_share_are_one_message_and_keep_their_order(size):
    batch = Share(Member, [(index, size) for index in range(3)]).batch("add", 1)
    assert isinstance(batch, tuple) == (size == 1)  # large ones are not joined, which would copy them in vain
    assert [reply[0] for reply in rows_of(batch)] == [1, 2, 3]


def test_rows_are_sent_by_column_if_the_first_ones_had_columns(monkeypatch):
    arrays, numbers = [(np.zeros(1), 1)] * 2, [(0, 1)] * 2
    share = Share(Member, [(0,), (1,)])
    rows = iter([arrays, numbers])
    monkeypatch.setattr(share, "replies", lambda _: next(rows))
    assert isinstance(share.batch("add"), tuple)
    assert rows_of(share.batch("add")) == numbers
    share = Share(Member, [(0,), (1,)])
    rows = iter([numbers, arrays])
    monkeypatch.setattr(share, "replies", lambda _: next(rows))
    assert share.batch("add") == numbers
    assert share.batch("add") is arrays
    assert columns_of(arrays) is not arrays


@pytest.mark.parametrize("cores", [2, 3])
@pytest.mark.parametrize("size", [1, 100_000])
def test_replies_are_gathered_in_the_members_order(cores, size, members_of):
    made, _ = members_of(5, cores, size)
    assert [reply[0] for reply in made.gather("add", 1)] == [1, 2, 3, 4, 5]


def test_the_driver_steps_its_own_share_after_it_has_sent_a_call_and_before_it_waits(members_of, monkeypatch):
    made, system = members_of(5, 3)
    own = made.own.replies
    monkeypatch.setattr(made.own, "replies", lambda *call: system.log.append("own") or own(*call))
    for value in (1, 2):
        assert [reply[0] for reply in made.gather("add", value)] == [value + index for index in range(5)]
    assert system.log == ["send", "own", "receive"] * 2


def test_a_system_is_told_the_size_of_the_largest_share(members_of):
    made, system = members_of(5, 2)
    made.await_actors(lambda share: 8 * share)
    assert system.largest_bytes == 8 * len(made.own.members) == 24


def test_a_call_in_flight_is_received_once_and_keeps_what_it_raises():
    received = []
    call = InFlight(lambda: received.append(1) or [7])
    call.fetch()
    call.fetch()
    assert (call(), received) == ([7], [1])
    failed = InFlight(lambda: [1 // 0])
    failed.fetch()
    with pytest.raises(ZeroDivisionError):
        failed()


@pytest.mark.parametrize("size", [1, 100_000])
def test_every_worker_replies_with_an_array_of_its_own(size):
    share = WaitingShare(PooledClient, [(Task(actors=3, object_bytes=8 * size, work_seconds=0.0),)] * 3)
    value = np.zeros(size)
    replies = share.replies("work", value)
    assert not any(np.shares_memory(value, reply) for reply in replies)
    assert len(pickle.dumps(share.batch("work", value))) > 3 * value.nbytes
    assert [reply.tobytes() for reply in replies] == [value.tobytes()] * 3


def test_the_workers_of_a_share_wait_at_the_same_time(monkeypatch):
    waits = []
    monkeypatch.setattr(Task, "wait", lambda _: waits.append(1))
    task = Task(actors=24, object_bytes=8)
    WaitingShare(PooledClient, [(task,)] * 24).replies("work", np.zeros(1))
    assert waits == [1]
