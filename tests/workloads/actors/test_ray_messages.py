"""The messages of Ray's systems: pickles of small values, and the use of torch by an actor of a compiled graph."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from workloads.actors import ray_pooled
from workloads.actors.ray_pooled import Packing, PackingActor, unpacked

TOLD = """
import importlib.util, sys
from workloads.actors.ray_pooled_compiled import _forgo_torch
{before}
_forgo_torch(None)
from ray.experimental.channel.common import ChannelContext
can_be_imported = importlib.util.find_spec("torch") is not None
print(ChannelContext.get_current().torch_available, "torch" in sys.modules, can_be_imported)
"""


class Adder:
    def add(self, array, number):
        return array + number


class Actor:
    """An actor of Ray, in this process; `heard` are its calls, each in one value."""

    def __init__(self):
        self.actor, self.heard = PackingActor(Adder, ()), []
        self.call_in_one = self.call = self

    def remote(self, *call):
        self.heard.append(call[0])
        return self.actor.call_in_one(call[0]) if len(call) == 1 else self.actor.call(*call)


@pytest.fixture
def system(monkeypatch):
    """A system with two actors in this process, and what it has stored."""
    put = []
    monkeypatch.setattr(ray_pooled.ray, "get", lambda replies: replies)
    monkeypatch.setattr(ray_pooled.ray, "put", lambda value: put.append(value) or value)
    made = ray_pooled.System.__new__(ray_pooled.System)  # without a session
    made.actors, made.packing = [Actor(), Actor()], Packing()
    return made, put


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_small_call_is_pickled_once_for_all_actors_and_a_large_one_is_stored_once(size, system):
    made, put = system
    replies = made.send("add", np.zeros(size), 1)()
    assert [reply.sum() for reply in replies] == [size, size]
    first, second = (actor.heard[0] for actor in made.actors)
    assert first is second
    assert isinstance(first, bytes) == (size == 1)
    assert len(put) == (0 if size == 1 else 1)


@pytest.mark.parametrize("size", [1, 100_000])
def test_a_small_reply_is_a_pickle_and_a_large_one_is_left_to_ray(size):
    reply = PackingActor(Adder, ()).call("add", np.zeros(size), 1)
    assert isinstance(reply, bytes) == (size == 1)
    assert unpacked(reply).sum() == size


def test_values_are_taken_to_be_as_large_as_the_first_one_and_bytes_are_told_from_pickles():
    packing = Packing()
    assert not packing.packs(np.zeros(100_000))
    assert packing.packed(3) == 3
    assert pickle.loads(packing.packed(b"bytes")) == b"bytes"


def told(before):
    script = [sys.executable, "-c", TOLD.format(before=before)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("before", ["", "import torch"])
def test_a_graph_looks_for_no_device_and_the_actors_own_code_may_use_torch(before):
    assert told(before) == ["False", str(bool(before)), "True"]
