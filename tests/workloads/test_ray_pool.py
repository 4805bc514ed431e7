"""A pool's shares, batches and calls; that they compute the loop's bits is tested with each workload."""

import pickle
from types import SimpleNamespace

import numpy as np
import pytest

from reactorlib import Bank, Reactor, elaborate
from reactorlib.schedule.partition import partition
from workloads import ray_pool
from workloads.broadcast_gather.on_ray_pooled import PooledClient, WaitingShare
from workloads.broadcast_gather.task import Task
from workloads.columns import rows_of
from workloads.parameter import UnsupportedError
from workloads.ray_pool import Packing, Pool, Share


class Member:
    def __init__(self, index, size=1):
        self.index = index
        self.array = np.full(size, float(index))

    def add(self, value):
        return self.array + value


class Session:
    """Starts what a pool starts, in this process."""

    def start(self, share_class, arguments, in_driver=0):
        return [Actor(share_class(*own)) for own in arguments]


class Actor:
    """Answers calls as a Ray actor, in this process; `heard` are its calls in one value."""

    def __init__(self, share):
        self.share, self.heard = share, []
        self.batch = SimpleNamespace(remote=share.batch)
        self.batch_of = SimpleNamespace(remote=self._batch_of)

    def _batch_of(self, call):
        self.heard.append(call)
        return self.share.batch_of(call)


@pytest.fixture
def pool_of(monkeypatch):
    """A pool on so many cores, whose actors answer in this process."""

    def make(members, cores, size=1):
        monkeypatch.setattr(ray_pool, "available_cpus", lambda: cores)
        return Pool(Session(), Member, [(index, size) for index in range(members)])

    monkeypatch.setattr(ray_pool.ray, "get", lambda references: references)
    return make


@pytest.mark.parametrize(("members", "cores"), [(2, 2), (5, 2), (3, 4), (16, 3)])
def test_shares_are_those_of_the_reactors_on_as_many_workers(members, cores, pool_of):
    class Main(Reactor):
        def __init__(self):
            self.members = Bank(Reactor, members)

    pool = pool_of(members, cores)
    held = [[member.index for member in share.members] for share in (pool.own, *(actor.share for actor in pool.actors))]
    assert len(held) == min(members, cores)
    assert all(held)
    workers = partition(elaborate(Main), min(members, cores)).of_instance[1:]
    assert held == [[index for index, at in enumerate(workers) if at == worker] for worker in range(len(held))]


@pytest.mark.parametrize(("members", "cores"), [(1, 2), (3, 1)])
def test_a_pool_without_an_actor_is_refused(members, cores, pool_of):
    with pytest.raises(UnsupportedError, match="plain loop"):
        pool_of(members, cores)


@pytest.mark.parametrize("size", [1, 100_000])
def test_the_replies_of_a_share_are_one_message_and_keep_their_order(size):
    share = Share(Member, [(index, size) for index in range(3)])
    batch = share.batch("add", 1)
    assert isinstance(batch, bytes) == (size == 1)  # a large one is left to Ray, which does not copy it in vain
    assert [reply[0] for reply in (rows_of(pickle.loads(batch)) if size == 1 else batch)] == [1, 2, 3]


def test_rows_are_packed_by_column_if_the_first_ones_had_columns():
    arrays, numbers = [(np.zeros(1), 1)] * 2, [(0, 1)] * 2
    packing = Packing()
    assert isinstance(pickle.loads(packing.pack_rows(arrays)), tuple)
    assert rows_of(pickle.loads(packing.pack_rows(numbers))) == numbers
    packing = Packing()
    assert pickle.loads(packing.pack_rows(numbers)) == numbers
    assert isinstance(pickle.loads(packing.pack_rows(arrays)), list)


@pytest.mark.parametrize("cores", [2, 3])
@pytest.mark.parametrize("size", [1, 100_000])
def test_a_pool_gathers_in_the_members_order(cores, size, pool_of):
    assert [reply[0] for reply in pool_of(5, cores, size).gather("add", 1)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_small_call_is_pickled_once_for_all_actors_and_a_large_one_is_left_to_ray(size, pool_of):
    pool = pool_of(3, 3)
    assert [len(reply) for reply in pool.gather("add", np.ones(size))] == [size] * 3
    first, second = (actor.heard[0] for actor in pool.actors)
    assert first is second
    assert isinstance(first, bytes) == (size == 1)


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_compiled_pool_executes_its_graph_once_a_round_and_steps_its_own_share_before_it_waits(
    size, pool_of, monkeypatch
):
    log, pool = [], pool_of(5, 3, size)

    def broadcast_graph(session, methods, message_bytes):
        return lambda call: log.append("execute") or [method(call) for method in methods]

    monkeypatch.setattr(ray_pool, "broadcast_graph", broadcast_graph)
    monkeypatch.setattr(ray_pool.ray, "get", lambda batches: log.append("get") or batches)
    own = pool.own.replies
    monkeypatch.setattr(pool.own, "replies", lambda *call: log.append("own") or own(*call))
    for actor in pool.actors:
        actor.batch, actor.batch_of = None, actor.share.batch_of
    pool.compile(Session(), 8)
    for value in (1, 2):
        assert [reply[0] for reply in pool.gather("add", value, stored=True)] == [value + index for index in range(5)]
    assert log == ["execute", "own", "get"] * 2


def test_what_is_stored_is_put_once(pool_of, monkeypatch):
    put = []
    monkeypatch.setattr(ray_pool.ray, "put", lambda value: put.append(value) or value)
    pool_of(3, 3).gather("add", 7, stored=True)
    assert put == [7]


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
